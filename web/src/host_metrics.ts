// The metrics of a host's applications as the page has seen them: each answer adds a point to the
// series of its metrics, so that a sparkline shows what was measured since the page was opened.

import type { Deviation } from './deviation';

export interface MetricValue { count: number; sum: number | null; p50: number | null; p99: number | null }
// A value that a metric was given, with the trace that it belongs to.
export interface Exemplar { time: string; value: number; labels: Record<string, string> }
export interface PageMetric {
  name: string;
  kind: string;
  labels: Record<string, string>;
  value: number | MetricValue | null;
  shown_as?: string | null;
  exemplars?: Exemplar[]; // by their values' buckets, the largest last
}
export interface MetricPage {
  owner: number;
  application: string;
  pid: number;
  state: string;
  metrics: PageMetric[];
}
export interface HostPages {
  agents: {
    host: string;
    state: string;
    problem: string | null;
    warnings: string[];
    anomalies: (Deviation & { application: string; pid: number; owner: number })[];
    pages: MetricPage[];
  }[];
}

export const MOST_POINTS = 120; // of a series
export const MOST_SERIES = 3000; // of a host; later ones have values and no sparkline

const MOST_EXEMPLARS = 4; // of a metric; a histogram has no more

interface Raw { at: number; count: number; sum: number }
interface Series { raw: Raw | null; points: number[]; seen: number }
export type History = Map<string, Series>;

export interface MetricLine {
  key: string;
  name: string; // with its labels
  kind: string;
  value: number | null; // gauges: the value; counters: the rate per second; histograms and summaries: the mean of what came last
  more: string; // what the value is
  total: number | null; // counters, histograms and summaries: how much was counted in all
  p99: number | null; // histograms, and summaries that have it
  points: number[];
  deviation: Deviation | null;
  exemplars: Exemplar[]; // the one with the largest value first
}

export interface ApplicationMetrics { owner: number; application: string; pid: number; state: string; lines: MetricLine[]; anomalies: Deviation[] }

export const labelsText = (labels: Record<string, string>) => Object.entries(labels).map(([label, value]) => `${label}=${value}`).join(',');

export function metricName({ name, labels }: PageMetric): string {
  const text = labelsText(labels);
  return text === '' ? String(name) : `${name}{${text}}`;
}

function areLabels(labels: unknown): boolean {
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels)) return false;
  const values = Object.values(labels);
  return values.length > 0 && values.every((each) => typeof each === 'string');
}

// The controller passes the document on as it is, so each may be anything.
function exemplarsOf({ exemplars }: PageMetric): Exemplar[] {
  const isOne = (each: Exemplar | null) => typeof each?.value === 'number' && typeof each.time === 'string' && !Number.isNaN(Date.parse(each.time))
    && areLabels(each.labels);
  return Array.isArray(exemplars) ? exemplars.filter(isOne).sort((a, b) => b.value - a.value).slice(0, MOST_EXEMPLARS) : [];
}

// Returns the value that a series shows: null where two readings are needed, or nothing was counted.
function shownValue({ kind, value }: PageMetric, before: Raw | null, at: number): { value: number | null; raw: Raw | null } {
  if (typeof value === 'number' && kind !== 'counter') return { value, raw: null };
  if (value === null) return { value: null, raw: before };
  const raw = typeof value === 'number' ? { at, count: value, sum: 0 } : { at, count: value.count, sum: value.sum ?? NaN };
  if (before === null || raw.count < before.count || raw.at <= before.at) return { value: null, raw };
  if (typeof value === 'number') return { value: ((raw.count - before.count) * 1000) / (raw.at - before.at), raw };
  const added = raw.count - before.count;
  const mean = (raw.sum - before.sum) / added;
  return { value: added > 0 && Number.isFinite(mean) ? mean : null, raw };
}

const MORE: Record<string, string> = { counter: 'per second', histogram: 'mean of the newest', summary: 'mean of the newest' };

// Adds an answer, which was read at `at` milliseconds, and returns what to show of it. Series that the answer does not
// have are forgotten.
export function addPages(history: History, pages: HostPages, at: number): ApplicationMetrics[] {
  const applications = new Map<number, ApplicationMetrics>();
  for (const agent of pages.agents) {
    for (const page of agent.pages) {
      const { owner, pid, state } = page;
      const application = String(page.application); // the controller passes the document on as it is
      const anomalies = agent.anomalies.filter((each) => each.owner === owner && typeof each.metric === 'string');
      const shown = applications.get(owner) ?? { owner, application, pid, state, lines: [], anomalies };
      applications.set(owner, shown);
      for (const metric of page.metrics) shown.lines.push(lineOf(history, owner, metric, page.state === 'fresh', anomalies, at));
    }
  }
  for (const [key, { seen }] of history) if (seen !== at) history.delete(key);
  for (const { lines } of applications.values()) lines.sort(byInterest);
  return [...applications.values()].sort((a, b) => b.anomalies.length - a.anomalies.length
    || a.application.localeCompare(b.application) || a.pid - b.pid);
}

function lineOf(history: History, owner: number, metric: PageMetric, fresh: boolean, anomalies: Deviation[], at: number): MetricLine {
  const name = metricName(metric);
  const key = `${owner} ${name}`;
  const known = history.get(key);
  const { value, raw } = fresh ? shownValue(metric, known?.raw ?? null, at) : { value: null, raw: known?.raw ?? null };
  const points = value === null ? known?.points ?? [] : [...(known?.points ?? []), value].slice(-MOST_POINTS);
  if (known !== undefined || history.size < MOST_SERIES) history.set(key, { raw, points, seen: at });
  const whole = typeof metric.value === 'object' ? metric.value : null;
  return {
    key, name, kind: metric.kind, value, points,
    more: MORE[metric.kind] ?? '',
    total: whole ? whole.count : metric.kind === 'counter' && typeof metric.value === 'number' ? metric.value : null,
    p99: whole?.p99 ?? null,
    deviation: anomalies.find((each) => each.metric === name) ?? null,
    exemplars: exemplarsOf(metric),
  };
}

// How much a series has moved, relative to its size.
function movement(points: number[]): number {
  const [least, most] = [Math.min(...points), Math.max(...points)];
  return points.length < 2 || most === least ? 0 : (most - least) / Math.max(Math.abs(most), Math.abs(least));
}

// Unusual metrics first, then those that move, then those that are constant.
function byInterest(a: MetricLine, b: MetricLine): number {
  return Number(b.deviation !== null) - Number(a.deviation !== null)
    || Number(movement(b.points) > 0) - Number(movement(a.points) > 0) || a.name.localeCompare(b.name);
}

// Returns the points of a polyline in a box of this size; '' for fewer than two.
export function sparkline(points: number[], width: number, height: number): string {
  if (points.length < 2) return '';
  const [least, most] = [Math.min(...points), Math.max(...points)];
  const across = (at: number) => (at * width) / (points.length - 1);
  const up = (value: number) => (most === least ? height / 2 : height - ((value - least) / (most - least)) * height);
  return points.map((value, at) => `${across(at).toFixed(1)},${up(value).toFixed(1)}`).join(' ');
}

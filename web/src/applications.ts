// What collectors say about applications that have metric pages: docs/http-api.md has the forms.

import { ask } from './past';
import { humanNanos, inLine, threeDigits } from './format';

// A metric that is unusual, and how.
export interface Deviation {
  metric: string; // with its labels
  part: string | null; // of a histogram
  statistic: string;
  score: number; // unusual above 1; negative if the value is too low
  value: number | null; // a counter's is its rate per second
  peers: number | null; // the median of the replicas
}

export interface Application {
  host: string;
  application: string;
  pid: number;
  owner: number;
  pages: number;
  metrics: number;
  state: string;
  anomalous: boolean;
  score: number | null; // null: not watched, or still being learned
  deviation: Deviation | null; // the largest
}

export interface Applications { collectors: number; left_out: number; applications: Application[] }

export interface PageEvent {
  time: string;
  kind: string; // 'anomaly', or 'limit'
  began: boolean;
  host: string;
  application: string;
  pid: number;
  owner: number;
  statistic: string | null;
  metric: string | null;
  value: number | null;
  limit: number | null;
  deviations: Deviation[];
}

export interface PageEvents { collectors: number; left_out: number; events: PageEvent[] }

export function fetchEvents({ from, to }: { from: number; to: number }, host: string | null, signal: AbortSignal): Promise<PageEvents> {
  const iso = (milliseconds: number) => new Date(milliseconds).toISOString();
  const fields = new URLSearchParams({ from: iso(from), to: iso(to) });
  if (host !== null) fields.set('host', host);
  return ask(`api/v1/anomalies?${fields}`, signal);
}

// Writes a value of any unit with three significant digits.
export function humanValue(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  for (const [unit, factor] of [['T', 1e12], ['G', 1e9], ['M', 1e6], ['k', 1e3]] as const) {
    if (size >= factor * 9.995) return `${Math.sign(value) * Number(threeDigits(size / factor))}${unit}`;
  }
  if (size >= 0.01) return String(Number(value.toPrecision(3)));
  return value.toPrecision(3).replace(/\.?0+(e|$)/, '$1');
}

// Writes a value of a metric whose name says its unit: "15.0 ms" of step_seconds.
export function humanMetric(metric: string, value: number | null | undefined): string {
  const name = metric.split('{')[0];
  return name.endsWith('_seconds') && value !== null && value !== undefined && value > 0 && value < 1000 ? humanNanos(value * 1e9) : humanValue(value);
}

const HOW: Record<string, string> = {
  jitter: 'scatters more than usual',
  flat: 'has stopped moving',
  residual: 'no longer goes with the others',
  load: 'is part of a sudden change of the load',
};
const LASTING: Record<string, string> = { sustained: ' for a while', lasting: ' for long' };

// Says by how much a metric is unusual: "step_seconds p50 is 15.0 ms, 1.50x its peers' (10.0 ms)".
export function deviationText({ metric, part, statistic, score, value, peers }: Deviation): string {
  const name = inLine(part === null ? metric : `${metric} ${part}`);
  const text = (each: number | null) => (part === 'rate' ? `${humanValue(each)}/s` : humanMetric(metric, each));
  if (statistic === 'peers' && peers !== null) {
    const ratio = value !== null && peers !== 0 ? `${threeDigits(Math.abs(value / peers))}x its peers'` : 'unlike its peers\'';
    return `${name} is ${text(value)}, ${ratio} (${text(peers)})`;
  }
  const how = HOW[statistic] ?? `is unusually ${score < 0 ? 'low' : 'high'}${LASTING[statistic] ?? ''}`;
  return `${name} ${how}: ${text(value)} (${inLine(statistic)}, score ${threeDigits(Math.abs(score))})`;
}

// Says what began or ended.
export function eventText({ kind, began, metric, value, limit, deviations }: PageEvent): string {
  if (kind === 'limit') {
    const name = inLine(metric ?? 'a metric');
    return began ? `${name} is ${humanValue(value)}, beyond its limit ${humanValue(limit)}` : `${name} is within its limit ${humanValue(limit)}`;
  }
  if (!began) return 'as usual again';
  if (deviations.length === 0) return `unusual${metric === null ? '' : `, mostly ${inLine(metric)}`}`;
  return deviationText(deviations[0]) + (deviations.length > 1 ? `, and ${deviations.length - 1} more` : '');
}

// How far an application is from what is usual, for its colour.
export type Level = 'learning' | 'usual' | 'near' | 'unusual';

export function levelOf(applications: Application[]): Level {
  if (applications.some(({ anomalous }) => anomalous)) return 'unusual';
  const scores = applications.flatMap(({ score }) => (score === null ? [] : [score]));
  if (scores.length === 0) return 'learning';
  return Math.max(...scores) > 0.7 ? 'near' : 'usual';
}

export interface GridCell { host: string; processes: Application[]; level: Level }
export interface ApplicationRow { application: string; cells: (GridCell | null)[] }
export interface ApplicationGrid { hosts: string[]; rows: ApplicationRow[]; moreHosts: number; moreApplications: number }

const RANK: Record<Level, number> = { unusual: 3, near: 2, usual: 1, learning: 0 };

function worstFirst(worst: Map<string, number>): string[] {
  return [...worst.keys()].sort((a, b) => worst.get(b)! - worst.get(a)! || a.localeCompare(b, undefined, { numeric: true }));
}

// Returns applications by hosts, those with something unusual first.
export function gridOf(applications: Application[], mostHosts: number, mostApplications: number): ApplicationGrid {
  const cells = new Map<string, Map<string, Application[]>>();
  for (const each of applications) {
    const row = cells.get(each.application) ?? new Map<string, Application[]>();
    row.set(each.host, [...(row.get(each.host) ?? []), each]);
    cells.set(each.application, row);
  }
  const [rows, columns] = [new Map<string, number>(), new Map<string, number>()];
  for (const [application, row] of cells) {
    for (const [host, processes] of row) {
      const rank = RANK[levelOf(processes)];
      rows.set(application, Math.max(rank, rows.get(application) ?? 0));
      columns.set(host, Math.max(rank, columns.get(host) ?? 0));
    }
  }
  const [names, hosts] = [worstFirst(rows), worstFirst(columns)];
  return {
    hosts: hosts.slice(0, mostHosts),
    rows: names.slice(0, mostApplications).map((application) => ({ application, cells: hosts.slice(0, mostHosts).map((host) => {
      const processes = cells.get(application)!.get(host);
      return processes === undefined ? null : { host, processes, level: levelOf(processes) };
    }) })),
    moreHosts: Math.max(0, hosts.length - mostHosts),
    moreApplications: Math.max(0, names.length - mostApplications),
  };
}

// Fetches the mesh at a past time, and a pair's rows within a range of time, from /api/v1/history.

import { decodeHeader, decodeRows, ROW } from './live';
import type { Metric } from './metrics';
import { Grid, type Model } from './model';
import type { PairRow } from './pair_row';

export const WORST = ['1h', '24h']; // for how long the worst can be shown

export const SPANS: Record<string, number> = { '5m': 300, '1h': 3600, '6h': 21_600, '24h': 86_400, '7d': 604_800 }; // seconds

async function failureOf(answer: Response): Promise<Error> {
  const body = await answer.json().catch(() => ({}));
  return new Error(body.error?.reason ?? `HTTP ${answer.status}`);
}

export async function ask<T>(path: string, signal: AbortSignal): Promise<T> {
  const answer = await fetch(path, { signal });
  if (!answer.ok) throw await failureOf(answer);
  return answer.json();
}

const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

export function fetchRange(signal: AbortSignal): Promise<{ oldest: string | null; newest: string | null }> {
  return ask('api/v1/history', signal);
}

// Decodes the answer, which has the format of the live connection's messages (docs/http-api.md).
// `like` is the grid that the answer belongs to.
export function gridOf(answer: ArrayBuffer, model: Model, like: Grid): Grid {
  const header = decodeHeader(answer);
  const number = model.grids.indexOf(like);
  if (!header || header.type !== ROW) throw new Error('the controller has another version than this page: reload the page');
  if (number < 0 || header.generation !== (model.generation ?? NaN) % 2 ** 32) throw new Error('the pinglist has just changed');
  const grid = new Grid(like.probe, like.stateNames, like.severityNames);
  for (const { source, cells, values, windowEnd } of decodeRows(answer, (probe) => (probe === number ? grid.columns : -1))) {
    if (source < grid.rows) grid.setRow(source, cells, values, windowEnd);
  }
  grid.complete = true;
  return grid;
}

// What of the past is shown: a time (null: the newest), or the worst for a while up to it, or the difference to another time.
export interface PastView { time: number | null; worst: string; against: string }

// A difference is that to a length of SPANS earlier, or to a time in ISO 8601; other text is none.
export function againstText(text: string | null): string {
  return text !== null && (SPANS[text] || !Number.isNaN(Date.parse(text))) ? text : '';
}

export function againstTime(against: string, time: number): number {
  return SPANS[against] ? time - SPANS[against] * 1000 : Date.parse(against);
}

// Returns the fields of the question to the controller, null where the present is shown. `newest` is the time that stands for
// the present in a difference.
export function pastFields({ time, worst, against }: PastView, newest: number): URLSearchParams | null {
  if (time === null && worst === '' && against === '') return null;
  const fields = new URLSearchParams();
  if (time !== null || against !== '') fields.set('at', iso(time ?? newest));
  if (worst !== '') fields.set('worst', worst);
  else if (against !== '') fields.set('against', iso(againstTime(against, time ?? newest)));
  return fields;
}

export async function fetchPast(model: Model, like: Grid, metric: Metric, past: URLSearchParams, signal: AbortSignal): Promise<Grid> {
  const fields = new URLSearchParams({ probe: like.probe.name, metric: metric.id, format: 'cells' });
  past.forEach((value, name) => fields.set(name, value));
  const answer = await fetch(`api/v1/history/grid?${fields}`, { signal });
  if (!answer.ok) throw await failureOf(answer);
  return gridOf(await answer.arrayBuffer(), model, like);
}

// Returns the range that a timeline of `span` covers: up to now, or around the time that is looked
// at.
export function rangeOf(span: string, time: number | null): { from: number; to: number } {
  const length = SPANS[span] * 1000;
  const to = time === null ? Date.now() : Math.min(Date.now(), time + length / 2);
  return { from: to - length, to };
}

export async function fetchPairRows(probe: string, source: string, destination: string, from: number, to: number,
  points: number, signal: AbortSignal, pathNumber = 0): Promise<PairRow[]> {
  const path = [probe, source, destination].map(encodeURIComponent).join('/');
  const fields = new URLSearchParams({ from: iso(from), to: iso(to), points: String(points),
    ...(pathNumber > 0 && { path: String(pathNumber) }) });
  return (await ask<{ rows: PairRow[] }>(`api/v1/history/pairs/${path}?${fields}`, signal)).rows;
}

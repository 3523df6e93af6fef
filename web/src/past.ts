// The mesh at a past time, and a pair's rows over a time: what /api/v1/history has.

import { codeOf, type Metric } from './metrics';
import { Grid, type Probe } from './model';
import type { PairRow } from './pair_row';
import { NOT_A_PAIR } from './states';

export const SPANS: Record<string, number> = { '5m': 300, '1h': 3600, '6h': 21_600, '24h': 86_400, '7d': 604_800 }; // seconds

export interface PastGrid {
  window: { start: string; end: string } | null;
  values: (number | null)[][];
  states: (string | null)[][];
}

export async function ask<T>(path: string, signal: AbortSignal): Promise<T> {
  const answer = await fetch(path, { signal });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error?.reason ?? `HTTP ${answer.status}`);
  return body;
}

const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

export function fetchRange(signal: AbortSignal): Promise<{ oldest: string | null; newest: string | null }> {
  return ask('api/v1/history', signal);
}

// As the live connection would have brought it.
export function gridOf(past: PastGrid, probe: Probe, stateNames: string[], metric: Metric): Grid {
  const grid = new Grid(probe, stateNames);
  const end = past.window ? Date.parse(past.window.end) : NaN;
  for (let row = 0; row < Math.min(grid.rows, past.states.length); ++row) {
    const states = Uint8Array.from(past.states[row], (name) => (name === null ? NOT_A_PAIR : stateNames.indexOf(name)));
    const values = Uint8Array.from(past.values[row], (value) => codeOf(metric, value ?? NaN));
    if (states.length === grid.columns) grid.setRow(row, states, values, end);
  }
  return grid;
}

export async function fetchPast(probe: Probe, stateNames: string[], metric: Metric, time: number,
  signal: AbortSignal): Promise<Grid> {
  const fields = new URLSearchParams({ probe: probe.name, metric: metric.id, at: iso(time) });
  return gridOf(await ask<PastGrid>(`api/v1/history/grid?${fields}`, signal), probe, stateNames, metric);
}

export async function fetchPairRows(probe: string, source: string, destination: string, from: number, to: number,
  points: number, signal: AbortSignal, pathNumber = 0): Promise<PairRow[]> {
  const path = [probe, source, destination].map(encodeURIComponent).join('/');
  const fields = new URLSearchParams({ from: iso(from), to: iso(to), points: String(points),
    ...(pathNumber > 0 && { path: String(pathNumber) }) });
  return (await ask<{ rows: PairRow[] }>(`api/v1/history/pairs/${path}?${fields}`, signal)).rows;
}

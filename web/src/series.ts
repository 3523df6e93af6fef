// A pair over time: points made of its rows, from history and from the windows that arrive.

import { useEffect, useState } from 'preact/hooks';
import { fetchPairRows, rangeOf } from './past';
import { PARTS, type PairRow, type Part, part } from './pair_row';

const MOST_POINTS = 2000;
const HISTORY_POINTS = 500;

export interface Fan { p50: number | null; p95: number | null; p99: number | null }
export interface Point extends Record<Part, Fan> {
  at: number; // seconds UTC, the window's end
  lost: number | null; // percent of what was sent
  anomalous: number | null; // percent of what was received
}

function percentOf(count: number, of: number | undefined): number | null {
  return of ? (100 * count) / of : null;
}

export function pointOf(row: PairRow): Point {
  const fans = Object.fromEntries(PARTS.map((name): [Part, Fan] => {
    const times = part(row, name);
    return [name, { p50: times?.p50 ?? null, p95: times?.p95 ?? null, p99: times?.p99 ?? null }];
  })) as Record<Part, Fan>;
  const anomalous = Object.values(row.anomalous ?? {}).reduce((sum, count) => sum + count, 0);
  return { ...fans, at: Date.parse(row.end!) / 1000, lost: percentOf(row.lost ?? 0, row.sent),
    anomalous: percentOf(anomalous, row.received) };
}

// Whether no point tells the 95th percentile from the 99th: of ten samples both are the largest.
export function sameUpper(points: Point[], of: Part): boolean {
  return points.length > 0 && points.every((point) => point[of].p95 === point[of].p99);
}

// Appends a new window, which replaces the newest one where both end at the same time.
export function append(points: Point[], point: Point): Point[] {
  const last = points[points.length - 1];
  if (last && last.at > point.at) return points;
  return [...(last?.at === point.at ? points.slice(0, -1) : points), point].slice(-MOST_POINTS);
}

// Returns the row of one path; path 0 stands for all together.
export function rowOfPath(row: PairRow | null | undefined, path: number): PairRow | null | undefined {
  return path === 0 || !row ? row : row.paths?.find((each) => each.path === path) ?? null;
}

export interface Series { points: Point[]; note: string }

// Returns one direction over time: the last `span` with the windows that arrive, or `span` around a
// past time. `way` is null where the probe does not have that direction.
export function useSeries(probe: string, way: [string, string] | null, path: number, span: string, time: number | null,
  row: PairRow | null | undefined): Series {
  const [source, destination] = way ?? ['', ''];
  const [points, setPoints] = useState<Point[]>([]);
  const [note, setNote] = useState('');
  useEffect(() => {
    const abort = new AbortController();
    setPoints([]);
    if (!way) return undefined;
    const { from, to } = rangeOf(span, time);
    fetchPairRows(probe, source, destination, from, to, HISTORY_POINTS, abort.signal, path).then((rows) => {
      setPoints((newer) => newer.reduce(append, rows.filter(({ end }) => end).map(pointOf)));
      setNote('');
    }, (failure: Error) => {
      if (!abort.signal.aborted) setNote(`since this page was opened (no history: ${failure.message})`);
    });
    return () => abort.abort();
  }, [probe, source, destination, path, span, time]);
  const newest = rowOfPath(row, path);
  useEffect(() => {
    if (time === null && newest?.end) setPoints((older) => append(older, pointOf(newest)));
  }, [newest]);
  return { points, note };
}

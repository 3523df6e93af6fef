// How a pair went: points of its rows over time, from history and from the windows that come in.

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

// A new window behind the others; the newest replaces one of the same end.
export function append(points: Point[], point: Point): Point[] {
  const last = points[points.length - 1];
  if (last && last.at > point.at) return points;
  return [...(last?.at === point.at ? points.slice(0, -1) : points), point].slice(-MOST_POINTS);
}

// That of one of several paths; path 0: of all together.
export function rowOfPath(row: PairRow | null | undefined, path: number): PairRow | null | undefined {
  return path === 0 || !row ? row : row.paths?.find((each) => each.path === path) ?? null;
}

export interface Series { points: Point[]; note: string }

// What history has of one way: of the last `span` with the windows that come in, or of `span` around a past time.
// `way`: null where the probe does not go it.
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
      if (!abort.signal.aborted) setNote(`no history (${failure.message}); since this page was opened`);
    });
    return () => abort.abort();
  }, [probe, source, destination, path, span, time]);
  const newest = rowOfPath(row, path);
  useEffect(() => {
    if (time === null && newest?.end) setPoints((older) => append(older, pointOf(newest)));
  }, [newest]);
  return { points, note };
}

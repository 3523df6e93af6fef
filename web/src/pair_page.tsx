// One pair, both ways: the latest rows in full, and how they went.

import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { humanNanos } from './format';
import { useWays, Way } from './pair';
import { fetchPairRows, SPANS } from './past';
import { part, type PairRow } from './pair_row';
import { choose, dark, grid, model, view } from './store';

const MOST_POINTS = 2000;
const HISTORY_POINTS = 500;
const SHORTEST_SPAN = 300; // seconds

interface Point { at: number; p50: number | null; p95: number | null; p99: number | null; lost: number | null }

function pointOf(row: PairRow): Point {
  const network = part(row, 'network');
  return { at: Date.parse(row.end!) / 1000, p50: network?.p50 ?? null, p95: network?.p95 ?? null,
    p99: network?.p99 ?? null, lost: row.sent ? (100 * (row.lost ?? 0)) / row.sent : null };
}

// A new window behind the others; the newest replaces one of the same end.
function append(points: Point[], point: Point): Point[] {
  const last = points[points.length - 1];
  if (last && last.at > point.at) return points;
  return [...(last?.at === point.at ? points.slice(0, -1) : points), point].slice(-MOST_POINTS);
}

// What history has of the last `span` of one way, and the windows that come in.
function useSeries(probe: string, source: string, destination: string, span: string,
  row: PairRow | null | undefined): { points: Point[]; note: string } {
  const [points, setPoints] = useState<Point[]>([]);
  const [note, setNote] = useState('');
  useEffect(() => {
    const abort = new AbortController();
    setPoints([]);
    const [from, to] = [Date.now() - SPANS[span] * 1000, Date.now()];
    fetchPairRows(probe, source, destination, from, to, HISTORY_POINTS, abort.signal).then((rows) => {
      setPoints((newer) => newer.reduce(append, rows.filter(({ end }) => end).map(pointOf)));
      setNote('');
    }, (failure: Error) => {
      if (!abort.signal.aborted) setNote(`no history (${failure.message}); since this page was opened`);
    });
    return () => abort.abort();
  }, [probe, source, destination, span]);
  useEffect(() => {
    if (row?.end) setPoints((older) => append(older, pointOf(row)));
  }, [row]);
  return { points, note };
}

export function PairPage() {
  const pair = view.value.held;
  const probe = grid.value!.probe.name;
  const ways = useWays(probe, pair);
  const [a, b] = pair ?? ['', ''];
  const { span } = view.value;
  const there = useSeries(probe, a, b, span, ways?.there);
  const back = useSeries(probe, b, a, span, ways?.back);
  if (!pair) return <main class="page empty"><h2>No pair is chosen</h2><p>Choose one in the mesh.</p></main>;
  const [source, destination] = pair;
  return <main class="page" id="pair-page" data-pair={pair.join(' ')}>
    <div class="page-head">
      <h2>{`${model.nameOf(source)} → ${model.nameOf(destination)}`}</h2>
      <span class="quiet-text">{`${probe}: ${source} → ${destination}`}</span>
      <button class="quiet" onClick={() => choose({ held: [destination, source] })}>swap</button>
      <button class="quiet" onClick={() => choose({ page: 'host', host: source })}>source</button>
      <button class="quiet" onClick={() => choose({ page: 'host', host: destination })}>destination</button>
      <span class="switch" role="radiogroup" aria-label="How far back">{Object.keys(SPANS).map((name) => <button key={name}
        role="radio" aria-checked={span === name} onClick={() => choose({ span: name })}>{name}</button>)}</span>
    </div>
    {ways?.failed && <p class="meaning">The controller does not answer.</p>}
    <div class="columns">
      <section>{ways?.there && <Way title="there" row={ways.there} />}<Chart {...there} span={span} /></section>
      {ways?.back && <section><Way title="back" row={ways.back} /><Chart {...back} span={span} /></section>}
    </div>
  </main>;
}

// UTC, with the day where there are several.
function timeNames(_: uPlot, seconds: number[]): string[] {
  const texts = seconds.map((at) => new Date(at * 1000).toISOString());
  const [first, last] = [texts[0] ?? '', texts[texts.length - 1] ?? ''];
  if (first.slice(0, 10) !== last.slice(0, 10)) return texts.map((text) => `${text.slice(5, 10)} ${text.slice(11, 16)}`);
  return texts.map((text) => (last > first && seconds[1] - seconds[0] < 60 ? text.slice(11, 19) : text.slice(11, 16)));
}

// The median with the fan up to the 99th percentile, and loss on an axis of its own.
function Chart({ points, note, span }: { points: Point[]; note: string; span: string }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const [ink, line, main, bad] = ['--quiet', '--line', '--network', '--bad'].map((name) => style.getPropertyValue(name));
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const made = new uPlot({
      width: Math.max(260, place.current!.clientWidth), height: 200, legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      scales: { x: { range: (_, first, last) => [Math.min(first, last - SHORTEST_SPAN), last] }, ns: { range: (_, __, high) => [0, (high || 1) * 1.1] }, '%': { range: [0, 100] } },
      axes: [{ ...axis, values: timeNames }, { ...axis, scale: 'ns', size: 64, values: (_, at) => at.map((each) => humanNanos(each)) },
        { ...axis, scale: '%', side: 1, size: 56, grid: { show: false }, values: (_, at) => at.map((each) => `${each} %`) }],
      series: [{}, { scale: 'ns', stroke: main, width: 2 }, { scale: 'ns', stroke: main, width: 0.6 },
        { scale: 'ns', stroke: main, width: 0.6 }, { scale: '%', stroke: bad, width: 1, fill: `${bad}33` }],
      bands: [{ series: [3, 2], fill: `${main}26` }, { series: [2, 1], fill: `${main}40` }],
    }, [[], [], [], [], []], place.current!);
    plot.current = made;
    const watcher = new ResizeObserver(() => made.setSize({ width: place.current!.clientWidth, height: 200 }));
    watcher.observe(place.current!);
    return () => {
      watcher.disconnect();
      made.destroy();
    };
  }, [dark.value]);
  useEffect(() => {
    plot.current!.setData([points.map(({ at }) => at), points.map(({ p50 }) => p50), points.map(({ p95 }) => p95),
      points.map(({ p99 }) => p99), points.map(({ lost }) => lost)]);
  }, [points, dark.value]);
  return <figure class="chart">
    <figcaption>{`network p50, p95, p99 and loss, ${note || `last ${span}`}, UTC`}</figcaption>
    <div ref={place} />
  </figure>;
}

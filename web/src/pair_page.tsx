// One pair, both ways: the latest rows in full, and how they went since the page was opened.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { humanNanos } from './format';
import { useWays, Way } from './pair';
import { part, type PairRow } from './pair_row';
import { choose, dark, grid, model, view } from './store';

const MOST_POINTS = 2000;
const SHORTEST_SPAN = 300; // seconds

interface Point { at: number; p50: number | null; p95: number | null; p99: number | null; lost: number | null }

// The windows that came in since; the newest replaces one of the same end.
function useSeries(key: string, row: PairRow | null | undefined): Point[] {
  const series = useRef<{ key: string; points: Point[] }>({ key: '', points: [] });
  if (series.current.key !== key) series.current = { key, points: [] };
  const { points } = series.current;
  if (row?.end) {
    const at = Date.parse(row.end) / 1000;
    const network = part(row, 'network');
    const point = { at, p50: network?.p50 ?? null, p95: network?.p95 ?? null, p99: network?.p99 ?? null,
      lost: row.sent ? (100 * (row.lost ?? 0)) / row.sent : null };
    if (points[points.length - 1]?.at === at) points[points.length - 1] = point;
    else if (!(points[points.length - 1]?.at > at)) points.push(point);
    if (points.length > MOST_POINTS) points.shift();
  }
  return points;
}

export function PairPage() {
  const pair = view.value.held;
  const probe = grid.value!.probe.name;
  const ways = useWays(probe, pair);
  const key = JSON.stringify([probe, pair]);
  const there = useSeries(key, ways?.there);
  const back = useSeries(`${key} back`, ways?.back);
  if (!pair) return <main class="page empty"><h2>No pair is chosen</h2><p>Choose one in the mesh.</p></main>;
  const [source, destination] = pair;
  return <main class="page" id="pair-page" data-pair={pair.join(' ')}>
    <div class="page-head">
      <h2>{`${model.nameOf(source)} → ${model.nameOf(destination)}`}</h2>
      <span class="quiet-text">{`${probe}: ${source} → ${destination}`}</span>
      <button class="quiet" onClick={() => choose({ held: [destination, source] })}>swap</button>
      <button class="quiet" onClick={() => choose({ page: 'host', host: source })}>source</button>
      <button class="quiet" onClick={() => choose({ page: 'host', host: destination })}>destination</button>
    </div>
    {ways?.failed && <p class="meaning">The controller does not answer.</p>}
    <div class="columns">
      <section>{ways?.there && <Way title="there" row={ways.there} />}<Chart points={there} count={there.length} /></section>
      {ways?.back && <section><Way title="back" row={ways.back} /><Chart points={back} count={back.length} /></section>}
    </div>
  </main>;
}

// The median with the fan up to the 99th percentile, and loss on an axis of its own.
function Chart({ points, count }: { points: Point[]; count: number }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const [ink, line, main, bad] = ['--quiet', '--line', '--network', '--bad'].map((name) => style.getPropertyValue(name));
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const made = new uPlot({
      width: Math.max(260, place.current!.clientWidth), height: 200, legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      scales: { x: { range: (_, first, last) => [Math.min(first, last - SHORTEST_SPAN), last] }, ns: { range: (_, __, high) => [0, (high || 1) * 1.1] }, '%': { range: [0, 100] } },
      axes: [{ ...axis }, { ...axis, scale: 'ns', size: 64, values: (_, at) => at.map((each) => humanNanos(each)) },
        { ...axis, scale: '%', side: 1, size: 44, grid: { show: false }, values: (_, at) => at.map((each) => `${each} %`) }],
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
  }, [points, count, dark.value, points[points.length - 1]]);
  return <figure class="chart">
    <figcaption>{`network p50, p95, p99 and loss since this page was opened, UTC: ${count} ${count === 1 ? 'window' : 'windows'}`}</figcaption>
    <div ref={place} />
  </figure>;
}

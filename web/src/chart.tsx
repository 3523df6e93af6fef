// Charts of a pair over time, one per part of the round trip: each shows the median with a fan up
// to the 99th percentile and a line at each change of the pair's state or severity. The network's
// chart also has loss and anomalies, on an axis of their own. Pointing at one reads all of them at
// that time; dragging zooms into a range of time, and a double click leaves it.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { axesOf, nanosScale, timeRange } from './chart_axis';
import { type ChartMark, chartMarksOf, markChanges } from './chart_marks';
import type { StateChange } from './events';
import { humanNanos, humanRatio } from './format';
import type { Part } from './pair_row';
import { type Point, sameUpper, type Series } from './series';
import { choose, view } from './store';
import { dark } from './theme';

const TALL = 200;
const LOW = 110;
const LEAST_DRAG = 5; // pixels

interface Made { of: Part; height: number; log: boolean; group: string; marks: () => ChartMark[]; read: (index: number | null) => void; zoomed: { current: boolean } }

function make(place: HTMLElement, { of, height, log, group, marks, read, zoomed }: Made): uPlot {
  const style = getComputedStyle(document.documentElement);
  const [ink, line, main, bad, warn] = ['--quiet', '--line', of === 'rtt' ? '--quiet' : `--${of}`, '--bad', '--warn']
    .map((name) => style.getPropertyValue(name));
  return new uPlot({
    width: Math.max(260, place.clientWidth), height, legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false, dist: LEAST_DRAG }, sync: { key: group, scales: ['x', null] }, points: { size: 6 } },
    scales: { x: { range: (plot, low, high) => (zoomed.current ? [low, high] : timeRange(plot)) }, ns: nanosScale(log), '%': { range: [0, 100] } },
    axes: axesOf(ink, line, of === 'network', log),
    series: [{}, { scale: 'ns', stroke: main, width: 2 }, { scale: 'ns', stroke: main, width: 0.6 },
      { scale: 'ns', stroke: main, width: 0.6 }, { scale: '%', stroke: bad, width: 1, fill: `${bad}33` },
      { scale: '%', stroke: warn, width: 1, dash: [4, 3] }],
    plugins: [markChanges(marks, main, bad)],
    hooks: { setCursor: [(plot) => read(plot.cursor.idx ?? null)], setSelect: [(plot) => { if (plot.select.width > 0) zoomed.current = true; }] },
    bands: [{ series: [3, 2], fill: `${main}26` }, { series: [2, 1], fill: `${main}40` }],
  }, [[], [], [], [], [], []], place);
}

// Passes the ratios only to the chart that draws them.
function dataOf(points: Point[], of: Part, ratios: boolean): uPlot.AlignedData {
  return [points.map(({ at }) => at), points.map((point) => point[of].p50), points.map((point) => point[of].p95),
    points.map((point) => point[of].p99), points.map(({ lost }) => (ratios ? lost : null)),
    points.map(({ anomalous }) => (ratios ? anomalous : null))];
}

// Reads one point of one chart.
function readingOf(point: Point, of: Part): string {
  const { p50, p95, p99 } = point[of];
  const upper = p95 === p99 ? [`p95 = p99 ${humanNanos(p95)}`] : [`p95 ${humanNanos(p95)}`, `p99 ${humanNanos(p99)}`];
  const ratios = of !== 'network' ? [] : [`loss ${humanRatio(point.lost === null ? null : point.lost / 100)}`,
    ...(point.anomalous ? [`anomalous ${humanRatio(point.anomalous / 100)}`] : [])];
  return [`${new Date(point.at * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
    ...(p50 === null ? ['not measured'] : [`p50 ${humanNanos(p50)}`, ...upper]), ...ratios].join(' · ');
}

interface ChartProps { points: Point[]; of: Part; caption: string; marks: ChartMark[]; log: boolean; group: string }

function Chart({ points, of, caption, marks, log, group }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const drawn = useRef(marks);
  const zoomed = useRef(false);
  const [index, setIndex] = useState<number | null>(null);
  const first = of === 'network';
  const height = first ? TALL : LOW;
  useEffect(() => {
    const made = make(place.current!, { of, height, log, group, marks: () => drawn.current, read: setIndex, zoomed });
    plot.current = made;
    zoomed.current = false;
    const leave = () => { zoomed.current = false; };
    made.over.addEventListener('dblclick', leave);
    const watcher = new ResizeObserver(() => made.setSize({ width: place.current!.clientWidth, height }));
    watcher.observe(place.current!);
    return () => {
      watcher.disconnect();
      made.destroy();
    };
  }, [dark.value, of, log, group]);
  useEffect(() => {
    plot.current!.setData(dataOf(points, of, first), !zoomed.current);
    if (zoomed.current) plot.current!.redraw();
  }, [points, dark.value, of, log, group]);
  useEffect(() => {
    drawn.current = marks;
    plot.current!.redraw(false);
  }, [marks, dark.value, of, log, group]);
  const point = index === null ? undefined : points[index];
  return <figure class="chart" data-part={of} data-points={points.length}><figcaption>{point ? readingOf(point, of) : caption}</figcaption><div ref={place} /></figure>;
}

// Shows the parts that have been measured, and the network's in any case, for its loss and
// anomalies. `of` names the time shown; `at` is the time looked at, in milliseconds. Charts of one
// `group` are read together.
export function Charts({ series: { points, note }, of: shown, at, changes, group }:
  { series: Series; of: string; at: number | null; changes: StateChange[]; group: string }) {
  const marks = useMemo(() => chartMarksOf(changes, at), [changes, at]);
  const log = view.value.axis === 'log';
  const parts = (['network', 'responder', 'prober'] as const)
    .filter((of) => of === 'network' || points.some((point) => point[of].p50 !== null));
  const lines = (of: Part) => (sameUpper(points, of) ? 'p50, p95 = p99' : 'p50, p95, p99');
  return <><p class="chart-keys">drag to zoom, double click to leave
    <button class="quiet" aria-pressed={log} onClick={() => choose({ axis: log ? '' : 'log' })}>{log ? 'log axis' : 'linear axis'}</button></p>
    {parts.map((of) => <Chart key={of} of={of} points={points} marks={marks} log={log} group={group}
      caption={of === 'network' ? `network ${lines(of)}, loss (filled) and anomalous (dashed), ${note || shown}, UTC` : `${of} ${lines(of)}`} />)}</>;
}

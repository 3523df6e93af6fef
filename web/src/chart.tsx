// Charts of a pair over time, one per part of the round trip: each shows the median with a fan up
// to the 99th percentile and a line at each change of the pair's state. The network's chart also
// has loss and anomalies, on an axis of their own.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { type ChartMark, chartMarksOf, markChanges } from './chart_marks';
import type { StateChange } from './events';
import { humanNanos } from './format';
import type { Part } from './pair_row';
import type { Point, Series } from './series';
import { dark } from './store';

const SHORTEST_SPAN = 300; // seconds
const TALL = 200;
const LOW = 110;
const TIME_SPACE = 90; // pixels for a day and a time
const VALUE_SPACE = 26;

// Returns the range of the points: uPlot would show years around a single one.
function timeRange({ data: [at] }: uPlot): [number, number] {
  const last = at[at.length - 1] ?? Date.now() / 1000;
  return [Math.min(at[0] ?? last, last - SHORTEST_SPAN), last];
}

// Writes times in UTC, with the day where the axis spans several.
function timeNames(_: uPlot, seconds: number[]): string[] {
  const texts = seconds.map((at) => new Date(at * 1000).toISOString());
  const [first, last] = [texts[0] ?? '', texts[texts.length - 1] ?? ''];
  if (first.slice(0, 10) !== last.slice(0, 10)) return texts.map((text) => `${text.slice(5, 10)} ${text.slice(11, 16)}`);
  return texts.map((text) => (last > first && seconds[1] - seconds[0] < 60 ? text.slice(11, 19) : text.slice(11, 16)));
}

function make(place: HTMLElement, of: Part, height: number, marks: () => ChartMark[]): uPlot {
  const style = getComputedStyle(document.documentElement);
  const [ink, line, main, bad, warn] = ['--quiet', '--line', of === 'rtt' ? '--quiet' : `--${of}`, '--bad', '--warn']
    .map((name) => style.getPropertyValue(name));
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  // Charts without ratios keep the axis's place, so that the times of all charts are aligned.
  const ratios = of === 'network';
  const percent = { ...axis, scale: '%', side: 1, size: 56, space: VALUE_SPACE, grid: { show: false }, ticks: { ...axis.ticks, show: ratios },
    values: (_: uPlot, at: number[]) => at.map((each) => (ratios ? `${each} %` : '')) } as const;
  return new uPlot({
    width: Math.max(260, place.clientWidth), height, legend: { show: false }, cursor: { drag: { x: false, y: false } },
    scales: { x: { range: timeRange },
      ns: { range: (_, __, high) => [0, (high || 1) * 1.1] }, '%': { range: [0, 100] } },
    axes: [{ ...axis, size: 36, space: TIME_SPACE, values: timeNames }, { ...axis, scale: 'ns', size: 64, space: VALUE_SPACE, values: (_, at) => at.map((each) => humanNanos(each)) },
      percent],
    series: [{}, { scale: 'ns', stroke: main, width: 2 }, { scale: 'ns', stroke: main, width: 0.6 },
      { scale: 'ns', stroke: main, width: 0.6 }, { scale: '%', stroke: bad, width: 1, fill: `${bad}33` },
      { scale: '%', stroke: warn, width: 1, dash: [4, 3] }],
    plugins: [markChanges(marks, main, bad)],
    bands: [{ series: [3, 2], fill: `${main}26` }, { series: [2, 1], fill: `${main}40` }],
  }, [[], [], [], [], [], []], place);
}

// Passes the ratios only to the chart that draws them.
function dataOf(points: Point[], of: Part, ratios: boolean): uPlot.AlignedData {
  return [points.map(({ at }) => at), points.map((point) => point[of].p50), points.map((point) => point[of].p95),
    points.map((point) => point[of].p99), points.map(({ lost }) => (ratios ? lost : null)),
    points.map(({ anomalous }) => (ratios ? anomalous : null))];
}

interface ChartProps { points: Point[]; of: Part; caption: string; marks: ChartMark[] }

function Chart({ points, of, caption, marks }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const drawn = useRef(marks);
  const first = of === 'network';
  const height = first ? TALL : LOW;
  useEffect(() => {
    const made = make(place.current!, of, height, () => drawn.current);
    plot.current = made;
    const watcher = new ResizeObserver(() => made.setSize({ width: place.current!.clientWidth, height }));
    watcher.observe(place.current!);
    return () => {
      watcher.disconnect();
      made.destroy();
    };
  }, [dark.value, of]);
  useEffect(() => { plot.current!.setData(dataOf(points, of, first)); }, [points, dark.value, of]);
  useEffect(() => {
    drawn.current = marks;
    plot.current!.redraw(false);
  }, [marks, dark.value, of]);
  return <figure class="chart" data-part={of} data-points={points.length}><figcaption>{caption}</figcaption><div ref={place} /></figure>;
}

// Shows the parts that have been measured, and the network's in any case, for its loss and
// anomalies. `of` names the time shown; `at` is the time looked at, in milliseconds.
export function Charts({ series: { points, note }, of: shown, at, changes }:
  { series: Series; of: string; at: number | null; changes: StateChange[] }) {
  const marks = useMemo(() => chartMarksOf(changes, at), [changes, at]);
  const parts = (['network', 'responder', 'prober'] as const)
    .filter((of) => of === 'network' || points.some((point) => point[of].p50 !== null));
  return <>{parts.map((of) => <Chart key={of} of={of} points={points} marks={marks}
    caption={of === 'network' ? `network p50, p95, p99, loss (filled) and anomalous (dashed), ${note || shown}, UTC`
      : `${of} p50, p95, p99`} />)}</>;
}

// The axes of the charts: times in UTC, and durations on a linear or a logarithmic axis.

import type uPlot from 'uplot';
import { humanNanos } from './format';

const SHORTEST_SPAN = 300; // seconds
const TIME_SPACE = 90; // pixels for a day and a time
const VALUE_SPACE = 26;
const LEAST_NANOS = 100; // what a logarithmic axis begins at where there is nothing

// Returns the range of the points: uPlot would show years around a single one.
export function timeRange({ data: [at] }: uPlot): [number, number] {
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

// The range of a logarithmic axis: whole decades around the values.
export function decades(low: number, high: number): [number, number] {
  const [from, to] = [Math.max(low || LEAST_NANOS, 1), Math.max(high || LEAST_NANOS, 1)];
  const bottom = 10 ** Math.floor(Math.log10(from));
  return [bottom, Math.max(10 ** Math.ceil(Math.log10(to)), bottom * 10)];
}

// A line at each power of ten; the nine between two of them would fill a low chart.
function powersOfTen(low: number, high: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const count = Math.floor(Math.log10(high) + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => 10 ** (first + i));
}

export function nanosScale(log: boolean): uPlot.Scale {
  return log ? { distr: 3, log: 10, range: (_, low, high) => decades(low, high) }
    : { range: (_, __, high) => [0, (high || 1) * 1.1] };
}

// `ratios`: the chart has loss and anomalies too. Charts without them keep the axis's place, so that the times of all charts
// are aligned.
export function axesOf(ink: string, line: string, ratios: boolean, log: boolean): uPlot.Axis[] {
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  return [{ ...axis, size: 36, space: TIME_SPACE, values: timeNames },
    { ...axis, scale: 'ns', size: 64, space: VALUE_SPACE, values: (_, at) => at.map((each) => humanNanos(each)),
      ...(log && { splits: (_: uPlot, __: number, low: number, high: number) => powersOfTen(low, high) }) },
    { ...axis, scale: '%', side: 1, size: 56, space: VALUE_SPACE, grid: { show: false }, ticks: { ...axis.ticks, show: ratios },
      values: (_, at) => at.map((each) => (ratios ? `${each} %` : '')) }];
}

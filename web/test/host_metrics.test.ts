import { describe, expect, it } from 'vitest';
import { addPages, type History, type HostPages, labelsText, MOST_POINTS, type PageMetric, sparkline } from '../src/host_metrics';

const pagesOf = (metrics: PageMetric[], over: { owner?: number; state?: string } = {}): HostPages => ({ agents: [{ host: 'h', state: 'reading', problem: null,
  warnings: [], anomalies: [{ application: 'a', pid: 1, owner: 1, metric: 'depth', part: null, statistic: 'peak', score: 2, value: 5, peers: null }],
  pages: [{ owner: 1, application: 'a', pid: 1, state: 'fresh', metrics, ...over }] }] });
const gauge = (value: number | null, name = 'depth'): PageMetric => ({ name, kind: 'gauge', labels: {}, value });
const counter = (value: number): PageMetric => ({ name: 'jobs_total', kind: 'counter', labels: { b: 'x', a: 'y' }, value });
const histogram = (count: number, sum: number): PageMetric => ({ name: 'step', kind: 'histogram', labels: {}, value: { count, sum, p50: 1, p99: 2 } });

describe("a host's metrics", () => {
  it('are gauges as they are, counters per second, and the mean of what histograms have counted since', () => {
    const history: History = new Map();
    const lines = (at: number, ...metrics: PageMetric[]) => Object.fromEntries(
      addPages(history, pagesOf(metrics), at)[0].lines.map(({ name, value }) => [name, value]));
    expect(lines(1000, gauge(5), counter(10), histogram(2, 8))).toEqual({ depth: 5, 'jobs_total{b=x,a=y}': null, step: null });
    expect(lines(3000, gauge(7), counter(30), histogram(4, 18))).toEqual({ depth: 7, 'jobs_total{b=x,a=y}': 10, step: 5 });
    // Restarted: both count from 0 again. Nothing was counted: there is no mean.
    expect(lines(5000, gauge(null), counter(4), histogram(4, 18))).toEqual({ depth: null, 'jobs_total{b=x,a=y}': null, step: null });
    expect(lines(6000, gauge(1), counter(6), histogram(5, 21)).step).toBe(3);
  });
  it('have the mean and the tail of a summary, if it says them', () => {
    const history: History = new Map();
    const summary = (count: number, sum: number | null, p99: number | null): PageMetric => (
      { name: 'wait', kind: 'summary', labels: {}, value: { count, sum, p50: null, p99 } });
    const [first, second, third] = [summary(2, 8, 9), summary(4, 18, null), summary(6, null, null)].map((metric, at) => (
      addPages(history, pagesOf([metric]), 1000 * (at + 1))[0].lines[0]));
    expect([first.value, first.p99, first.total, first.more]).toEqual([null, 9, 2, 'mean of the newest']);
    expect([second.value, second.p99, second.total]).toEqual([5, null, 4]);
    expect(third.value).toBeNull(); // the sum is no number
  });
  it('have the traces of their values, the slowest first', () => {
    const exemplars = [0.002, 5].map((value) => ({ time: '2026-11-21T03:12:00.250Z', value, labels: { trace_id: `of ${value}`, span_id: 'b' } }));
    const [{ lines: [traced, plain] }] = addPages(new Map(), pagesOf([{ ...histogram(2, 8), exemplars }, histogram(1, 1)]), 1);
    expect([traced.exemplars.map(({ labels }) => labelsText(labels)), plain.exemplars]).toEqual([['trace_id=of 5,span_id=b', 'trace_id=of 0.002,span_id=b'], []]);
  });
  it('have few traces, however many a collector says', () => {
    const many = Array.from({ length: 9 }, (_, value) => ({ time: '2026-11-21T03:12:00Z', value, labels: { t: `${value}` } }));
    const [{ lines: [line] }] = addPages(new Map(), pagesOf([{ ...histogram(2, 8), exemplars: many }]), 1);
    expect(line.exemplars.map(({ value }) => value)).toEqual([8, 7, 6, 5]);
  });
  it('have no traces that are none', () => {
    const time = '2026-11-21T03:12:00Z';
    const strange = [null, 7, {}, { time: 'now', value: 1, labels: {} }, { time, value: '1', labels: {} }, { time, value: 1, labels: null },
      { time: '5', value: NaN }, { time: 5, value: 1, labels: { a: 'b' } }, ...[{}, ['x'], { a: 7 }, { a: { toString: 1 } }].map((labels) => ({ time, value: 1, labels }))];
    const traces = [strange, 'text', 7, null].map((exemplars) => (
      addPages(new Map(), pagesOf([{ ...histogram(2, 8), exemplars } as PageMetric]), 1)[0].lines[0].exemplars));
    expect(traces).toEqual([[], [], [], []]);
  });
  it('are kept as a bounded course, without values that are not fresh', () => {
    const history: History = new Map();
    for (let at = 1; at <= MOST_POINTS + 5; ++at) addPages(history, pagesOf([gauge(at)]), at);
    const [{ lines: [line] }] = addPages(history, pagesOf([gauge(999)], { state: 'stale' }), 1000);
    expect([line.value, line.points.length, line.points[0], line.points.at(-1)]).toEqual([null, MOST_POINTS, 6, MOST_POINTS + 5]);
    addPages(history, pagesOf([]), 2000);
    expect(history.size).toBe(0); // what is gone is forgotten
  });
  it('are listed with what is unusual first, and what moves before what does not', () => {
    const history: History = new Map();
    const metrics = (moved: number) => [gauge(1, 'a_constant'), gauge(moved, 'moving'), gauge(1), gauge(1, 'b_constant')];
    addPages(history, pagesOf(metrics(1)), 1);
    const [{ lines, anomalies }] = addPages(history, pagesOf(metrics(2)), 2);
    expect(lines.map(({ name }) => name)).toEqual(['depth', 'moving', 'a_constant', 'b_constant']);
    expect([anomalies.length, lines[0].deviation?.statistic, lines[1].deviation]).toEqual([1, 'peak', null]);
  });
});

describe('a sparkline', () => {
  it('fills its box, and is in the middle where nothing moves', () => {
    expect(sparkline([1, 3, 2], 100, 10)).toBe('0.0,10.0 50.0,0.0 100.0,5.0');
    expect(sparkline([4, 4], 100, 10)).toBe('0.0,5.0 100.0,5.0');
    expect(sparkline([4], 100, 10)).toBe('');
  });
});

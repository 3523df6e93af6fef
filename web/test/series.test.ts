import { beforeAll, describe, expect, it, vi } from 'vitest';

vi.mock('../src/past', () => ({ SPANS: {}, fetchPairRows: async () => [] }));
let series: typeof import('../src/series');
beforeAll(async () => { series = await import('../src/series'); });

const times = (p50: number) => ({ min: 1, mean: p50, p50, p95: 2 * p50, p99: 3 * p50, max: 4 * p50 });
const row = { state: 'loss', end: '2026-11-21T03:12:10Z', sent: 10, received: 8, lost: 2, anomalous: { stalled: 1, negative: 1 },
  network_ns: times(4000), rtt_ns: times(9000), paths: [{ state: 'ok', path: 2, end: '2026-11-21T03:12:10Z', sent: 5 }] };

describe('a point of a pair', () => {
  it('has the fans of all parts, loss and anomalies', () => {
    const point = series.pointOf(row);
    expect(point.at).toBe(Date.UTC(2026, 10, 21, 3, 12, 10) / 1000);
    expect(point.network).toEqual({ p50: 4000, p95: 8000, p99: 12000 });
    expect(point.responder).toEqual({ p50: null, p95: null, p99: null });
    expect([point.lost, point.anomalous]).toEqual([20, 25]);
  });
  it('has no ratio where nothing was sent', () => {
    expect(series.pointOf({ state: 'pending', end: row.end })).toMatchObject({ lost: null, anomalous: null });
  });
  it('replaces the point of the same window, but no newer point', () => {
    const [one, two] = [series.pointOf(row), { ...series.pointOf(row), lost: 50 }];
    expect(series.append([one], two)).toEqual([two]);
    expect(series.append([one], { ...two, at: one.at + 1 })).toHaveLength(2);
    expect(series.append([one], { ...two, at: one.at - 1 })).toEqual([one]);
  });
});

describe('the row of a path', () => {
  it('is the row of one path, or of all together', () => {
    expect(series.rowOfPath(row, 0)).toBe(row);
    expect(series.rowOfPath(row, 2)?.sent).toBe(5);
    expect(series.rowOfPath(row, 1)).toBeNull();
    expect(series.rowOfPath(undefined, 1)).toBeUndefined();
  });
});

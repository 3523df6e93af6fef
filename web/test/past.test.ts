import { describe, expect, it } from 'vitest';
import { humanCode, METRICS } from '../src/metrics';
import type { Probe } from '../src/model';
import { gridOf } from '../src/past';

const STATES = ['ok', 'loss', 'unreachable', 'refused', 'agent-down', 'pending', 'stale', 'anomalous'];
const PROBE: Probe = { name: 'mesh', protocol: 'udp', paths: 1, interval_ns: 1, timeout_ns: 1, window_ns: 1, thresholds: {},
  sources: ['10.0.0.1', '10.0.0.2', 'fd00::1'], destinations: ['10.0.0.1', '10.0.0.2', 'fd00::1'] };

describe('a past grid', () => {
  it('is like one that came live', () => {
    const grid = gridOf({ window: { start: '2026-11-21T03:12:00Z', end: '2026-11-21T03:12:10Z' },
      values: [[null, 4210, null], [null, null, null], [null, null, null]],
      states: [[null, 'ok', null], ['stale', null, null], [null, null, null]] }, PROBE, STATES, METRICS[0]);
    expect(grid.windowEnd).toBe(Date.UTC(2026, 10, 21, 3, 12, 10));
    expect([grid.stateName(1), humanCode(METRICS[0], grid.values[1])]).toEqual(['ok', '4.3 µs']);
    expect(grid.stateName(3)).toBe('stale');
    expect([grid.isPair(0), grid.isPair(2), grid.isPair(4)]).toEqual([false, false, false]);
    expect(grid.pairs()).toBe(2);
  });
});

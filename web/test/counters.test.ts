import { describe, expect, it } from 'vitest';
import { type Counter, grouped, placeOf, shownCounters, summaryOf } from '../src/counters';

const NOW = Date.parse('2026-11-21T03:12:00Z');
const counter = (name: string, kind: 'error' | 'load', moved: number): Counter => ({ device: 'mlx5_0', port: 1, counter: name, kind, total: 9, moved,
  last_moved: null });
const host = (...counters: Counter[]) => ({ host: 'gpu-3', known_since: '2026-11-21T03:02:00Z', counters });

describe('the counters of a host', () => {
  it('are those that moved unless all are wanted', () => {
    const both = [counter('symbol_error_total', 'error', 3), counter('link_downed_total', 'error', 0)];
    expect(shownCounters(both, false)).toEqual([both[0]]);
    expect(shownCounters(both, true)).toEqual(both);
  });
  it('are summed up', () => {
    expect(summaryOf(host(counter('a', 'error', 3), counter('b', 'load', 7)), NOW)).toBe('1 of errors moved in the last 5 minutes; 2 watched for 10 min');
    expect(summaryOf(host(counter('b', 'load', 7)), NOW)).toBe('no errors in the last 5 minutes; 1 watched for 10 min');
    expect(summaryOf(host(), NOW)).toBe('the host has none that are watched');
    expect(summaryOf({ ...host(), known_since: null }, NOW)).toBe('the agent has told none');
  });
  it('have all their digits and their place', () => {
    expect([0, 999, 1204, 1234567].map(grouped)).toEqual(['0', '999', '1,204', '1,234,567']);
    expect(placeOf({ device: 'mlx5_0', port: 1 })).toBe('mlx5_0/1');
    expect(placeOf({ device: 'eth0', port: null })).toBe('eth0');
  });
});

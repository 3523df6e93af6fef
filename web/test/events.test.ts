import { describe, expect, it } from 'vitest';
import { chartMarksOf } from '../src/chart_marks';
import { marksOf, queryOf, sidesOf, type StateChange, timeOf, whoOf } from '../src/events';

const CHANGE: StateChange = { at: '2026-11-21T03:12:12.500Z', window: '2026-11-21T03:12:00Z', probe: 'udp',
  source: '10.0.0.1', source_name: 'gpu-001', destination: '10.0.0.2', destination_name: 'gpu-002',
  from: 'ok', to: 'loss', severity_from: 'ok', severity: 'ok', pairs: 1 };
const at = (second: number) => Date.UTC(2026, 10, 21, 3, 12, second);

describe('a change of state', () => {
  it('is shown at its window, or at the time of its detection', () => {
    expect(timeOf(CHANGE)).toBe(at(0));
    expect(timeOf({ ...CHANGE, window: null })).toBe(at(12) + 500);
  });
  it('names its hosts or counts its pairs', () => {
    expect(whoOf(CHANGE)).toBe('gpu-001 → gpu-002');
    expect(whoOf({ ...CHANGE, source: null, source_name: null, pairs: 999 })).toBe('to gpu-002: 999 pairs');
    expect(whoOf({ ...CHANGE, destination: null, destination_name: null, pairs: 999 })).toBe('from gpu-001: 999 pairs');
    expect(whoOf({ ...CHANGE, source: null, source_name: null, destination: null, destination_name: null,
      pairs: 999_000 })).toBe('999,000 pairs');
  });
  it('reads as what is judged, or as the states where these tell more', () => {
    expect(sidesOf(CHANGE)).toEqual(['ok', 'loss']);
    expect(sidesOf({ ...CHANGE, from: 'loss', severity: 'lossy' })).toEqual(['loss', 'lossy']);
    expect(sidesOf({ ...CHANGE, to: 'ok', severity: 'slow' })).toEqual(['ok', 'slow']);
    expect(sidesOf({ ...CHANGE, severity_from: 'lossy', severity: 'lossy' })).toEqual(['ok', 'loss']);
    expect(sidesOf({ ...CHANGE, to: 'ok', severity_from: 'none' })).toEqual(['none', 'ok']);
  });
  it('is a line in the chart at the time of its detection', () => {
    expect(chartMarksOf([CHANGE, { ...CHANGE, to: 'ok' }])).toEqual(
      [{ at: at(12) / 1000 + 0.5, well: false }, { at: at(12) / 1000 + 0.5, well: true }]);
  });
});

describe('the timeline', () => {
  const bin = { at: CHANGE.at, window: CHANGE.window, worst: 'loss', severity: 'ok', events: 3, pairs: 1200 };
  it('has a mark at the first of the worst changes, which leads to its window', () => {
    expect(marksOf([bin], at(10), at(20))).toEqual([{ place: 0.25, time: at(0), worst: 'loss',
      title: '03:12:12 UTC: 3 changes of 1,200 pairs, the worst to loss' }]);
  });
  it('has no marks outside of its range', () => {
    expect(marksOf([{ ...bin, severity: 'down' }], at(10), at(20))[0].worst).toBe('down');
    expect(marksOf([bin], at(20), at(30))).toEqual([]);
    expect(marksOf([bin], at(10), at(10))).toEqual([]);
  });
});

describe('the question', () => {
  it('names the pair, whatever its addresses look like', () => {
    expect(queryOf({ probe: 'a b', from: at(0), to: at(1), pair: ['fd00::1', '10.0.0.2'], limit: 5, bins: 0 })).toBe(
      'probe=a+b&from=2026-11-21T03%3A12%3A00.000Z&to=2026-11-21T03%3A12%3A01.000Z&limit=5&source=fd00%3A%3A1&destination=10.0.0.2');
  });
});

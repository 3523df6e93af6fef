import { describe, expect, it } from 'vitest';
import { chartMarksOf } from '../src/chart_marks';
import { rangeOf } from '../src/past';

describe('the time that is looked at', () => {
  const at = Date.UTC(2020, 10, 21, 3, 12);
  it('lies in the middle of the range', () => {
    expect(rangeOf('1h', at)).toEqual({ from: at - 1_800_000, to: at + 1_800_000 });
  });
  it('lies further right where the range would reach beyond now', () => {
    const { from, to } = rangeOf('5m', Date.now() - 1000);
    expect(to - from).toBe(300_000);
    expect(to).toBeLessThanOrEqual(Date.now());
  });
  it('is marked among the changes', () => {
    expect(chartMarksOf([])).toEqual([]);
    expect(chartMarksOf([], at)).toEqual([{ at: at / 1000, well: true, looked: true }]);
  });
});

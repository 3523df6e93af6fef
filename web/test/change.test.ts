import { describe, expect, it } from 'vitest';
import { decades } from '../src/chart_axis';
import { changeOf, humanCode, METRICS, valueOf } from '../src/metrics';
import { againstText, pastFields } from '../src/past';
import { statisticsOf } from '../src/pair_row';

const AT = Date.UTC(2026, 10, 21, 3, 12);
const NONE = { time: null, worst: '', against: '' };

describe('what is asked instead of the present', () => {
  it('is nothing, a time, the worst of a while, or a difference', () => {
    expect(pastFields(NONE, AT)).toBeNull();
    expect(String(pastFields({ ...NONE, time: AT }, 0))).toBe('at=2026-11-21T03%3A12%3A00.000Z');
    expect(String(pastFields({ ...NONE, worst: '24h' }, AT))).toBe('worst=24h');
    expect(String(pastFields({ ...NONE, against: '1h' }, AT)))
      .toBe('at=2026-11-21T03%3A12%3A00.000Z&against=2026-11-21T02%3A12%3A00.000Z');
    expect(String(pastFields({ ...NONE, worst: '1h', against: '1h', time: AT }, 0))).toBe('at=2026-11-21T03%3A12%3A00.000Z&worst=1h');
  });
  it('takes no text that is no time', () => {
    expect([againstText('1h'), againstText('2026-11-21T03:12:00Z'), againstText('soon'), againstText(null)])
      .toEqual(['1h', '2026-11-21T03:12:00Z', '', '']);
  });
});

describe('a change', () => {
  const [time, loss] = ['network_p50', 'loss'].map((id) => changeOf(METRICS.find((metric) => metric.id === id)!));
  it('is how many times as long, or percentage points', () => {
    expect(valueOf(time, 255)).toBeCloseTo(1000);
    expect([128, 170, 86, 255, 0].map((code) => humanCode(time, code))).toEqual(['=', '×9.8', '÷9.8', '×1000', '–']);
    expect([128, 255, 1].map((code) => humanCode(loss, code))).toEqual(['0 %', '+100 %', '-100 %']);
  });
});

describe('a logarithmic axis', () => {
  it('has whole decades', () => {
    expect(decades(4200, 61_000)).toEqual([1000, 100_000]);
    expect(decades(NaN, NaN)).toEqual([100, 1000]);
  });
});

describe('the statistics of a row', () => {
  const times = { min: 1, mean: 2, p50: 2, p95: 9, p99: 9, max: 9 };
  it('are one line where they are the same', () => {
    expect(statisticsOf([times, times]).map(({ label }) => label)).toEqual(['min', 'mean', 'p50', 'p95 = p99 = max']);
    expect(statisticsOf([times, { ...times, max: 10 }]).map(({ label }) => label)).toEqual(['min', 'mean', 'p50', 'p95 = p99', 'max']);
  });
});

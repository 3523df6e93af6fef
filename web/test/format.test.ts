import { describe, expect, it } from 'vitest';
import { humanAge, humanNanos, humanRatio } from '../src/format';

describe('numbers for people', () => {
  it('keep three digits of a time', () => {
    expect(humanNanos(812)).toBe('812 ns');
    expect(humanNanos(4070)).toBe('4.07 µs');
    expect(humanNanos(999_600)).toBe('1.00 ms');
    expect(humanNanos(2.5e9)).toBe('2.50 s');
  });
  it('are a dash where nothing was measured', () => {
    for (const nothing of [null, undefined, NaN]) {
      expect(humanNanos(nothing)).toBe('–');
      expect(humanRatio(nothing)).toBe('–');
    }
  });
  it('tell little loss from none', () => {
    expect(humanRatio(0)).toBe('0 %');
    expect(humanRatio(0.0004)).toBe('0.04 %');
    expect(humanRatio(0.125)).toBe('13 %');
  });
  it('never show an age below zero', () => {
    expect(humanAge(-5000)).toBe('0 s');
    expect(humanAge(600_000)).toBe('10 min');
  });
});

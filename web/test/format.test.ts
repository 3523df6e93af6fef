import { describe, expect, it } from 'vitest';
import { humanAge, humanNanos, humanRatio, inLine, shortened, timeTyped } from '../src/format';

describe('names', () => {
  it('are cut between characters', () => {
    expect(shortened('🙂'.repeat(9), 9)).toBe('🙂'.repeat(9));
    expect(shortened('🙂'.repeat(9), 5)).toBe('🙂🙂🙂🙂…');
    expect(inLine('x'.repeat(4096)).length).toBe(120);
  });
  it('do not reorder the text around them', () => {
    expect(inLine('gpu-001')).toBe('gpu-001');
    expect(inLine('\u202egnp.exe')).toBe('\\u202egnp.exe');
    expect(inLine('שרת')).toBe('\u2068שרת\u2069');
  });
});

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
  it('distinguish a small loss from none', () => {
    expect(humanRatio(0)).toBe('0 %');
    expect(humanRatio(0.0004)).toBe('0.04 %');
    expect(humanRatio(0.125)).toBe('13 %');
  });
  it('never show an age below zero', () => {
    expect(humanAge(-5000)).toBe('0 s');
    expect(humanAge(600_000)).toBe('10 min');
  });
});

describe('a typed time', () => {
  const now = Date.UTC(2026, 10, 22, 9, 30);
  it('is a full time, or a time of day in the past', () => {
    expect(timeTyped('2026-11-21 03:12:05', now)).toBe(Date.UTC(2026, 10, 21, 3, 12, 5));
    expect(timeTyped(' 2026-11-21T03:12Z', now)).toBe(Date.UTC(2026, 10, 21, 3, 12));
    expect(timeTyped('03:12', now)).toBe(Date.UTC(2026, 10, 22, 3, 12));
    expect(timeTyped('23:59', now)).toBe(Date.UTC(2026, 10, 21, 23, 59));
  });
  it('is null for other text', () => {
    for (const text of ['', '3:12', '25:00', 'yesterday', '2026-13-01 00:00', '2026-11-21']) expect(timeTyped(text, now)).toBeNull();
  });
});

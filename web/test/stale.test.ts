import { describe, expect, it, vi } from 'vitest';

vi.mock('../src/store', () => ({ link: { value: 'live' }, live: { lastMessage: null }, liveGrid: { value: undefined }, now: { value: 0 } }));
const { stalenessOf } = await import('../src/stale');

describe('the page', () => {
  const signs = { linked: true, answers: true, age: 0, window: 10_000, hasData: true };
  it('is stale three windows after the last message, and never within 5 s', () => {
    expect(stalenessOf({ ...signs, age: 30_000 })).toBe('current');
    expect(stalenessOf({ ...signs, age: 30_001 })).toBe('silent');
    expect(stalenessOf({ ...signs, window: 1000, age: 5000 })).toBe('current');
    expect(stalenessOf({ ...signs, window: 1000, age: 5001 })).toBe('silent');
  });
  it('waits for the first window without a complaint', () => {
    expect(stalenessOf({ ...signs, age: 1e6, hasData: false })).toBe('current');
  });
  it('is stale where the controller does not answer', () => {
    expect(stalenessOf({ ...signs, linked: false })).toBe('lost');
    expect(stalenessOf({ ...signs, answers: false })).toBe('lost');
  });
});

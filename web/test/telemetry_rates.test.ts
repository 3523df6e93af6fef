import { describe, expect, it } from 'vitest';
import { kindOf, type Store, tablesOf, type Writer } from '../src/telemetry_data';
import { loudness, rateOf, stateOf, writerIn } from '../src/telemetry_rates';

const writer = (change: Partial<Writer> = {}): Writer => ({ incarnation: 'a', age_seconds: 0.05, stale: false, key_writes: 100, appends: 0,
  increments: 0, postcards: 0, lost: 0, skipped: 0, refused: 0, evicted: 0, dropped: 0, ...change });
const store = (change: Partial<Store> = {}): Store => ({ translator: 't', file: '/f', store: '1', epoch: 1, serving: true, connected: true,
  bytes: 0, writer: writer(), tables: [], ...change });
const seconds = (milliseconds: number) => `${milliseconds / 1000} s`;

describe('a rate', () => {
  it('is taken between two answers', () => {
    expect(rateOf(writer(), writer({ key_writes: 300 }), 'key_writes', 2000)).toBe(100);
  });
  it('counts the time between what the writer said, not between the answers', () => {
    // The second answer shows what the writer said only 1 s after the first.
    expect(rateOf(writer({ age_seconds: 0 }), writer({ age_seconds: 1, key_writes: 300 }), 'key_writes', 2000)).toBe(200);
  });
  it('is not known without an earlier answer, or after the translator has started again', () => {
    expect(rateOf(null, writer(), 'key_writes', NaN)).toBeNull();
    expect(rateOf(writer(), null, 'key_writes', 2000)).toBeNull();
    expect(rateOf(writer(), writer({ incarnation: 'b', key_writes: 300 }), 'key_writes', 2000)).toBeNull();
    expect(rateOf(writer(), writer({ key_writes: 3 }), 'key_writes', 2000)).toBeNull();
  });
  it('of a silent writer is 0', () => {
    expect(rateOf(writer({ age_seconds: 1 }), writer({ age_seconds: 3 }), 'key_writes', 2000)).toBe(0);
  });
  it('needs time to have passed', () => {
    expect(rateOf(writer({ age_seconds: 0 }), writer({ age_seconds: 2, key_writes: 101 }), 'key_writes', 2000)).toBeNull();
  });
});

describe('a loss', () => {
  it('is loud while it grows, and stays visible', () => {
    expect(loudness('lost', 0, 0)).toBeUndefined();
    expect(loudness('lost', 5, null)).toBe('warn');
    expect(loudness('lost', 5, 0)).toBe('warn');
    expect(loudness('lost', 5, 1)).toBe('bad');
  });
  it('of keys that made room is no fault', () => {
    expect(loudness('evicted', 5, 0)).toBeUndefined();
    expect(loudness('evicted', 5, 2)).toBe('warn');
  });
});

describe('the state of a store', () => {
  it('is well only if a connected writer is heard', () => {
    expect(stateOf(store(), seconds)).toEqual({ loud: undefined, text: 'connected' });
    expect(stateOf(store({ connected: null }), seconds).loud).toBeUndefined();
    expect(stateOf(store({ writer: writer({ stale: true, age_seconds: 12 }) }), seconds)).toEqual({ loud: 'bad', text: 'stale: last sign 12 s ago' });
    expect(stateOf(store({ connected: false, writer: writer({ age_seconds: 3 }) }), seconds).text).toBe('no translator is connected, last sign 3 s ago');
    expect(stateOf(store({ connected: false, writer: null }), seconds)).toEqual({ loud: 'warn', text: 'no translator is connected, none has ever written' });
    expect(stateOf(store({ writer: null }), seconds).loud).toBe('warn');
    expect(stateOf(store({ serving: false }), seconds).text).toBe('the store is closed');
  });
});

describe('stores', () => {
  const table = (name: string, kind: string) => ({ table: name, id: 1, kind, bytes: 0 });
  const stores = [store({ tables: [table('votes', 'counters'), table('latest', 'keyed')] }),
    store({ store: '2', writer: null, tables: [table('latest', 'keyed'), table('events', 'lists')] })];
  it('name each table once', () => {
    expect(tablesOf(stores, 'keyed')).toEqual(['latest']);
    expect(tablesOf(stores, 'counters')).toEqual(['votes']);
    expect(tablesOf(stores, 'lists')).toEqual(['events']);
    expect(kindOf(stores, 'votes')).toBe('counters');
    expect(kindOf(stores, 'nothing')).toBeUndefined();
  });
  it('have writers by the store’s id', () => {
    expect(writerIn({ at: 0, stores }, '1')?.key_writes).toBe(100);
    expect(writerIn({ at: 0, stores }, '2')).toBeNull();
    expect(writerIn({ at: 0, stores }, '3')).toBeNull();
    expect(writerIn(null, '1')).toBeNull();
  });
});

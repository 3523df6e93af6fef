import { describe, expect, it } from 'vitest';
import { byCount, bytesText, fillOf, humanBytes, humanRate, keysOf, MOST_KEYS, roomOf, textOf } from '../src/telemetry_text';

const hex = (text: string) => Array.from(text, (one) => one.charCodeAt(0).toString(16).padStart(2, '0')).join('');

describe('bytes', () => {
  it('are text only if all of them are printable, apart from zeros at the end', () => {
    expect(textOf(hex('link-7 is down\0\0'))).toBe('link-7 is down');
    expect(textOf(hex('<img src=x>'))).toBe('<img src=x>');
    for (const other of ['', '\0', 'a\0b', '\x1b[2J', 'a\n', '\x7f', 'caf\xe9', '\xff']) expect(textOf(hex(other)), JSON.stringify(other)).toBeNull();
  });
  it('are digits in groups, and many zeros at the end are counted', () => {
    expect(bytesText('0102')).toBe('0102');
    expect(bytesText('0102030405')).toBe('01020304 05');
    expect(bytesText('0100000000')).toBe('01000000 00');
    expect(bytesText('010000000000')).toBe('01 and 5 zero bytes');
    expect(bytesText('000000000000')).toBe('6 zero bytes');
    expect(bytesText('1000')).toBe('1000');
    expect(bytesText(`10${'00'.repeat(8)}`)).toBe('10 and 8 zero bytes'); // the zero of 10 is half a byte
    expect(bytesText('')).toBe('');
  });
  it('are counted in units', () => {
    expect([0, 1023, 1024, 32 * 1024, 5 * 2 ** 20, 2.7 * 2 ** 30].map(humanBytes)).toEqual(['0 B', '1023 B', '1.00 KiB', '32.0 KiB', '5.00 MiB', '2.70 GiB']);
  });
});

it('a rate below 1 is not 0', () => {
  expect([null, 0, 0.05, 2.5, 12.4, 1_000_000].map(humanRate)).toEqual(['–', '0 /s', '0.05 /s', '2.50 /s', '12 /s', '1,000,000 /s']);
});

describe('a table', () => {
  const table = { table: 't', id: 1, bytes: 0 };
  it('has the room of its kind', () => {
    expect(roomOf({ ...table, kind: 'keyed', slots: 1000, value_bytes: 24 })).toBe('1,000 slots of 24 B');
    expect(roomOf({ ...table, kind: 'keyed', slots: 1000, value_bytes: 8, copies: 2 })).toBe('1,000 slots of 8 B, 2 copies of a key');
    expect(roomOf({ ...table, kind: 'lists', lists: 1, blocks: 64, value_bytes: 32 })).toBe('1 list × 64 blocks, entries of 32 B');
    expect(roomOf({ ...table, kind: 'counters', counters: 100 })).toBe('2 rows × 100 counters');
    expect(roomOf({ ...table, kind: 'paths', slots: 96, hops: 6 })).toBe('96 slots of up to 6 hops');
    expect(roomOf({ ...table, kind: 'later', slots: 2 })).toBe('2 slots');
    expect(roomOf({ ...table, kind: 'later' })).toBe('–');
  });
  it('has a fill if it has slots and a writer', () => {
    expect(fillOf({ ...table, kind: 'keyed', slots: 1000, used: 250 })).toBe(0.25);
    expect(fillOf({ ...table, kind: 'keyed', slots: 1000, used: 0 })).toBe(0);
    expect(fillOf({ ...table, kind: 'keyed', slots: 1000 })).toBeNull();
    expect(fillOf({ ...table, kind: 'lists', lists: 1 })).toBeNull();
  });
});

describe('watched keys', () => {
  it('are separated by commas, and each is asked for once', () => {
    expect(keysOf(' text:a, text:b,,text:a ,')).toEqual({ keys: ['text:a', 'text:b'], omitted: 0 });
    expect(keysOf('')).toEqual({ keys: [], omitted: 0 });
  });
  it('are bounded, and those left out are counted', () => {
    const { keys, omitted } = keysOf(Array.from({ length: MOST_KEYS + 3 }, (_, at) => `u32:${at}`).join());
    expect([keys.length, omitted]).toEqual([MOST_KEYS, 3]);
  });
  it('are sorted by count, those without an answer last', () => {
    const row = (key: string, count: number | null) => ({ key, count, error: 0, fault: '', rate: null });
    expect(byCount([row('none', null), row('few', 0), row('a', 7), row('b', 7), row('many', 1e15)]).map(({ key }) => key))
      .toEqual(['many', 'a', 'b', 'few', 'none']);
  });
});

// How bytes, rooms and keys are shown and read.

import { humanCount, threeDigits } from './format';
import type { Table } from './telemetry_data';

const many = (count: number, one: string) => `${humanCount(count)} ${one}${count === 1 ? '' : 's'}`;

// Returns the text of bytes in hexadecimal digits if all of them are printable ASCII apart from
// zeros at the end; otherwise null. Control characters never become text.
export function textOf(hex: string): string | null {
  const bytes = (hex.match(/../g) ?? []).map((digits) => Number.parseInt(digits, 16));
  while (bytes.length > 0 && bytes[bytes.length - 1] === 0) bytes.pop();
  if (bytes.length === 0 || bytes.some((byte) => byte < 0x20 || byte > 0x7e)) return null;
  return String.fromCharCode(...bytes);
}

const ZEROS_SHOWN = 4; // bytes

// Writes bytes in groups of four, so that a line can break. Many zeros at the end, which fill up
// short values, are counted instead.
export function bytesText(hex: string): string {
  const zeros = trailingZeros(hex);
  if (zeros <= ZEROS_SHOWN) return inGroups(hex);
  const rest = inGroups(hex.slice(0, hex.length - 2 * zeros));
  return `${rest === '' ? '' : `${rest} and `}${many(zeros, 'zero byte')}`;
}

function inGroups(hex: string): string {
  return (hex.match(/.{1,8}/g) ?? []).join(' ');
}

function trailingZeros(hex: string): number {
  let end = hex.length;
  while (end >= 2 && hex.slice(end - 2, end) === '00') end -= 2;
  return (hex.length - end) / 2;
}

export function humanBytes(bytes: number): string {
  for (const [unit, size] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]] as const) {
    if (bytes >= size) return `${threeDigits(bytes / size)} ${unit}`;
  }
  return `${bytes} B`;
}

// Writes a rate per second; a rate below 1 is not shown as 0.
export function humanRate(rate: number | null): string {
  if (rate === null) return '–';
  if (rate === 0) return '0 /s';
  return `${rate < 10 ? threeDigits(rate) : humanCount(Math.round(rate))} /s`;
}

// Says how much fits into a table.
export function roomOf({ kind, slots, copies, lists, blocks, counters, value_bytes, hops }: Table): string {
  if (kind === 'lists') return `${many(lists ?? 0, 'list')} × ${many(blocks ?? 0, 'block')}, entries of ${value_bytes} B`;
  if (kind === 'counters') return `2 rows × ${many(counters ?? 0, 'counter')}`;
  if (slots === undefined) return '–';
  if (kind === 'paths') return `${many(slots, 'slot')} of up to ${many(hops ?? 0, 'hop')}`;
  const inCopies = copies === undefined ? '' : `, ${copies === 1 ? '1 copy' : `${copies} copies`} of a key`;
  return `${many(slots, 'slot')}${value_bytes === undefined ? '' : ` of ${value_bytes} B`}${inCopies}`;
}

// Returns which part of a table is used; null where the table has no fill, or no writer says it.
export function fillOf({ slots, used }: Table): number | null {
  return slots && used !== undefined ? used / slots : null;
}

export const MOST_KEYS = 20; // each is a request

export interface Keys { keys: string[]; omitted: number }

// Reads keys that are separated by commas. A key whose text has a comma is written with hex:.
export function keysOf(text: string): Keys {
  const keys = [...new Set(text.split(',').map((key) => key.trim()).filter((key) => key !== ''))];
  return { keys: keys.slice(0, MOST_KEYS), omitted: Math.max(0, keys.length - MOST_KEYS) };
}

export interface Counted { key: string; count: number | null; error: number; fault: string; rate: number | null }

// Sorts the greatest count first; keys without an answer come last, and equal counts keep their order.
export function byCount(rows: Counted[]): Counted[] {
  return [...rows].sort((a, b) => (b.count ?? -1) - (a.count ?? -1));
}

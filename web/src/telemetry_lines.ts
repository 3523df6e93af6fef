// The lines of a list that is followed: the newest first, and bounded.

export const MOST_LINES = 500;
export const MOST_ENTRIES = 1000; // of one answer, see docs/dta.md

export interface TailAnswer { entries: { translator: string; entry: string }[]; lost: number; cursor: string }
export interface Line { number: number; seen: number; translator: string; entry: string } // seen: milliseconds; entry: hexadecimal digits

export interface Lines {
  lines: Line[];
  entries: number; // all that have arrived
  lost: number; // overwritten before they were read
  skips: number; // how often the page went on to the newest entries
  cursor: string; // of the next question
}

export const NO_LINES: Lines = { lines: [], entries: 0, lost: 0, skips: 0, cursor: 'end' };

// Adds an answer. A full one means that more entries arrive than the page reads, so it goes on with the newest.
export function withAnswer(before: Lines, answer: TailAnswer, now: number): Lines {
  const added = answer.entries.map(({ translator, entry }, at) => ({ number: before.entries + at, seen: now, translator, entry })).reverse();
  const behind = answer.entries.length >= MOST_ENTRIES;
  return {
    lines: [...added, ...before.lines].slice(0, MOST_LINES),
    entries: before.entries + added.length,
    lost: before.lost + answer.lost,
    skips: before.skips + (behind ? 1 : 0),
    cursor: behind ? 'end' : answer.cursor,
  };
}

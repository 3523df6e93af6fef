// Fetches changes of state and severity from the history and describes them to the user. docs/http-api.md has their
// format.

import { humanCount, inLine } from './format';
import { ask } from './past';

export interface StateChange {
  at: string; // the time at which the controller noticed the change
  window: string | null; // start of the window that shows the change
  probe: string;
  source: string | null; // null: several
  source_name: string | null;
  destination: string | null;
  destination_name: string | null;
  from: string;
  to: string;
  severity_from: string;
  severity: string;
  pairs: number;
}

// One bin of the time shown: the number of its changes, and the time of the first of the worst.
export interface Bin { at: string; window: string | null; worst: string; severity: string; events: number; pairs: number }

// `left_out` counts the older changes that the answer has no room for; `bins` include them.
export interface Changes { left_out: number; events: StateChange[]; bins?: Bin[] }

export interface Question {
  probe: string;
  from: number; // milliseconds UTC
  to: number;
  pair: [string, string] | null;
  limit: number;
  bins: number;
}

export function queryOf({ probe, from, to, pair, limit, bins }: Question): string {
  const iso = (milliseconds: number) => new Date(milliseconds).toISOString();
  const fields = new URLSearchParams({ probe, from: iso(from), to: iso(to), limit: String(limit) });
  if (bins > 0) fields.set('bins', String(bins));
  if (pair) {
    fields.set('source', pair[0]);
    fields.set('destination', pair[1]);
  }
  return fields.toString();
}

// Returns the address of a CSV file with as many changes as an answer may have.
export function csvOf(probe: string, from: number, to: number): string {
  return `api/v1/history/events?${queryOf({ probe, from, to, pair: null, limit: 10_000, bins: 0 })}&format=csv`;
}

export function fetchChanges(question: Question, signal: AbortSignal): Promise<Changes> {
  return ask(`api/v1/history/events?${queryOf(question)}`, signal);
}

const UNREMARKABLE = ['none', 'ok'];

// Returns what a pair has turned to or was before, in one word: what is judged counts more than the state of one window.
export function classOf(state: string, severity: string): string {
  return UNREMARKABLE.includes(severity) ? state : severity;
}

// Returns both sides of a change. Where they would read the same, the states tell them apart: one lost ping of a lossy pair.
export function sidesOf({ from, to, severity_from: before, severity: after }: StateChange): [string, string] {
  const sides: [string, string] = [classOf(from, before), classOf(to, after)];
  if (sides[0] !== sides[1]) return sides;
  return from === to ? [before, after] : [from, to];
}

// Returns the time at which the mesh shows a change: that of its window, or that of its detection
// where no window shows it.
export function timeOf({ at, window }: { at: string; window: string | null }): number {
  return Date.parse(window ?? at);
}

export function whoOf({ source_name, destination_name, pairs }: StateChange): string {
  const count = `${humanCount(pairs)} ${pairs === 1 ? 'pair' : 'pairs'}`;
  if (source_name !== null && destination_name !== null) return `${inLine(source_name)} → ${inLine(destination_name)}`;
  if (destination_name !== null) return `to ${inLine(destination_name)}: ${count}`;
  return source_name !== null ? `from ${inLine(source_name)}: ${count}` : count;
}

export interface Mark { place: number; time: number; worst: string; title: string } // place: 0..1 along the timeline

export function marksOf(bins: Bin[], start: number, end: number): Mark[] {
  return bins.flatMap((bin) => {
    const place = (Date.parse(bin.at) - start) / (end - start);
    if (!(place >= 0 && place <= 1)) return [];
    const changes = bin.events === 1 ? '1 change' : `${humanCount(bin.events)} changes`;
    const worst = classOf(bin.worst, bin.severity);
    return [{ place, time: timeOf(bin), worst, title: `${bin.at.slice(11, 19)} UTC: ${changes} of ${
      humanCount(bin.pairs)} pairs, the worst to ${worst}` }];
  });
}

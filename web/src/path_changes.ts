// Changes of flows' paths, in the form of /api/v1/history/paths, and in words.

import { humanCount, inLine } from './format';
import { type Hop, hopName } from './hops';
import { ask } from './past';

export interface PathChange {
  at: string; // the time at which the controller learned of the change
  probe: string;
  flows: number; // the members below are those of one of them
  of: string | null; // the source of all of them; null: several
  of_name: string | null;
  source: string;
  source_name: string;
  destination: string;
  destination_name: string;
  path: number; // 0: the probe has one
  hop: number; // the first that differs, from 1
  before: Hop[];
  after: Hop[];
}

export interface PathChanges { left_out: number; changes: PathChange[] }

export function fetchPathChanges(probe: string, { from, to }: { from: number; to: number }, pair: [string, string] | null,
  limit: number, signal: AbortSignal): Promise<PathChanges> {
  const iso = (milliseconds: number) => new Date(milliseconds).toISOString();
  const fields = new URLSearchParams({ probe, from: iso(from), to: iso(to), limit: String(limit) });
  if (pair) {
    fields.set('source', pair[0]);
    fields.set('destination', pair[1]);
  }
  return ask(`api/v1/history/paths?${fields}`, signal);
}

const routerAt = (routers: Hop[], hop: number): string => (hop <= routers.length ? hopName(routers[hop - 1]) : 'the end');

// Returns where the flow went at the first hop that differs, before and after.
export function sidesOfPath({ hop, before, after }: PathChange): [string, string] {
  return [inLine(routerAt(before, hop)), inLine(routerAt(after, hop))];
}

function flowOf({ source_name, destination_name, path }: PathChange): string {
  const pair = `${inLine(source_name)} → ${inLine(destination_name)}`;
  return path === 0 ? pair : `${pair}, path ${path}`;
}

export function flowsOf(change: PathChange): string {
  if (change.flows === 1) return flowOf(change);
  const from = change.of_name === null ? '' : ` from ${inLine(change.of_name)}`;
  return `${humanCount(change.flows)} flows${from}, such as ${flowOf(change)}`;
}

export interface PathMark { place: number; time: number; title: string } // place: 0..1 along the timeline

// Returns one mark for each of `bins` parts of the time in which flows moved.
export function pathMarksOf(changes: PathChange[], start: number, end: number, bins: number): PathMark[] {
  const found = new Map<number, { first: PathChange; flows: number }>();
  for (const change of changes) {
    const place = (Date.parse(change.at) - start) / (end - start);
    if (!(place >= 0 && place <= 1)) continue;
    const bin = Math.min(Math.floor(place * bins), bins - 1);
    const mark = found.get(bin) ?? { first: change, flows: 0 };
    mark.flows += change.flows;
    found.set(bin, mark);
  }
  return [...found.values()].map(({ first, flows }) => ({ place: (Date.parse(first.at) - start) / (end - start),
    time: Date.parse(first.at),
    title: `${first.at.slice(11, 19)} UTC: ${flows === 1 ? '1 flow takes' : `${humanCount(flows)} flows take`} another path` }));
}

// What a host's page says about the counters of the host's NICs and ports, in the form of
// /api/v1/counters.

import { humanAge } from './format';

export interface Counter {
  device: string;
  port: number | null; // null: a network interface
  counter: string; // docs/counters.md
  kind: 'error' | 'load';
  total: number;
  moved: number; // in this minute and the five before it
  last_moved: string | null;
}

export interface CountersOfHost { host: string; known_since: string | null; counters: Counter[] }

// The counters that moved, or all of them. The controller has put what is unusual first.
export function shownCounters(counters: Counter[], all: boolean): Counter[] {
  return all ? counters : counters.filter(({ moved }) => moved > 0);
}

// Writes every digit, because a counter that moves by one has to be seen to move.
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function placeOf({ device, port }: { device: string; port: number | null }): string {
  return port === null ? device : `${device}/${port}`;
}

// Says how much the table is worth.
export function summaryOf({ known_since: since, counters }: CountersOfHost, now: number): string {
  if (since === null) return 'the agent has told none';
  if (counters.length === 0) return 'the host has none that are watched';
  const moved = counters.filter(({ kind, moved: by }) => kind === 'error' && by > 0).length;
  const errors = moved === 0 ? 'no errors' : `${moved} of errors moved`;
  return `${errors} in the last 5 minutes; ${counters.length} watched for ${humanAge(now - Date.parse(since))}`;
}

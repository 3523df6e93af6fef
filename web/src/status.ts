// Asks the controller every few seconds for its own troubles and for the counts of all probes; the
// live connection brings the counts of one probe only.

import { signal } from '@preact/signals';
import type { Grid } from './model';
import { ended, session } from './session';
import { live } from './store';

const POLL = 5000; // milliseconds
const PATIENCE = 4000;

export interface Status {
  not_ready: string[];
  pinglist: { path: string; error: string | null };
  history: { error: string | null };
  keys?: { exposed: boolean };
}

export interface Notice { kind: 'pinglist' | 'trouble' | 'exposed'; text: string }

export const notices = signal<Notice[]>([]);
export type Counts = Record<string, number>;
export const probeStates = signal<Record<string, Counts>>({}); // by probe and state
export const probeSeverities = signal<Record<string, Counts>>({}); // by probe and severity

// The controller, or a proxy in front of it, has answered with an error.
class Refused extends Error {}

export async function fetchJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await fetch(path, { signal: signal ?? AbortSignal.timeout(PATIENCE) });
  if (answer.status === 401) ended();
  if (answer.ok) return answer.json();
  const body = await answer.json().catch(() => ({}));
  throw new Refused(body.error?.reason ?? `HTTP ${answer.status}`);
}

function noticesOf(status: Status): Notice[] {
  const found: Notice[] = status.not_ready.map((text) => ({ kind: 'trouble', text }));
  if (status.pinglist.error) found.unshift({ kind: 'pinglist', text: status.pinglist.error });
  if (status.keys?.exposed) {
    found.push({ kind: 'exposed', text: 'WITHOUT KEYS: anybody who reaches the control port can be any agent that has no key' });
  }
  if (status.history.error) found.push({ kind: 'trouble', text: `history: ${status.history.error}` });
  return found;
}

// Polling also detects a controller that does not answer: a WebSocket across a dead network looks
// open for minutes.
export async function pollStatus() {
  try {
    const status = await fetchJson<Status>('api/v1/status');
    notices.value = noticesOf(status);
    const { probes } = await fetchJson<{ probes: { name: string; states: Counts; severities?: Counts }[] }>('api/v1/probes');
    probeStates.value = Object.fromEntries(probes.map(({ name, states }) => [name, states]));
    probeSeverities.value = Object.fromEntries(probes.map(({ name, severities }) => [name, severities ?? {}]));
  } catch (error) {
    if (session.value?.role === null) return; // signing in reloads the page
    // A refusal is no reason to reconnect: all viewers at once would add to the load of a busy
    // controller.
    if (!(error instanceof Refused)) live.reconnect();
  }
  setTimeout(pollStatus, POLL);
}

// Counts the pairs of all probes by state; the live connection has the newest counts of the shown
// probe.
export function countsOfAll(shown: Grid | undefined): Counts {
  return sumOf(probeStates.value, shown, (live) => Object.fromEntries(live.stateNames.map((name) => [name, live.countOf(name)])));
}

// Counts the pairs of all probes by severity, likewise.
export function severitiesOfAll(shown: Grid | undefined): Counts {
  return sumOf(probeSeverities.value, shown, (live) => Object.fromEntries(live.severityNames.map((name, at) => [name, live.severities[at]])));
}

function sumOf(polled: Record<string, Counts>, shown: Grid | undefined, countsOf: (live: Grid) => Counts): Counts {
  const live = shown && shown.pairs() > 0 ? shown : null;
  const sum: Counts = live ? countsOf(live) : {};
  for (const [probe, counts] of Object.entries(polled)) {
    if (probe === live?.probe.name) continue;
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}

// What the controller says of itself, asked for every few seconds: its own troubles, and the counts of all probes, of which
// the live connection brings one only.

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
}

export interface Notice { kind: 'pinglist' | 'trouble'; text: string }

export const notices = signal<Notice[]>([]);
export const probeStates = signal<Record<string, Record<string, number>>>({}); // by probe and state

// The controller, or a proxy in front of it, has answered, but not with what was asked for.
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
  if (status.history.error) found.push({ kind: 'trouble', text: `history: ${status.history.error}` });
  return found;
}

// Tells whether the controller answers at all, too: a WebSocket across a dead network looks open for minutes.
export async function pollStatus() {
  try {
    const status = await fetchJson<Status>('api/v1/status');
    notices.value = noticesOf(status);
    const { probes } = await fetchJson<{ probes: { name: string; states: Record<string, number> }[] }>('api/v1/probes');
    probeStates.value = Object.fromEntries(probes.map(({ name, states }) => [name, states]));
  } catch (error) {
    if (session.value?.role === null) return; // whoever signs in begins anew
    // Not for a refusal: a controller with too much to do would have all viewers begin anew on top of it.
    if (!(error instanceof Refused)) live.reconnect();
  }
  setTimeout(pollStatus, POLL);
}

// Pairs of all probes by state: of the one that the live connection brings as it has them now.
export function countsOfAll(shown: Grid | undefined): Record<string, number> {
  const live = shown && shown.pairs() > 0 ? shown : null;
  const counts: Record<string, number> = {};
  for (const name of live?.stateNames ?? []) counts[name] = live!.countOf(name);
  for (const [probe, states] of Object.entries(probeStates.value)) {
    if (probe === live?.probe.name) continue;
    for (const [name, count] of Object.entries(states)) counts[name] = (counts[name] ?? 0) + count;
  }
  return counts;
}

export function problemsIn(states: Record<string, number>): number {
  return Object.entries(states).reduce(
    (sum, [name, count]) => sum + (name === 'ok' || name === 'pending' ? 0 : count), 0);
}

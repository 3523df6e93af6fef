// Asks for past incidents, and tells the controller what an operator decides about an open one.

import type { Culprit, Incident, Silence } from './incident';
import { ask } from './past';
import { ended } from './session';

const PATIENCE = 8000; // milliseconds

// A refusal has its reason as text, or within an object.
async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(path, { method, headers: { 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }), signal: AbortSignal.timeout(PATIENCE) });
  const read = await answer.json().catch(() => ({}));
  if (answer.status === 401) ended();
  if (answer.ok) return read;
  throw new Error(typeof read.error === 'string' ? read.error : read.error?.reason ?? `HTTP ${answer.status}`);
}

export function acknowledge(id: string, by: string, comment: string, really = true): Promise<Incident> {
  return send('POST', `api/v1/incidents/${encodeURIComponent(id)}`, { acknowledge: really, by, comment });
}

// Silences whatever accuses the same culprit, whichever kind it is accused as.
export function silence({ culprit }: Culprit, duration: string, by: string, comment: string): Promise<Silence> {
  return send('POST', 'api/v1/silences', { matchers: { culprit }, duration, by, comment });
}

export function endSilence(id: string): Promise<unknown> {
  return send('DELETE', `api/v1/silences/${encodeURIComponent(id)}`);
}

// `duration` is '' where the maintenance lasts until it is ended.
export function beginMaintenance(host: string, duration: string, by: string, comment: string): Promise<unknown> {
  return send('POST', 'api/v1/maintenance', { host, ...(duration !== '' && { duration }), by, comment });
}

export function endMaintenance(host: string): Promise<unknown> {
  return send('DELETE', `api/v1/maintenance/${encodeURIComponent(host)}`);
}

export async function fetchPastIncidents(from: number, to: number, limit: number, signal: AbortSignal): Promise<Incident[]> {
  const fields = new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString(), limit: String(limit) });
  return (await ask<{ incidents: Incident[] }>(`api/v1/history/incidents?${fields}`, signal)).incidents;
}

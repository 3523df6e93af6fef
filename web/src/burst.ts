// Bursts: the source's agent pings one pair a few times at once. docs/http-api.md describes
// /api/v1/bursts.

import { humanNanos } from './format';

export interface BurstPing {
  sequence: number;
  result: 'received' | 'lost' | 'refused' | 'unreachable' | 'not_sent';
  anomalous?: string;
  ack_lost?: boolean;
  late?: boolean;
  network_ns?: number;
  responder_ns?: number;
  prober_ns?: number;
  rtt_ns?: number;
}

export interface Burst {
  id: string;
  state: 'running' | 'done' | 'failed';
  reason: string | null; // of a failure
  path: number;
  count: number;
  pings: BurstPing[]; // those with a verdict, by sequence
}

export interface BurstOrder { probe: string; source: string; destination: string; path?: number; count: number }

const POLL = 250; // milliseconds
const MOST_FAILURES = 8; // polls in a row

async function read<T>(answer: Response): Promise<T> {
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(body.error?.reason ?? `HTTP ${answer.status}`);
  return body;
}

// Returns the id of the burst. The error says why the controller refused it.
export async function startBurst(order: BurstOrder, signal: AbortSignal): Promise<string> {
  const answer = await fetch('api/v1/bursts', { method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(order), signal });
  return (await read<{ id: string }>(answer)).id;
}

const pause = (milliseconds: number) => new Promise((done) => { setTimeout(done, milliseconds); });

// Shows the results so far until the burst is over. A poll that fails is retried a few times.
export async function followBurst(id: string, show: (burst: Burst) => void, signal: AbortSignal, every = POLL): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    try {
      const burst = await read<Burst>(await fetch(`api/v1/bursts/${encodeURIComponent(id)}`, { signal }));
      failures = 0;
      show(burst);
      if (burst.state !== 'running') return;
    } catch (failure) {
      failures += 1;
      if (signal.aborted || failures >= MOST_FAILURES) throw failure;
    }
    await pause(every);
  }
}

// Returns every ping that was ordered, by sequence; null stands for a ping without a verdict yet.
export function pingsOf(burst: Burst): (BurstPing | null)[] {
  const all = new Array<BurstPing | null>(burst.count).fill(null);
  for (const ping of burst.pings) {
    if (ping.sequence >= 1 && ping.sequence <= burst.count) all[ping.sequence - 1] = ping;
  }
  return all;
}

// Examples: "lost (answered too late)", "received (stalled)".
export function fateOf(ping: BurstPing | null): string {
  if (!ping) return 'waiting';
  const notes = [ping.anomalous?.replace('_', ' '), ping.ack_lost && 'its ACK was lost', ping.late && 'answered too late']
    .filter(Boolean);
  return ping.result.replace('_', ' ') + (notes.length ? ` (${notes.join(', ')})` : '');
}

// Returns the percentile by nearest rank: the smallest value that a share of at least q does not
// exceed.
export function percentile(values: number[], q: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? null;
}

// Example: "18 of 20 received, 2 lost; network p50 4.21 µs, p99 9.80 µs".
export function summaryOf(burst: Burst): string {
  const counts = new Map<string, number>();
  for (const ping of pingsOf(burst)) {
    const fate = ping?.result.replace('_', ' ') ?? (burst.state === 'running' ? 'waiting' : 'unknown');
    counts.set(fate, (counts.get(fate) ?? 0) + 1);
  }
  const received = counts.get('received') ?? 0;
  counts.delete('received');
  const parts = [`${received} of ${burst.count} received`, ...[...counts].map(([fate, count]) => `${count} ${fate}`)];
  const times = burst.pings.flatMap(({ network_ns: network }) => (network === undefined ? [] : [network]));
  const network = times.length === 0 ? ''
    : `; network p50 ${humanNanos(percentile(times, 0.5))}, p99 ${humanNanos(percentile(times, 0.99))}`;
  return parts.join(', ') + network;
}

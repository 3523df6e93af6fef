// The paths of a pair through the fabric, in the form of /api/v1/paths.

export interface Hop { router: string | null; name?: string; rtt_ns?: number }
export interface Trace { state: string; end: string; traced: string; hops: Hop[]; rtt_ns?: number; source_port?: number }
export interface KnownPath extends Trace { path: number; since: string; changes: number; broken?: Trace; before: Trace[] }
export interface PathsOfPair { source: string; source_name: string; destination: string; destination_name: string; forward: KnownPath[]; return: KnownPath[] }

const ENDS: Record<string, string> = { silent: 'nobody answered behind it', loop: 'it is a loop', too_long: 'it is longer than 32 hops' };

// Says how a trace ended, where it is not at the destination.
export function endOf({ end }: Trace): string {
  return end === 'reached' ? '' : ENDS[end] ?? end;
}

export const hopName = ({ router, name }: Hop): string => name ?? router ?? '?';

// The path in words: "leaf0, spine2, leaf1".
export function wordsOf({ hops }: Trace): string {
  return hops.length === 0 ? 'no router' : hops.map(hopName).join(', ');
}

// The index of the first hop in which a trace differs from the one before it; -1 where it does not differ.
export function firstChange(now: Trace, before: Trace | undefined): number {
  if (!before) return -1;
  const length = Math.max(now.hops.length, before.hops.length);
  for (let at = 0; at < length; at += 1) if (now.hops[at]?.router !== before.hops[at]?.router) return at;
  return -1;
}

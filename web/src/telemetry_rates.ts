// Rates from two answers of the collector, and which of them are a reason to look.

import type { Figure, Store, Writer } from './telemetry_data';

export interface Snapshot { at: number; stores: Store[] } // milliseconds of the page's clock

// Returns the seconds between what the writer said for two snapshots: it says how it is less often
// than it is asked.
function secondsBetween(before: Writer, now: Writer, milliseconds: number): number {
  return milliseconds / 1000 - (now.age_seconds - before.age_seconds);
}

// Returns null where no rate is known: at the first answer, and where the translator has started again.
export function rateOf(before: Writer | null | undefined, now: Writer | null, figure: Figure, milliseconds: number): number | null {
  if (!before || !now || before.incarnation !== now.incarnation) return null;
  const [more, seconds] = [now[figure] - before[figure], secondsBetween(before, now, milliseconds)];
  if (more < 0) return null;
  if (more === 0) return 0;
  return seconds > 0 ? more / seconds : null;
}

// Returns the writer of the store with this id in an earlier snapshot.
export function writerIn(snapshot: Snapshot | null, store: string): Writer | null {
  return snapshot?.stores.find((each) => each.store === store)?.writer ?? null;
}

export type Loudness = 'bad' | 'warn' | undefined;

// A table that is full forgets its oldest keys, which is no fault, but is worth knowing.
export function loudness(figure: Figure, total: number, rate: number | null): Loudness {
  if (total === 0) return undefined;
  if (figure === 'evicted') return rate !== null && rate > 0 ? 'warn' : undefined;
  return rate !== null && rate > 0 ? 'bad' : 'warn';
}

export interface StoreState { loud: Loudness; text: string }

export function stateOf({ writer, connected, serving }: Store, age: (milliseconds: number) => string): StoreState {
  const last = writer === null ? 'none has ever written' : `last sign ${age(writer.age_seconds * 1000)} ago`;
  if (!serving) return { loud: 'bad', text: 'the store is closed' };
  if (connected === false) return { loud: writer === null ? 'warn' : 'bad', text: `no translator is connected, ${last}` };
  if (writer === null) return { loud: 'warn', text: 'no translator has written yet' };
  return writer.stale ? { loud: 'bad', text: `stale: ${last}` } : { loud: undefined, text: 'connected' };
}

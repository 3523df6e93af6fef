// The state of the page of telemetry stores, as signals.

import { signal } from '@preact/signals';
import { session } from './session';
import { ask, type Fault } from './telemetry_ask';
import type { Store } from './telemetry_data';
import type { Snapshot } from './telemetry_rates';
import { type Chosen, formatChosen, parseChosen } from './telemetry_view';

export const POLL = 2000; // milliseconds; also after faults

export const chosen = signal<Chosen>(parseChosen(location.hash));
export const snapshot = signal<Snapshot | null>(null); // null before the first answer
export const before = signal<Snapshot | null>(null); // the one before it
export const fault = signal<Fault | null>(null); // why the last question has no answer

export function choose(change: Partial<Chosen>) {
  chosen.value = { ...chosen.value, ...change };
  const hash = formatChosen(chosen.value);
  if (hash !== location.hash) history.pushState(null, '', hash);
}

// The back button and links change what is chosen, too.
export function followUrl() {
  const read = () => { chosen.value = parseChosen(location.hash); };
  window.addEventListener('popstate', read);
  window.addEventListener('hashchange', read);
}

// Asks for the stores until the session ends.
export async function pollStores() {
  try {
    const { stores } = await ask<{ stores: Store[] }>('tables');
    before.value = snapshot.value;
    snapshot.value = { at: Date.now(), stores };
    fault.value = null;
  } catch (failure) {
    fault.value = failure as Fault;
  }
  if (session.value?.role !== null) setTimeout(pollStores, POLL);
}

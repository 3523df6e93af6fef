// Whether the page shows the present: a frame that stays out or a controller that does not answer
// makes it stale, and the page is loud about that.

import { computed, signal } from '@preact/signals';
import { link, live, liveGrid, now } from './store';

const LEAST_PATIENCE = 5000; // milliseconds
const WINDOWS = 3;
const ASK_EVERY = 2000;
const ANSWER_WITHIN = 2500; // with ASK_EVERY, less than 5 s pass until the page knows

const answering = signal(true);

// 'lost': the controller does not answer; 'silent': it does, but nothing has arrived for a while.
export type Staleness = 'current' | 'silent' | 'lost';

interface Signs { linked: boolean; answers: boolean; age: number; window: number; hasData: boolean } // age and window in milliseconds

export function stalenessOf({ linked, answers, age, window, hasData }: Signs): Staleness {
  if (!linked || !answers) return 'lost';
  return hasData && age > Math.max(LEAST_PATIENCE, WINDOWS * window) ? 'silent' : 'current';
}

// Returns the milliseconds since the last message, 0 where there was none yet.
export const age = computed(() => {
  const at = Math.max(now.value, Date.now());
  return live.lastMessage === null ? 0 : at - live.lastMessage;
});

export const staleness = computed(() => stalenessOf({ linked: link.value !== 'reconnecting', answers: answering.value, age: age.value,
  window: (liveGrid.value?.probe.window_ns ?? 0) / 1e6, hasData: !Number.isNaN(liveGrid.value?.windowEnd ?? NaN) }));

// A WebSocket across a dead network looks open for minutes, so the page also asks.
export async function watchAnswers() {
  try {
    await fetch('api/v1/session', { signal: AbortSignal.timeout(ANSWER_WITHIN) });
    answering.value = true;
  } catch {
    answering.value = false;
  }
  setTimeout(watchAnswers, ASK_EVERY);
}

// What the page shows, as signals: components that read one are drawn again when it changes. The numbers of the mesh
// are too many for that: they stay in the model, and `painted` ticks when it has something new to paint.

import { computed, signal } from '@preact/signals';
import { Live, type Rows } from './live';
import { METRICS, Model } from './model';
import { readView, type View, writeView } from './view';

const PAINT_EVERY = 100; // milliseconds
const POLL = 5000;
const PATIENCE = 4000;

export const model = new Model();
export const live = new Live(model);
export const plan = signal(0);
export const painted = signal(0);
export const link = signal(live.state);
export const now = signal(Date.now());
export const notices = signal<string[]>([]);
export const view = signal<View>(readView());
export const pointed = signal<number | null>(null); // cell under the pointer or the keyboard's cursor
export const held = signal<number | null>(null); // cell that the pair panel stays with

const darkness = window.matchMedia('(prefers-color-scheme: dark)');
export const dark = signal(darkness.matches);

export const grid = computed(() => {
  plan.value;
  return model.gridNamed(view.value.probe) ?? model.grids[0];
});
export const metric = computed(() => METRICS.find(({ id }) => id === view.value.metric) ?? METRICS[0]);

export function choose(change: Partial<View>) {
  letGo();
  view.value = { ...view.value, ...change };
  writeView({ ...view.value, probe: grid.value?.probe.name ?? view.value.probe });
}

function letGo() {
  pointed.value = null;
  held.value = null;
}

let paintPlanned = false;

function planPaint() {
  if (paintPlanned) return;
  paintPlanned = true;
  setTimeout(() => requestAnimationFrame(() => {
    paintPlanned = false;
    painted.value += 1;
  }), PAINT_EVERY);
}

// Tells whether the controller answers at all, too: a WebSocket across a dead network looks open for minutes.
async function poll() {
  try {
    const answer = await fetch('api/v1/status', { signal: AbortSignal.timeout(PATIENCE) });
    notices.value = noticesOf(await answer.json());
  } catch {
    live.reconnect();
  }
  setTimeout(poll, POLL);
}

interface Status {
  not_ready: string[];
  pinglist: { error: string | null };
  history: { error: string | null };
}

function noticesOf(status: Status): string[] {
  const texts = [...status.not_ready];
  if (status.pinglist.error) texts.unshift(`pinglist rejected: ${status.pinglist.error}`);
  if (status.history.error) texts.push(`history: ${status.history.error}`);
  return texts;
}

export function start() {
  live.addEventListener('plan', () => {
    letGo();
    plan.value += 1;
  });
  live.addEventListener('rows', planPaint);
  live.addEventListener('link', () => { link.value = live.state; });
  darkness.addEventListener('change', () => { dark.value = darkness.matches; });
  window.addEventListener('hashchange', () => {
    letGo();
    view.value = readView();
  });
  setInterval(() => { now.value = Date.now(); }, 1000);
  void poll();
}

// Calls `changed` for every new row of one of the two ways of a pair; returns how to stop.
export function followPair(source: string, destination: string, changed: () => void): () => void {
  const listener = (event: Event) => {
    const { grid: of, source: row } = (event as CustomEvent<Rows>).detail;
    const from = of.probe.sources[row];
    if (of === grid.value && (from === source || from === destination)) changed();
  };
  live.addEventListener('rows', listener);
  return () => live.removeEventListener('rows', listener);
}

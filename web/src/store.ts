// The state of the page, as signals: a component that reads one is drawn again when it changes. The
// numbers of the mesh are too many for signals, so they stay in the model, and `painted` ticks when
// there is something new to paint.

import { computed, effect, signal } from '@preact/signals';
import { Live, type Rows } from './live';
import { changeOf, metricNamed } from './metrics';
import { type Grid, Model, pairOf } from './model';
import { orderOf } from './order';
import { fetchPast, pastFields } from './past';
import { Palette } from './palette';
import { Ranks } from './ranks';
import { limitsOf, NO_LIMITS, thresholdOf } from './severity';
import { dark, followTheme } from './theme';
import { formatView, parseView, type View } from './view';

const SHORTEST_REST = 25; // milliseconds from one painting to the next
const RESCALE_EVERY = 1000;
const SCRUB_PAUSE = 120;

export const model = new Model();
export const live = new Live(model);
export const plan = signal(0);
export const painted = signal(0);
export const link = signal(live.state);
export const now = signal(Date.now());
export const view = signal<View>(parseView(location.hash));
export const pointed = signal<number | null>(null); // cell under the pointer or the keyboard's cursor

const probeName = computed(() => view.value.probe);
const metricId = computed(() => view.value.metric);
const orderBy = computed(() => view.value.order);

export const liveGrid = computed(() => {
  plan.value;
  return model.gridNamed(probeName.value) ?? model.grids[0];
});
export const time = computed(() => view.value.time);
const worst = computed(() => view.value.worst);
const against = computed(() => (view.value.worst === '' ? view.value.against : ''));
// Whether the map shows anything but the present.
export const away = computed(() => time.value !== null || worst.value !== '' || against.value !== '');
const past = signal<{ grid: Grid; change: boolean } | null>(null);
export const pastNote = signal(''); // why the past is not shown, '' where it is
// The grid shown before stays until the past has arrived.
export const grid = computed(() => {
  const fits = past.value?.grid.probe === liveGrid.value?.probe;
  return away.value && past.value && fits ? past.value.grid : liveGrid.value;
});
export const metric = computed(() => {
  const named = metricNamed(metricId.value);
  return grid.value === past.value?.grid && past.value?.change ? changeOf(named) : named;
});
export const held = computed(() => {
  const { held: pair } = view.value;
  return pair && grid.value ? grid.value.cellOf(...pair) : null;
});

// The pinglist's thresholds apply until the user chooses others.
export const ownThresholds = computed(() => thresholdOf(liveGrid.value?.probe, metric.value));
export const warn = computed(() => view.value.warn ?? ownThresholds.value.warn);
export const crit = computed(() => view.value.crit ?? ownThresholds.value.crit);
// Whether the user looks at thresholds of their own instead of the verdict.
export const overlaid = computed(() => view.value.warn !== null || view.value.crit !== null);

// ---- values derived from the numbers once a second ----

const rescaled = signal(0);
export const limits = signal(NO_LIMITS);
export const scale = signal({ low: 1, high: 255 }); // the codes at both ends of the colour scale

function rescale() {
  const current = grid.peek();
  if (!current) return;
  const next = limitsOf(current, metric.peek(), warn.peek(), crit.peek(), overlaid.peek());
  const { judged, slow, verySlow, loss } = limits.peek();
  if (next.judged !== judged || next.slow !== slow || next.verySlow !== verySlow || next.loss !== loss) limits.value = next;
  // Steps of five codes (a factor of 1.4) keep the colours stable while values vary.
  const low = Math.max(1, Math.floor(current.quantile(0.001) / 5) * 5);
  // The scale ends below slow pairs, which have colours of their own.
  const high = Math.max(low + 32, Math.ceil(Math.min(current.quantile(0.98), next.slow) / 5) * 5);
  if (low !== scale.peek().low || high !== scale.peek().high) scale.value = { low, high };
}

const judged = computed(() => limits.value.judged);
export const palette = computed(() => new Palette(dark.value, metric.value, scale.value.low, scale.value.high, judged.value));
const orders = computed(() => {
  if (!grid.value) return null;
  const { sources, destinations } = grid.value.probe;
  const order = (addresses: string[]) => orderOf(addresses, orderBy.value, (address) => model.nameOf(address), model.labels);
  return { rows: order(sources), columns: order(destinations) };
});
export const ranks = computed(() => {
  const current = grid.value;
  if (!current) return null;
  return new Ranks(current, orders.value!.rows, orders.value!.columns, limits.peek());
});

// ---- the user's choices ----

// `replace` adds no step for the back button; it is for choices that change continuously.
export function choose(change: Partial<View>, replace = false) {
  const next = { ...view.value, ...change };
  next.probe = next.probe ?? grid.value?.probe.name ?? null;
  const hash = formatView(next);
  view.value = next;
  if (hash === location.hash) return;
  if (replace) history.replaceState(null, '', hash);
  else history.pushState(null, '', hash);
}

export function hold(cell: number | null) {
  const current = grid.value;
  if (!current || cell === null || cell === held.value) return choose({ held: null });
  return choose({ held: pairOf(current, cell) });
}

export function openPair(cell: number | null) {
  if (cell !== null) choose({ page: 'pair', held: pairOf(grid.value!, cell) });
}

let paintPlanned = false;
let nextPaint = 0; // the earliest time of the next painting, as performance.now()

// A rest as long as the painting follows each painting, so that half of the time is left for
// arriving data.
function planPaint() {
  if (paintPlanned) return;
  paintPlanned = true;
  setTimeout(() => requestAnimationFrame(() => {
    const begin = performance.now();
    paintPlanned = false;
    // The first judged rows change every colour, so they do not wait.
    const first = !overlaid.peek() && grid.peek()?.judged() !== limits.peek().judged;
    if (first || Date.now() - rescaled.peek() > RESCALE_EVERY) {
      rescaled.value = Date.now();
      rescale();
    }
    ranks.peek()?.update();
    painted.value += 1;
    setTimeout(() => {
      const end = performance.now();
      nextPaint = end + Math.max(SHORTEST_REST, end - begin);
    });
  }), Math.max(0, nextPaint - performance.now()));
}

export function start() {
  live.addEventListener('plan', () => {
    pointed.value = null;
    plan.value += 1;
  });
  live.addEventListener('rows', planPaint);
  live.addEventListener('link', () => { link.value = live.state; });
  followTheme();
  window.addEventListener('popstate', () => { view.value = parseView(location.hash); });
  setInterval(() => {
    now.value = Date.now();
    planPaint(); // the scale may have to follow the values
  }, 1000);
  effect(() => {
    if (!liveGrid.value) return;
    live.watch(liveGrid.value.probe.name, metricNamed(metricId.value).id);
    rescaled.value = 0;
  });
  effect(followTime);
  effect(() => {
    ranks.value?.use(limits.value);
    painted.value = painted.peek() + 1;
  });
  effect(() => {
    grid.value;
    warn.value;
    crit.value;
    overlaid.value;
    rescale();
  });
}

// Returns a time in the last window but one: the newest window has not arrived from all sources
// yet.
export function newestComplete(): number {
  const { windowEnd = NaN, probe } = liveGrid.peek() ?? {};
  const at = windowEnd - (probe?.window_ns ?? 0) / 1e6 - 1;
  return Number.isNaN(at) ? Date.now() : at;
}

// Returns what the controller is asked for instead of the present, null for the present.
export function pastQuestion(): URLSearchParams | null {
  return pastFields({ time: time.value, worst: worst.value, against: against.value }, newestComplete());
}

// What ends at the present is asked for again now and then.
const REFRESH_PAST = 30_000;
const minute = computed(() => (away.value && time.value === null ? Math.floor(now.value / REFRESH_PAST) : 0));

// Fetches the mesh at the chosen time once the slider rests.
function followTime() {
  minute.value;
  const [current, shown, question] = [liveGrid.value, metricNamed(metricId.value), pastQuestion()];
  if (!current || question === null) {
    past.value = null;
    pastNote.value = '';
    return undefined;
  }
  const abort = new AbortController();
  pastNote.value = 'loading';
  const timer = setTimeout(async () => {
    try {
      const fetched = await fetchPast(model, current, shown, question, abort.signal);
      if (abort.signal.aborted) return;
      past.value = { grid: fetched, change: question.has('against') };
      pastNote.value = Number.isNaN(fetched.windowEnd) ? 'nothing was reported then' : '';
    } catch (failure) {
      if (!abort.signal.aborted) pastNote.value = (failure as Error).message;
    }
  }, SCRUB_PAUSE);
  return () => {
    abort.abort();
    clearTimeout(timer);
  };
}

// Calls `changed` for every new row of either direction of a pair. Returns the function that ends
// this.
export function followPair(source: string, destination: string, changed: () => void): () => void {
  const listener = (event: Event) => {
    const { grid: of, sources } = (event as CustomEvent<Rows>).detail;
    if (of !== grid.value) return;
    if (sources.some((row) => [source, destination].includes(of.probe.sources[row]))) changed();
  };
  live.addEventListener('rows', listener);
  return () => live.removeEventListener('rows', listener);
}

// The scale of the metric that is shown.

import { effect, signal } from '@preact/signals';
import { METRICS } from './model';
import { Scale } from './scale';
import { grid, metric, painted } from './store';

const RESCALE_EVERY = 1000; // milliseconds

export const scale = signal(new Scale(METRICS[0]));

let of: unknown[] = [];
let at = 0;

// The scale follows the pairs that are well: one stuck pair must not flatten the others.
function scaleOf(): Scale {
  const current = grid.value;
  if (!current) return new Scale(metric.value);
  const ok = current.stateNames.indexOf('ok');
  return Scale.of(metric.value,
    current.values[metric.value.id].filter((_, cell) => current.states[cell] === ok));
}

effect(() => {
  painted.value;
  const shown = [grid.value, metric.value];
  const same = shown.every((each, i) => each === of[i]);
  if (same && Date.now() - at < RESCALE_EVERY) return;
  [of, at] = [shown, Date.now()];
  const next = scaleOf();
  const { low, high, isLoss } = scale.peek();
  if (next.low !== low || next.high !== high || next.isLoss !== isLoss) scale.value = next;
});

// The unit that cells and scale are written in.
export function unitOf({ low }: Scale): { name: string; size: number } {
  return low >= 1e6 ? { name: 'ms', size: 1e6 } : { name: 'µs', size: 1e3 };
}

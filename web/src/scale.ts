// From a value to its place in the palette. Logarithmic, from the quickest pair to the slowest of
// all but the last 2 %, rounded outwards to 1-2-5 steps so that it stays still while values move.

import type { Metric } from './model';

const STEPS = [1, 2, 5, 10];

function stepBelow(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [...STEPS].reverse().find((step) => step * power <= value * 1.0001)! * power;
}

function stepAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return STEPS.find((step) => step * power >= value * 0.9999)! * power;
}

export class Scale {
  readonly isLoss: boolean;

  constructor(metric: Metric, readonly low = 1e3, readonly high = 1e6) {
    this.isLoss = metric.unit === 'ratio';
  }

  position(value: number): number {
    const at = Math.log(value / this.low) / Math.log(this.high / this.low);
    return Math.min(1, Math.max(0, at));
  }

  static of(metric: Metric, values: Float32Array): Scale {
    if (metric.unit === 'ratio') return new Scale(metric);
    const known = values.filter((value) => value > 0).sort();
    if (known.length === 0) return new Scale(metric);
    const low = stepBelow(known[0]);
    const high = stepAbove(known[Math.ceil(known.length * 0.98) - 1]);
    return new Scale(metric, low, Math.max(high, low * 10));
  }
}

// The metrics that a cell can show, and the one-byte code of a value (docs/http-api.md has both).

import { humanRatio } from './format';

// The units 'factor' and 'points' are those of a change: how many times as long, and percentage points.
export interface Metric { id: string; label: string; unit: 'ns' | 'ratio' | 'factor' | 'points' }

export const METRICS: Metric[] = [
  { id: 'network_p50', label: 'network p50', unit: 'ns' },
  { id: 'network_p95', label: 'network p95', unit: 'ns' },
  { id: 'network_p99', label: 'network p99', unit: 'ns' },
  { id: 'rtt_p50', label: 'rtt p50', unit: 'ns' },
  { id: 'rtt_p99', label: 'rtt p99', unit: 'ns' },
  { id: 'responder_p50', label: 'responder', unit: 'ns' },
  { id: 'prober_p50', label: 'prober', unit: 'ns' },
  { id: 'jitter', label: 'jitter', unit: 'ns' },
  { id: 'loss', label: 'loss', unit: 'ratio' },
  { id: 'anomalous', label: 'anomalous', unit: 'ratio' },
];

export function metricNamed(id: string): Metric {
  return METRICS.find((metric) => metric.id === id) ?? METRICS[0];
}

export const NOT_MEASURED = 0;
export const NO_CHANGE = 128; // the code of a change; the codes on both sides are mirrored
const SIDE = 127;
const LARGEST_FACTOR = 1000;

// Returns the metric of the difference to another time.
export function changeOf(metric: Metric): Metric {
  return { ...metric, label: `change of ${metric.label}`, unit: metric.unit === 'ns' ? 'factor' : 'points' };
}

export function isChange({ unit }: Metric): boolean {
  return unit === 'factor' || unit === 'points';
}

// Returns NaN where nothing was measured.
export function valueOf({ unit }: Metric, code: number): number {
  if (code === NOT_MEASURED) return NaN;
  if (unit === 'ns') return 100 * 1e8 ** ((code - 1) / 254);
  if (unit === 'factor') return LARGEST_FACTOR ** ((code - NO_CHANGE) / SIDE);
  if (unit === 'points') return (code - NO_CHANGE) / SIDE;
  return code === 1 ? 0 : 1e-4 * 1e4 ** ((code - 2) / 253);
}

// Returns the nearest code, as the controller does.
export function codeOf({ unit }: Metric, value: number): number {
  const step = (low: number, high: number, last: number) => Math.round(
    last * Math.min(1, Math.max(0, Math.log(value / low) / Math.log(high / low))));
  if (Number.isNaN(value)) return NOT_MEASURED;
  if (unit === 'ns') return 1 + step(100, 1e10, 254);
  return value <= 0 ? 1 : 2 + step(1e-4, 1, 253);
}

// Writes two digits, which is the precision of a code.
export function humanCode(metric: Metric, code: number): string {
  const value = valueOf(metric, code);
  if (Number.isNaN(value)) return '–';
  const rounded = Number(value.toPrecision(2));
  if (metric.unit === 'factor') return humanFactor(value);
  if (metric.unit === 'points') return `${value > 0 ? '+' : ''}${Math.round(value * 100)} %`;
  if (metric.unit === 'ratio') return humanRatio(rounded);
  const [unit, size] = ([['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]] as const).find(([, at]) => rounded >= at)!;
  const shown = rounded / size;
  return `${shown < 10 && unit !== 'ns' ? shown.toFixed(1) : shown.toFixed(0)} ${unit}`;
}

function humanFactor(factor: number): string {
  const times = factor < 1 ? 1 / factor : factor;
  if (times < 1.05) return '=';
  const shown = times < 10 ? times.toFixed(1) : times.toFixed(0);
  return `${factor < 1 ? '÷' : '×'}${shown}`;
}

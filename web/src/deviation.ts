// Metrics that are unusual, and values of metrics, in words.

import { humanNanos, inLine, threeDigits } from './format';

// A metric that is unusual, and how.
export interface Deviation {
  metric: string; // with its labels
  part: string | null; // of a histogram or summary
  statistic: string;
  score: number; // unusual above 1; negative if the value is too low
  value: number | null; // a counter's is its rate per second
  peers: number | null; // the median of the replicas
  usual?: number | null; // at this time of the week
}

// Writes a value of any unit with three significant digits.
export function humanValue(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  for (const [unit, factor] of [['T', 1e12], ['G', 1e9], ['M', 1e6], ['k', 1e3]] as const) {
    if (size >= factor * 9.995) return `${Math.sign(value) * Number(threeDigits(size / factor))}${unit}`;
  }
  if (size >= 0.01) return String(Number(value.toPrecision(3)));
  return value.toPrecision(3).replace(/\.?0+(e|$)/, '$1');
}

// Writes a value of a metric whose name says its unit: "15.0 ms" of step_seconds.
export function humanMetric(metric: string, value: number | null | undefined): string {
  const name = metric.split('{')[0];
  return name.endsWith('_seconds') && value !== null && value !== undefined && value > 0 && value < 1000 ? humanNanos(value * 1e9) : humanValue(value);
}

const HOW: Record<string, string> = {
  jitter: 'scatters more than usual',
  flat: 'has stopped moving',
  residual: 'no longer goes with the others',
  load: 'is part of a sudden change of the load',
};
const LASTING: Record<string, string> = { sustained: ' for a while', lasting: ' for long' };

// Says by how much a metric is unusual: "step_seconds p50 is 15.0 ms, 1.50x its peers' (10.0 ms)".
export function deviationText({ metric, part, statistic, score, value, peers, usual }: Deviation): string {
  const name = inLine(part === null ? metric : `${metric} ${part}`);
  const text = (each: number | null) => (part === 'rate' ? `${humanValue(each)}/s` : humanMetric(metric, each));
  if (statistic === 'peers' && peers !== null) {
    const ratio = value !== null && peers !== 0 ? `${threeDigits(Math.abs(value / peers))}x its peers'` : 'unlike its peers\'';
    return `${name} is ${text(value)}, ${ratio} (${text(peers)})`;
  }
  if (statistic === 'season') {
    const known = usual === null || usual === undefined ? '' : `; usually ${text(usual)}`;
    return `${name} is lower than usual at this time: ${text(value)}${known} (season, score ${threeDigits(Math.abs(score))})`;
  }
  const how = HOW[statistic] ?? `is unusually ${score < 0 ? 'low' : 'high'}${LASTING[statistic] ?? ''}`;
  return `${name} ${how}: ${text(value)} (${inLine(statistic)}, score ${threeDigits(Math.abs(score))})`;
}

// The rank of a pair says in one number how bad it is: a zoomed-out cell shows the largest rank of
// its pairs. The upper byte is the class, the lower byte the value's code.

import { codeOf, isChange, type Metric, NOT_MEASURED, valueOf } from './metrics';
import { type Grid, type Probe, severityIn, stateIn, type Threshold } from './model';
import { NOT_A_PAIR } from './states';

// Ordered by urgency: an operator wants to see the last class first.
export const CLASSES = ['', 'not measured', 'pending', 'ok', 'unjudged', 'stale', 'misfit', 'anomalous', 'slow', 'agent-down', 'very slow',
  'refused', 'lossy', 'loss', 'unreachable', 'down'] as const;
export type Class = typeof CLASSES[number];

const number = new Map<string, number>(CLASSES.map((name, at) => [name, at]));
const UNMEASURED = number.get('not measured')!;
export const OK = number.get('ok')!;
const SLOW = number.get('slow')!;
const VERY_SLOW = number.get('very slow')!;
const LOSS = number.get('loss')!;
export const UNJUDGED = number.get('unjudged')!;
// What the controller judges: pairs in these states have the class of their severity. The other
// states say why there is nothing to judge, or how a pair is down.
const JUDGEABLE = ['ok', 'loss', 'anomalous'];

export interface Limits { // codes; a value beyond 255 in slow or verySlow means no limit
  judged: boolean; // pairs have the class of their severity, and the other limits only end the scale
  slow: number;
  verySlow: number;
  loss: number; // where loss is shown, pairs below this code are classed like pairs that are ok, by the two other limits
}

export const NO_LIMITS: Limits = { judged: false, slow: 256, verySlow: 256, loss: 0 };

// Returns the pinglist's thresholds for a metric: network_p50, network_p95 and so on have those of
// network.
export function thresholdOf(probe: Probe | undefined, metric: Metric): { warn: string; crit: string } {
  const { warn, crit }: Partial<Threshold> = probe?.thresholds?.[metric.id.split('_')[0]] ?? {};
  return { warn: warn ?? '', crit: crit ?? '' };
}

// Returns the code of a threshold: "3x" is three times the mesh's median, "50us" is absolute, and
// other text means no limit.
export function thresholdCode(text: string, metric: Metric, median: number): number {
  const relative = /^(\d+(?:\.\d+)?)x$/.exec(text);
  const absolute = /^(\d+(?:\.\d+)?)(ns|us|µs|ms|s|%)$/.exec(text);
  if (relative && median > 0 && metric.unit === 'ns') {
    return codeOf(metric, valueOf(metric, median) * Number(relative[1]));
  }
  if (!absolute || (absolute[2] === '%') !== (metric.unit === 'ratio')) return 256;
  const unit = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, '%': 0.01 }[absolute[2]]!;
  return codeOf(metric, Number(absolute[1]) * unit);
}

export function isThreshold(text: string): boolean {
  return /^(\d+(\.\d+)?(x|ns|us|µs|ms|s|%))?$/.test(text);
}

// `own`: the thresholds are the user's, who wants to see them instead of the verdict.
export function limitsOf(grid: Grid, metric: Metric, warn: string, crit: string, own = false): Limits {
  if (isChange(metric)) return NO_LIMITS; // the colours show the change, and neither thresholds nor a verdict
  const median = grid.quantile(0.5);
  const [slow, verySlow] = [warn, crit].map((text) => thresholdCode(text, metric, median));
  const loss = [verySlow, slow].find((code) => code <= 255);
  return { judged: !own && grid.judged(), slow, verySlow, loss: metric.id === 'loss' ? loss ?? 0 : 0 };
}

// Returns the rank of every first byte of a cell (in the upper byte) with every code (in the lower
// byte), so that each pair of the mesh costs one look-up. Cells without a pair have rank 0.
export function rankTable({ stateNames, severityNames }: Grid, limits: Limits): Uint16Array {
  const table = new Uint16Array(256 * 256);
  for (let cell = 0; cell < NOT_A_PAIR; ++cell) {
    const [state, severity] = [stateNames[stateIn(cell)] ?? '', severityNames[severityIn(cell)] ?? 'none'];
    for (let code = 0; code < 256; ++code) {
      table[(cell << 8) | code] = limits.judged && JUDGEABLE.includes(state) ? judgedRank(severity, code)
        : rankOf(number.get(state) ?? 0, code, limits);
    }
  }
  return table;
}

function judgedRank(severity: string, code: number): number {
  const kind = severity === 'none' ? UNJUDGED : number.get(severity) ?? 0;
  if (kind === 0) return 0;
  return ((kind === OK && code === NOT_MEASURED ? UNMEASURED : kind) << 8) | code;
}

function rankOf(stateClass: number, code: number, limits: Limits): number {
  let kind = stateClass;
  if (kind === LOSS && code < limits.loss && code !== NOT_MEASURED) kind = OK;
  if (kind === OK && code === NOT_MEASURED) kind = UNMEASURED;
  else if (kind === OK && code >= limits.verySlow) kind = VERY_SLOW;
  else if (kind === OK && code >= limits.slow) kind = SLOW;
  return kind === 0 ? 0 : (kind << 8) | code;
}

export function className(rank: number): Class {
  return CLASSES[rank >> 8];
}

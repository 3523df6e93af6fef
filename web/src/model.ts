// The page's data: the plan, and two bytes of each pair of the watched probe: its state with its
// severity, and its value. live.ts fills it; everything that draws reads it.

import { NOT_A_PAIR } from './states';

// The pinglist's thresholds for one figure, in the notation of severity.ts; null: no threshold.
export interface Threshold { warn: string | null; crit: string | null }

export interface Probe {
  name: string;
  protocol: string;
  paths: number;
  interval_ns: number;
  timeout_ns: number;
  window_ns: number;
  thresholds: Record<string, Threshold>; // by part: network, rtt, ..., loss
  sources: string[];
  destinations: string[];
}

// The first message of the live connection.
export interface Plan {
  type: 'plan';
  version: number;
  epoch: string;
  generation: number;
  states: string[];
  severities: string[];
  probes: Probe[];
  names: Record<string, string>;
  labels: Record<string, Record<string, string>>; // by label and address
}

const CODES = 256;
const STATE_BITS = 4;
const NOT_JUDGED = 0; // the controller's number for the severity none

// The parts of a cell's first byte, in which NOT_A_PAIR has no meaning.
export const stateIn = (cell: number): number => cell & ((1 << STATE_BITS) - 1);
export const severityIn = (cell: number): number => cell >> STATE_BITS;

export class Grid {
  readonly rows: number;
  readonly columns: number;
  readonly cells: Uint8Array; // state and severity, or NOT_A_PAIR
  readonly values: Uint8Array; // codes of the watched metric
  readonly counts: number[]; // pairs by state
  readonly severities: number[]; // pairs by severity
  readonly well = new Uint32Array(CODES); // pairs in state ok by code
  readonly changed = new Set<number>(); // rows that have changed since the last painting
  windowEnd = NaN; // the end of the newest window, milliseconds UTC
  complete = false; // every row has arrived at least once
  private readonly ok: number; // the controller's number for the state ok

  constructor(readonly probe: Probe, readonly stateNames: string[], readonly severityNames: string[] = []) {
    this.rows = probe.sources.length;
    this.columns = probe.destinations.length;
    this.cells = new Uint8Array(this.rows * this.columns).fill(NOT_A_PAIR);
    this.values = new Uint8Array(this.rows * this.columns);
    this.counts = new Array<number>(stateNames.length).fill(0);
    this.severities = new Array<number>(CODES >> STATE_BITS).fill(0);
    this.ok = stateNames.indexOf('ok');
  }

  setRow(row: number, cells: Uint8Array, values: Uint8Array, windowEnd: number) {
    for (let column = 0; column < this.columns; ++column) {
      this.setCell(row * this.columns + column, cells[column], values[column]);
    }
    this.changed.add(row);
    if (!(windowEnd <= this.windowEnd) && !Number.isNaN(windowEnd)) this.windowEnd = windowEnd;
  }

  private setCell(at: number, cell: number, value: number) {
    const [before, valueBefore] = [this.cells[at], this.values[at]];
    if (cell === before && value === valueBefore) return;
    this.cells[at] = cell;
    this.values[at] = value;
    this.count(before, valueBefore, -1);
    this.count(cell, value, 1);
  }

  private count(cell: number, value: number, by: number) {
    const state = stateIn(cell);
    if (cell === NOT_A_PAIR || state >= this.counts.length) return;
    this.counts[state] += by;
    this.severities[severityIn(cell)] += by;
    if (state === this.ok) this.well[value] += by;
  }

  // Drops the values when the metric changes: a value of the old metric must not be shown as one of
  // the new.
  forgetValues() {
    this.values.fill(0);
    this.well.fill(0);
    this.well[0] = this.countOf('ok');
    for (let row = 0; row < this.rows; ++row) this.changed.add(row);
  }

  // Returns the smallest code that `part` (0..1) of the measured pairs in state ok do not exceed; 0
  // where there are none.
  quantile(part: number): number {
    const measured = this.well.reduce((sum, count) => sum + count, 0) - this.well[0];
    let left = Math.ceil(part * measured);
    if (measured === 0) return 0;
    for (let code = 1; code < CODES; ++code) {
      left -= this.well[code];
      if (left <= 0) return code;
    }
    return CODES - 1;
  }

  cellOf(source: string, destination: string): number | null {
    const [row, column] = [this.probe.sources.indexOf(source), this.probe.destinations.indexOf(destination)];
    return row < 0 || column < 0 ? null : row * this.columns + column;
  }

  // Returns the pair of the other direction, null where the probe has none.
  reverseOf(cell: number): number | null {
    return this.cellOf(this.probe.destinations[cell % this.columns], this.probe.sources[Math.floor(cell / this.columns)]);
  }

  // Whether the probe has a pair in this direction: a probe with `from` and `to` has most pairs in
  // one direction only. Only the states tell whether a host probes itself.
  hasWay(source: string, destination: string): boolean {
    const cell = this.cellOf(source, destination);
    return cell !== null && (source !== destination || this.isPair(cell));
  }

  stateName(cell: number): string {
    return this.isPair(cell) ? this.stateNames[stateIn(this.cells[cell])] ?? '' : '';
  }

  // Returns '' where there is no pair, and 'none' where the pair is not judged.
  severityName(cell: number): string {
    return this.isPair(cell) ? this.severityNames[severityIn(this.cells[cell])] ?? '' : '';
  }

  isPair(cell: number): boolean {
    return this.cells[cell] !== NOT_A_PAIR;
  }

  pairs(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  countOf(name: string): number {
    return this.counts[this.stateNames.indexOf(name)] ?? 0;
  }

  // Whether the controller judges this grid. It judges nothing of the past, and nothing in its first
  // windows.
  judged(): boolean {
    return this.pairs() > this.severities[NOT_JUDGED];
  }

  // Returns the number of pairs that are neither ok nor pending.
  problems(): number {
    return this.pairs() - this.countOf('ok') - this.countOf('pending');
  }
}

export class Model {
  epoch = '';
  generation: number | null = null;
  names = new Map<string, string>();
  labels: Plan['labels'] = {};
  grids: Grid[] = [];

  // Returns whether the plan differs from the one before.
  setPlan(plan: Plan): boolean {
    if (plan.epoch === this.epoch && plan.generation === this.generation) return false;
    this.epoch = plan.epoch;
    this.generation = plan.generation;
    this.names = new Map(Object.entries(plan.names));
    this.labels = plan.labels;
    this.grids = plan.probes.map((probe) => new Grid(probe, plan.states, plan.severities));
    return true;
  }

  nameOf(address: string): string {
    return this.names.get(address) ?? address;
  }

  gridNamed(name: string | null): Grid | undefined {
    return this.grids.find((grid) => grid.probe.name === name);
  }
}

export function pairOf({ probe, columns }: Grid, cell: number): [string, string] {
  return [probe.sources[Math.floor(cell / columns)], probe.destinations[cell % columns]];
}

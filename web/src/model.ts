// What the page knows: the plan and, per probe, one number per pair and metric. Filled by live.js,
// read by everything that draws.

import { NOT_A_PAIR } from './states';

export interface Metric { id: string; label: string; unit: 'ns' | 'ratio' }

export interface Probe {
  name: string;
  protocol: string;
  paths: number;
  interval_ns: number;
  timeout_ns: number;
  window_ns: number;
  sources: string[];
  destinations: string[];
}

// The first message of the live connection.
export interface Plan {
  type: string;
  version: number;
  generation: number;
  states: string[];
  probes: Probe[];
  names: Record<string, string>;
}

export type Columns = Record<string, Float32Array>; // by metric

export const METRICS: Metric[] = [
  { id: 'network_p50', label: 'network p50', unit: 'ns' },
  { id: 'network_p99', label: 'network p99', unit: 'ns' },
  { id: 'rtt_p50', label: 'rtt p50', unit: 'ns' },
  { id: 'loss', label: 'loss', unit: 'ratio' },
];

export class Grid {
  readonly rows: number;
  readonly columns: number;
  readonly states: Uint8Array;
  readonly values: Columns;
  readonly counts: number[];
  windowEnd = NaN; // the newest, milliseconds UTC

  constructor(readonly probe: Probe, readonly stateNames: string[]) {
    this.rows = probe.sources.length;
    this.columns = probe.destinations.length;
    const cells = this.rows * this.columns;
    this.states = new Uint8Array(cells).fill(NOT_A_PAIR);
    this.values = Object.fromEntries(
      METRICS.map(({ id }) => [id, new Float32Array(cells).fill(NaN)]));
    this.counts = new Array(stateNames.length).fill(0);
  }

  setRow(row: number, states: Uint8Array, columns: Columns, windowEnd: number) {
    const from = row * this.columns;
    for (let i = 0; i < this.columns; ++i) {
      const before = this.states[from + i];
      if (before !== NOT_A_PAIR) this.counts[before] -= 1;
      if (states[i] < this.counts.length) this.counts[states[i]] += 1;
    }
    this.states.set(states, from);
    for (const { id } of METRICS) this.values[id].set(columns[id], from);
    if (!(windowEnd <= this.windowEnd) && !Number.isNaN(windowEnd)) this.windowEnd = windowEnd;
  }

  stateName(cell: number): string {
    return this.stateNames[this.states[cell]] ?? '';
  }

  isPair(cell: number): boolean {
    return this.states[cell] !== NOT_A_PAIR;
  }

  pairs(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  countOf(name: string): number {
    return this.counts[this.stateNames.indexOf(name)] ?? 0;
  }

  // Pairs that are neither well nor still to come.
  problems(): number {
    return this.pairs() - this.countOf('ok') - this.countOf('pending');
  }
}

export class Model {
  generation: number | null = null;
  names = new Map<string, string>();
  grids: Grid[] = [];

  setPlan(plan: Plan) {
    this.generation = plan.generation;
    this.names = new Map(Object.entries(plan.names));
    this.grids = plan.probes.map((probe) => new Grid(probe, plan.states));
  }

  nameOf(address: string): string {
    return this.names.get(address) ?? address;
  }

  gridNamed(name: string | null): Grid | undefined {
    return this.grids.find((grid) => grid.probe.name === name);
  }
}

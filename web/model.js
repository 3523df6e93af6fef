// What the page knows: the plan and, per probe, one number per pair and metric. Filled by live.js,
// read by everything that draws.

import { NOT_A_PAIR } from './states.js';

export const METRICS = [
  { id: 'network_p50', label: 'network p50', unit: 'ns' },
  { id: 'network_p99', label: 'network p99', unit: 'ns' },
  { id: 'rtt_p50', label: 'rtt p50', unit: 'ns' },
  { id: 'loss', label: 'loss', unit: 'ratio' },
];

export class Grid {
  constructor(probe, stateNames) {
    this.probe = probe;
    this.stateNames = stateNames;
    this.rows = probe.sources.length;
    this.columns = probe.destinations.length;
    const cells = this.rows * this.columns;
    this.states = new Uint8Array(cells).fill(NOT_A_PAIR);
    this.values = Object.fromEntries(
      METRICS.map(({ id }) => [id, new Float32Array(cells).fill(NaN)]));
    this.counts = new Array(stateNames.length).fill(0);
    this.windowEnd = NaN; // the newest, milliseconds UTC
  }

  setRow(row, states, columns, windowEnd) {
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

  stateName(cell) {
    return this.stateNames[this.states[cell]] ?? '';
  }

  isPair(cell) {
    return this.states[cell] !== NOT_A_PAIR;
  }

  pairs() {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  countOf(name) {
    return this.counts[this.stateNames.indexOf(name)] ?? 0;
  }

  // Pairs that are neither well nor still to come.
  problems() {
    return this.pairs() - this.countOf('ok') - this.countOf('pending');
  }
}

export class Model {
  constructor() {
    this.generation = null;
    this.names = new Map();
    this.grids = [];
  }

  setPlan(plan) {
    this.generation = plan.generation;
    this.names = new Map(Object.entries(plan.names));
    this.grids = plan.probes.map((probe) => new Grid(probe, plan.states));
  }

  nameOf(address) {
    return this.names.get(address) ?? address;
  }

  gridNamed(name) {
    return this.grids.find((grid) => grid.probe.name === name);
  }
}

import { describe, expect, it } from 'vitest';
import { METRICS, codeOf, metricNamed } from '../src/metrics';
import { Grid, type Probe } from '../src/model';
import { orderOf, ordersOf } from '../src/order';
import { Ranks } from '../src/ranks';
import { className, limitsOf, NO_LIMITS, thresholdCode, thresholdOf } from '../src/severity';
import { NOT_A_PAIR } from '../src/states';
import { type Column, firstIn, keyOf } from '../src/worst_list';

const STATES = ['ok', 'loss', 'unreachable', 'refused', 'agent-down', 'pending', 'stale', 'anomalous', 'misfit'];
const METRIC = METRICS[0];

function meshOf(hosts: number): Grid {
  const addresses = Array.from({ length: hosts }, (_, i) => `10.0.0.${i + 1}`);
  const probe: Probe = { name: 'mesh', protocol: 'udp', paths: 1, interval_ns: 1, timeout_ns: 1, window_ns: 1,
    thresholds: { network: { warn: '2x', crit: null } },
    sources: addresses, destinations: addresses };
  const grid = new Grid(probe, STATES);
  for (let row = 0; row < hosts; ++row) setRow(grid, row, () => 0, () => 5000);
  return grid;
}

function setRow(grid: Grid, row: number, state: (column: number) => number, nanos: (column: number) => number) {
  const columns = Array.from({ length: grid.columns }, (_, column) => column);
  grid.setRow(row, Uint8Array.from(columns, (column) => (column === row ? NOT_A_PAIR : state(column))),
    Uint8Array.from(columns, (column) => (column === row ? 0 : codeOf(METRIC, nanos(column)))), 0);
}

function ranksOf(grid: Grid, limits = NO_LIMITS, by = 'address', labels = {}): Ranks {
  const order = orderOf(grid.probe.sources, by, (address) => address, labels);
  return new Ranks(grid, order, order, limits);
}

describe('the pyramid', () => {
  it('keeps one bad pair of many up to its top', () => {
    const grid = meshOf(33);
    const ranks = ranksOf(grid);
    setRow(grid, 20, (column) => (column === 7 ? 1 : 0), () => 5000);
    ranks.update();
    for (const [level, { ranks: cells, columns }] of ranks.levels.entries()) {
      expect(className(cells[(20 >> level) * columns + (7 >> level)])).toBe('loss');
    }
    setRow(grid, 20, () => 0, () => 5000);
    ranks.update();
    for (const { ranks: cells } of ranks.levels) expect(Math.max(...cells) >> 8).toBe(3);
  });
  it('equals a new pyramid after many changes', () => {
    const grid = meshOf(21);
    const ranks = ranksOf(grid);
    for (let i = 0; i < 60; ++i) {
      setRow(grid, (i * 7) % 21, (column) => (column * i) % STATES.length, (column) => 1000 * (1 + ((column + i) % 50)));
      if (i % 3 === 0) ranks.update();
    }
    ranks.update();
    const fresh = ranksOf(grid);
    expect(ranks.levels).toEqual(fresh.levels);
    expect(ranks.counts).toEqual(fresh.counts);
    for (let line = 0; line < 21; ++line) {
      expect(ranks.rowLines.rank(line)).toBe(fresh.rowLines.rank(line));
      expect(ranks.columnLines.rank(line)).toBe(fresh.columnLines.rank(line));
    }
  });
});

describe('a bad host', () => {
  it('marks its own row and column and no others', () => {
    const grid = meshOf(10);
    for (let row = 0; row < 10; ++row) setRow(grid, row, () => 0, (column) => (row === 4 || column === 4 ? 2e6 : 5000));
    const ranks = ranksOf(grid, limitsOf(grid, METRIC, '3x', '10x'));
    for (let line = 0; line < 10; ++line) {
      const wanted = line === 4 ? 'very slow' : 'ok';
      expect(className(ranks.rowLines.rank(line))).toBe(wanted);
      expect(className(ranks.columnLines.rank(line))).toBe(wanted);
    }
    expect(ranks.columnLines.bad(4)).toBe(9);
  });
});

describe('thresholds', () => {
  it('are times the median, absolute, or none', () => {
    const median = codeOf(METRIC, 10_000);
    expect(thresholdCode('3x', METRIC, median)).toBe(codeOf(METRIC, 30_000));
    expect(thresholdCode('50us', METRIC, median)).toBe(codeOf(METRIC, 50_000));
    for (const none of ['', '5%', 'soon', '3x']) expect(thresholdCode(none, METRIC, 0)).toBe(256);
  });
});

describe('a judged grid', () => {
  const SEVERITIES = ['none', 'ok', 'slow', 'very slow', 'lossy', 'down'];
  const judged = (severity: string, state: string) => (SEVERITIES.indexOf(severity) << 4) | STATES.indexOf(state);
  function judgedGrid() {
    const grid = new Grid(meshOf(6).probe, STATES, SEVERITIES);
    const cells = [NOT_A_PAIR, judged('ok', 'loss'), judged('down', 'loss'), judged('slow', 'ok'), judged('none', 'ok'), judged('down', 'unreachable')];
    grid.setRow(0, Uint8Array.from(cells), Uint8Array.from([0, 9, 9, 9, 200, 0]), 0);
    return grid;
  }
  const classes = (grid: Grid, limits: typeof NO_LIMITS) => [1, 2, 3, 4, 5].map((at) => className(ranksOf(grid, limits).levels[0].ranks[at]));
  it('has the classes of the severities, and the states that are not judged', () => {
    const grid = judgedGrid();
    expect(classes(grid, limitsOf(grid, METRIC, '3x', '10x'))).toEqual(['ok', 'down', 'slow', 'unjudged', 'unreachable']);
    expect(grid.severities.slice(0, 6)).toEqual([1, 1, 1, 0, 0, 2]);
    expect([grid.countOf('loss'), grid.severityName(0), grid.severityName(3)]).toEqual([2, '', 'slow']);
  });
  it("has the classes of the user's own thresholds where they are wanted", () => {
    const grid = judgedGrid();
    expect(classes(grid, limitsOf(grid, METRIC, '3x', '10x', true))).toEqual(['loss', 'loss', 'ok', 'very slow', 'unreachable']);
  });
  it('is not one where nothing is judged', () => {
    expect(meshOf(3).judged()).toBe(false);
    expect(judgedGrid().judged()).toBe(true);
  });
});

describe('a pair without the figure', () => {
  it('has a class of its own and is not slow', () => {
    const grid = meshOf(3);
    grid.setRow(0, Uint8Array.of(NOT_A_PAIR, 0, 1), Uint8Array.of(0, 0, 0), 0);
    const { levels: [{ ranks }], counts } = ranksOf(grid, limitsOf(grid, METRIC, '3x', '10x'));
    expect([className(ranks[1]), className(ranks[2])]).toEqual(['not measured', 'loss']);
    expect(counts[1]).toBe(1);
  });
});

describe("the pinglist's thresholds", () => {
  it('are those of the part that the metric belongs to', () => {
    const { probe } = meshOf(2);
    expect(thresholdOf(probe, metricNamed('network_p99'))).toEqual({ warn: '2x', crit: '' });
    expect(thresholdOf(probe, metricNamed('loss'))).toEqual({ warn: '', crit: '' });
    expect(thresholdOf(undefined, METRIC)).toEqual({ warn: '', crit: '' });
  });
  it('grade loss only where loss is shown', () => {
    const loss = metricNamed('loss');
    const grid = meshOf(5);
    const shares = [0, 0.005, 0.03, 0.2, 0];
    grid.setRow(0, Uint8Array.of(NOT_A_PAIR, 1, 1, 1, 0), Uint8Array.from(shares, (share) => codeOf(loss, share)), 0);
    const classes = (limits: typeof NO_LIMITS) => [1, 2, 3, 4].map((at) => className(ranksOf(grid, limits).levels[0].ranks[at]));
    expect(classes(limitsOf(grid, loss, '1%', '10%'))).toEqual(['ok', 'slow', 'loss', 'ok']);
    expect(classes(limitsOf(grid, loss, '1%', ''))).toEqual(['ok', 'loss', 'loss', 'ok']);
    expect(classes(limitsOf(grid, loss, '', ''))).toEqual(['loss', 'loss', 'loss', 'ok']);
    expect(classes(limitsOf(grid, METRIC, '1%', '10%')).slice(0, 3)).toEqual(['loss', 'loss', 'loss']);
  });
});

describe('other limits', () => {
  it('give the ranks that a new object would have', () => {
    const grid = meshOf(9);
    setRow(grid, 3, () => 0, () => 80_000);
    const [kept, anew] = [ranksOf(grid), ranksOf(grid, limitsOf(grid, METRIC, '3x', '10x'))];
    expect(kept.counts).not.toEqual(anew.counts);
    kept.use(limitsOf(grid, METRIC, '3x', '10x'));
    expect(kept.counts).toEqual(anew.counts);
    expect(kept.levels).toEqual(anew.levels);
    expect([0, 3, 8].map((line) => kept.rowLines.rank(line))).toEqual([0, 3, 8].map((line) => anew.rowLines.rank(line)));
  });
});

describe('the order', () => {
  it('groups by a label, with hosts without the label last', () => {
    const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'];
    const { at, placeOf, groups } = orderOf(addresses, 'rack', (address) => address,
      { rack: { '10.0.0.1': 'r10', '10.0.0.3': 'r2', '10.0.0.4': 'r10' } });
    expect([...at]).toEqual([2, 0, 3, 1]);
    expect([...placeOf]).toEqual([1, 3, 0, 2]);
    expect(groups.map(({ name, from, to }) => [name, from, to])).toEqual([['r2', 0, 1], ['r10', 1, 3], ['', 3, 4]]);
  });
});

describe('a label with the name of a built-in order', () => {
  it('can be chosen, and so can that order', () => {
    const addresses = ['10.0.0.1', '10.0.0.2'];
    const labels = { name: { '10.0.0.1': 'z', '10.0.0.2': 'a' }, 'label:name': { '10.0.0.2': 'b' } };
    const choices = ordersOf(Object.keys(labels)).map(({ by }) => by);
    expect(new Set(choices).size).toBe(4);
    const groups = choices.map((by) => orderOf(addresses, by, (address) => address, labels).groups.map(({ name }) => name));
    expect(groups).toEqual([[], [], ['a', 'z'], ['b', '']]);
  });
});

describe('the worst list', () => {
  const grid = meshOf(12);
  setRow(grid, 3, (column) => (column === 5 ? 2 : column === 6 ? 1 : 0), () => 5000);
  const first = (column: Column, up: boolean, most: number, wanted = (_source: number, _destination: number) => true) =>
    firstIn(ranksOf(grid), keyOf(grid, { column, up }, (address) => address), most, wanted);
  const cells = (...of: Parameters<typeof first>) => first(...of).listed.map(({ cell }) => cell);

  it('has the worst pairs first, and at most the requested number', () => {
    expect(cells('state', false, 4).slice(0, 2)).toEqual([3 * 12 + 5, 3 * 12 + 6]);
    expect([first('state', false, 4).listed.length, first('state', false, 4).all]).toEqual([4, 132]);
    expect(cells('state', false, 500, (source) => source === 3).length).toBe(11);
  });
  it('chooses from all pairs by the column of its order', () => {
    const best = first('state', true, 4).listed;
    expect(best.length).toBe(4);
    expect(Math.max(...best.map(({ rank }) => rank))).toBeLessThan(first('state', false, 1).listed[0].rank);
    const names = grid.probe.destinations;
    const last = names.indexOf([...names].sort().at(-1)!);
    expect(cells('destination', false, 3).every((cell) => cell % 12 === last)).toBe(true);
    const lowest = names.indexOf([...names].sort()[0]);
    expect(cells('destination', true, 3).every((cell) => cell % 12 === lowest)).toBe(true);
  });
  it('has pairs without a measurement last in either order', () => {
    const unmeasured = cells('value', false, 132).filter((cell) => grid.values[cell] === 0).length;
    for (const up of [true, false]) {
      const values = cells('value', up, 132).map((cell) => grid.values[cell]);
      expect(values.length).toBe(132);
      expect(values.slice(132 - unmeasured).every((value) => value === 0)).toBe(true);
      const measured = values.slice(0, 132 - unmeasured);
      expect(measured).toEqual([...measured].sort((a, b) => (up ? a - b : b - a)));
    }
  });
});

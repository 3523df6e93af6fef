import { describe, expect, it } from 'vitest';
import { Grid, type Probe } from '../src/model';
import { orderOf } from '../src/order';
import { Ranks } from '../src/ranks';
import { blocksOf, sightOf } from '../src/roll_up';
import { className, NO_LIMITS } from '../src/severity';

const HOSTS = ['a', 'b', 'c', 'd'];
const PROBE: Probe = { name: 'mesh', protocol: 'udp', paths: 1, interval_ns: 1, timeout_ns: 1, window_ns: 1, thresholds: {}, sources: HOSTS, destinations: HOSTS };
const RACKS = { rack: { a: 'r1', b: 'r1', c: 'r2', d: 'r2' } };

describe('the mesh by racks', () => {
  const grid = new Grid(PROBE, ['ok', 'loss'], ['none', 'ok', 'slow', 'very slow', 'lossy', 'down']);
  const OK = 0 | (1 << 4);
  for (let row = 0; row < 4; ++row) {
    const cells = Uint8Array.from(HOSTS, (_, column) => (row === column ? 255 : row === 0 && column === 3 ? 1 | (4 << 4) : OK));
    grid.setRow(row, cells, new Uint8Array(4).fill(50), 1);
  }
  const order = orderOf(HOSTS, 'rack', (name) => name, RACKS);
  const blocks = blocksOf(new Ranks(grid, order, order, { ...NO_LIMITS, judged: true }));

  it('counts the pairs of two racks, and those that are bad', () => {
    expect(blocks.map((line) => line.map(({ pairs, bad }) => [pairs, bad]))).toEqual([[[2, 0], [4, 1]], [[4, 0], [2, 0]]]);
    expect(className(blocks[0][1].worst)).toBe('lossy');
    expect(className(blocks[0][0].worst)).toBe('ok');
  });
  it('leads to the pairs of two racks', () => {
    expect(sightOf(order.groups[0], order.groups[1], 4, 4)).toEqual({ zoom: 2, row: 1, column: 3 });
  });
});

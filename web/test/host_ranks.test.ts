import { describe, expect, it } from 'vitest';
import { rankHosts } from '../src/host_ranks';
import type { Incident } from '../src/incident';
import { Grid, type Probe } from '../src/model';
import { orderOf } from '../src/order';
import { Ranks } from '../src/ranks';
import { NO_LIMITS } from '../src/severity';
import { NOT_A_PAIR } from '../src/states';

const STATES = ['ok', 'loss'];

function ranksOf(hosts: number, isBad: (source: number, destination: number) => boolean): Ranks {
  const addresses = Array.from({ length: hosts }, (_, i) => `host-${i}`);
  const grid = new Grid({ sources: addresses, destinations: addresses } as unknown as Probe, STATES);
  for (let row = 0; row < hosts; ++row) {
    grid.setRow(row, Uint8Array.from(addresses, (_, column) => (row === column ? NOT_A_PAIR : Number(isBad(row, column)))),
      new Uint8Array(hosts).fill(9), 0);
  }
  // Rows and columns in different orders must not be mixed up.
  const [rows, columns] = ['address', 'name'].map((by) => orderOf(addresses, by, (address) => String(1000 - Number(address.slice(5))), {}));
  return new Ranks(grid, rows, columns, NO_LIMITS);
}

const ranked = (ranks: Ranks, open: Incident[] = []) => {
  const { hosts, others, otherBad } = rankHosts(ranks, open, (address) => address);
  return [hosts.map(({ address, sends, receives }) => [address, sends.bad, receives.bad]), others, otherBad];
};

describe('the ranking of hosts', () => {
  it('has one line for one bad host of many', () => {
    expect(ranked(ranksOf(60, (from, to) => from === 7 || to === 7))).toEqual([[['host-7', 59, 59]], 59, 0]);
  });
  it('tells hosts that send badly from those that receive badly', () => {
    expect(ranked(ranksOf(30, (from, to) => from === 3 || to === 20))).toEqual([[['host-3', 29, 0], ['host-20', 0, 29]], 28, 0]);
  });
  it('counts single pairs without accusing their ends', () => {
    expect(ranked(ranksOf(40, (from, to) => from === 5 && to === 6))).toEqual([[], 40, 1]);
  });
  it('lists every host of an incident first', () => {
    const open = [{ kind: 'host', culprit: 'host-9' } as Incident];
    const [hosts] = ranked(ranksOf(30, (from, to) => from === 3 || to === 3), open);
    expect(hosts).toEqual([['host-9', 1, 1], ['host-3', 29, 29]]);
  });
});

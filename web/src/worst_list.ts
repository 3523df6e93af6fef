// Finds the first pairs of a mesh by a column.

import { NOT_MEASURED } from './metrics';
import type { Grid } from './model';
import type { Ranks } from './ranks';

export type Column = 'source' | 'destination' | 'state' | 'value';
export interface Sort { column: Column; up: boolean }
export interface Listed { cell: number; rank: number }

const MOST_RANKS = 1 << 12;
const MOST_CODES = 1 << 8;

// Returns each host's place in the order of names.
function placesOf(addresses: string[], nameOf: (address: string) => string): number[] {
  const names = addresses.map(nameOf);
  const order = names.map((_, at) => at).sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
  const places: number[] = [];
  order.forEach((of, place) => { places[of] = place; });
  return places;
}

// Returns a small key for each pair; the pair with the largest key comes first. Pairs without a
// measurement come last in either direction.
export function keyOf(grid: Grid, { column, up }: Sort, nameOf: (address: string) => string): (cell: number, rank: number) => number {
  const { columns, values, probe } = grid;
  const turned = (key: number, most: number) => (up ? most - key : key + 1);
  if (column === 'state') return (_, rank) => turned(rank, MOST_RANKS);
  if (column === 'value') return (cell) => (values[cell] === NOT_MEASURED ? 0 : turned(values[cell], MOST_CODES));
  const places = placesOf(column === 'source' ? probe.sources : probe.destinations, nameOf);
  const place = column === 'source' ? (cell: number) => places[Math.floor(cell / columns)] : (cell: number) => places[cell % columns];
  return (cell) => turned(place(cell), places.length);
}

// Returns the first `most` of the wanted pairs by their keys, the worse first among equals, and the
// number of all wanted pairs. Counting the keys first avoids sorting millions of pairs: only pairs
// above the key of the last place are sorted, and as many with that key as still have room.
export function firstIn({ levels, rowOrder, columnOrder }: Ranks, key: (cell: number, rank: number) => number, most: number,
  wanted: (source: number, destination: number, rank: number) => boolean): { listed: Listed[]; all: number } {
  const { ranks, columns, rows } = levels[0];
  const visit = (take: (cell: number, rank: number) => void) => {
    for (let row = 0; row < rows; ++row) {
      const source = rowOrder.at[row];
      for (let column = 0; column < columns; ++column) {
        const rank = ranks[row * columns + column];
        const destination = columnOrder.at[column];
        if (rank !== 0 && wanted(source, destination, rank)) take(source * columns + destination, rank);
      }
    }
  };
  const counts = new Uint32Array(1 << 16);
  let all = 0;
  visit((cell, rank) => {
    counts[key(cell, rank)] += 1;
    all += 1;
  });
  let least = counts.length - 1;
  let above = 0;
  for (; least > 0 && above + counts[least] < most; --least) above += counts[least];
  let room = most - above;
  const listed: (Listed & { key: number })[] = [];
  visit((cell, rank) => {
    const at = key(cell, rank);
    if (at > least || (at === least && room-- > 0)) listed.push({ cell, rank, key: at });
  });
  listed.sort((a, b) => b.key - a.key || b.rank - a.rank || a.cell - b.cell);
  return { listed, all };
}

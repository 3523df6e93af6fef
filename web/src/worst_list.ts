// Finds the worst pairs.

import type { Ranks } from './ranks';

export interface Listed { cell: number; rank: number }

// The `most` worst pairs that `wanted` lets through, and how many it lets through. A rank is one of a few thousand
// numbers: counting them first saves sorting millions.
export function worstIn({ levels, rowOrder, columnOrder }: Ranks, most: number,
  wanted: (source: number, destination: number) => boolean): { listed: Listed[]; all: number } {
  const { ranks, columns, rows } = levels[0];
  const cellAt = (at: number) => rowOrder.at[Math.floor(at / columns)] * columns + columnOrder.at[at % columns];
  const passes = (at: number) => ranks[at] !== 0
    && wanted(rowOrder.at[Math.floor(at / columns)], columnOrder.at[at % columns]);
  const counts = new Uint32Array(1 << 12);
  let all = 0;
  for (let at = 0; at < rows * columns; ++at) {
    if (!passes(at)) continue;
    counts[ranks[at]] += 1;
    all += 1;
  }
  let least = counts.length - 1;
  for (let sum = counts[least]; least > 1 && sum < most;) sum += counts[--least];
  const listed: Listed[] = [];
  for (let at = 0; at < rows * columns; ++at) {
    if (ranks[at] >= least && passes(at)) listed.push({ cell: cellAt(at), rank: ranks[at] });
  }
  listed.sort((a, b) => b.rank - a.rank || a.cell - b.cell);
  return { listed: listed.slice(0, most), all };
}

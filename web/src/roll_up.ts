// The mesh by groups: for each group of sources and each group of destinations the number of bad pairs and the worst of them.

import type { Group } from './order';
import type { Ranks } from './ranks';
import { UNJUDGED } from './severity';
import { EVERYTHING, type Sight } from './viewport';

export interface Block { pairs: number; bad: number; worst: number } // worst: a rank

// Returns a block for each pair of groups, row by row.
export function blocksOf({ rowOrder, columnOrder, levels: [{ ranks, columns }] }: Ranks): Block[][] {
  return rowOrder.groups.map((rows) => columnOrder.groups.map((across) => {
    const block = { pairs: 0, bad: 0, worst: 0 };
    for (let row = rows.from; row < rows.to; ++row) {
      for (let at = row * columns + across.from; at < row * columns + across.to; ++at) {
        const rank = ranks[at];
        if (rank === 0) continue;
        block.pairs += 1;
        if (rank >> 8 > UNJUDGED) block.bad += 1;
        block.worst = Math.max(block.worst, rank);
      }
    }
    return block;
  }));
}

// Returns the part of the map that shows two groups. `rows` and `columns` are those of the mesh.
export function sightOf(from: Group, to: Group, rows: number, columns: number): Sight {
  const zoom = Math.min(rows / (from.to - from.from), columns / (to.to - to.from));
  return zoom > 1 ? { zoom, row: (from.from + from.to) / 2, column: (to.from + to.to) / 2 } : EVERYTHING;
}

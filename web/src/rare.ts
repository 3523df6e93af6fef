// Enlarges rare bad cells of an overview, which would be too small to be seen.

import { css } from './palette';
import type { Scene } from './scene';
import { UNJUDGED } from './severity';
import type { Place, Viewport } from './viewport';

const SMALLEST = 4; // pixels
const MOST = 3000; // more bad cells than this are not rare

// Paints the worst cells last. `from` and `to` are the first and last visible places.
export function paintRare(context: CanvasRenderingContext2D, view: Viewport, { ranks, palette }: Scene, from: Place, to: Place) {
  const size = 2 ** view.level;
  if (Math.min(view.cellWidth, view.cellHeight) * size >= SMALLEST) return;
  const level = ranks.levels[Math.min(view.level, ranks.levels.length - 1)];
  const found: { rank: number; row: number; column: number }[] = [];
  for (let row = Math.floor(from.row / size); row * size <= to.row; ++row) {
    for (let column = Math.floor(from.column / size); column * size <= to.column; ++column) {
      const rank = level.ranks[row * level.columns + column];
      if (rank >> 8 <= UNJUDGED) continue;
      if (found.length === MOST) return;
      found.push({ rank, row, column });
    }
  }
  found.sort((a, b) => a.rank - b.rank);
  for (const { rank, row, column } of found) {
    context.fillStyle = css(palette.of(rank));
    context.fillRect(view.xOf((column + 0.5) * size) - SMALLEST / 2, view.yOf((row + 0.5) * size) - SMALLEST / 2, SMALLEST, SMALLEST);
  }
}

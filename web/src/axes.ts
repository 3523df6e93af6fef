// Writes the names along the heatmap: the hosts' names where there is room, else the groups' names.

import { shortened } from './format';
import type { Order } from './order';
import type { Scene } from './scene';
import { STRIP, type Viewport } from './viewport';

type Context = CanvasRenderingContext2D;

export const LABEL_FONT = '11.5px system-ui, sans-serif';
const LABEL_SPACE = 12; // pixels between two lines of labels
const SLANTED_LABEL_SPACE = 17;
export const LONGEST_LABEL = 40; // characters
const WIDEST_GROUP = 130; // pixels

interface Named { text: string; at: number; chosen: boolean } // at: in cells

// Whether the axis names groups, because the hosts' names have no room.
export function isGrouped(order: Order, cell: number): boolean {
  return order.groups.length > 1 && cell < LABEL_SPACE;
}

// Returns the names to write: every host's, every n-th host's, or the groups' when cells are small.
function namesOf(order: Order, labels: string[], cell: number, space: number, from: number, to: number,
  chosen: number | undefined, widthOf: (group: string) => number): Named[] {
  const names: Named[] = [];
  if (isGrouped(order, cell)) {
    let taken = -Infinity; // the end of the last name, in cells
    for (const { name, from: first, to: end } of order.groups) {
      const at = (Math.max(first, from) + Math.min(end, to)) / 2;
      const text = shortened(name, LONGEST_LABEL) || 'others';
      const half = widthOf(text) / 2 / cell;
      if (end <= from || first >= to || at - half < taken) continue;
      names.push({ text, at, chosen: false });
      taken = at + half;
    }
  } else {
    const every = Math.max(1, Math.ceil(space / cell));
    for (let at = Math.ceil(from / every) * every; at < to; at += every) {
      names.push({ text: labels[at], at: at + 0.5, chosen: false });
    }
  }
  if (chosen === undefined || chosen < from - 1 || chosen >= to) return names;
  const apart = names.filter(({ at }) => Math.abs(at - chosen - 0.5) * cell >= space);
  return [...apart, { text: labels[chosen], at: chosen + 0.5, chosen: true }];
}

// Text that is too wide is condensed, and shortened below this ratio so that it stays legible.
const NARROWEST = 0.75;

function paintText(context: Context, text: string, x: number, y: number, width: number) {
  const part = width / NARROWEST / context.measureText(text).width;
  context.fillText(part >= 1 ? text : shortened(text, Math.max(2, Math.floor(part * text.length))), x, y, width);
}

export function paintRowLabels(context: Context, view: Viewport, { ranks, labels, palette }: Scene,
  chosen: number | undefined) {
  context.font = LABEL_FONT;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  const to = Math.min(view.rows, view.y + view.plotHeight / view.cellHeight);
  for (const { text, at, chosen: strong } of namesOf(ranks.rowOrder, labels.rows, view.cellHeight, LABEL_SPACE, view.y, to,
    chosen, () => LABEL_SPACE)) {
    context.fillStyle = strong ? palette.theme.ink : palette.theme.quietInk;
    paintText(context, text, view.left - STRIP - 7, view.yOf(at), view.left - STRIP - 9);
  }
}

const SLANT = Math.PI / 3.2;

// Returns the address whose label is at a point beside the map; null where there is none, or where
// the labels name groups.
export function labelledAt(view: Viewport, { ranks, grid }: Scene, x: number, y: number): string | null {
  const left = x < view.left - STRIP && y >= view.top;
  if (!left && (y > view.top - STRIP || x < view.left)) return null;
  const along = left ? (y - view.yOf(0)) / view.cellHeight
    : (x - (view.slanted ? (view.top - STRIP - 8 - y) / Math.tan(SLANT) : 0) - view.xOf(0)) / view.cellWidth;
  const [order, addresses, cell] = left ? [ranks.rowOrder, grid.probe.sources, view.cellHeight] as const
    : [ranks.columnOrder, grid.probe.destinations, view.cellWidth] as const;
  return isGrouped(order, cell) ? null : addresses[order.at[Math.floor(along)]] ?? null;
}

export function paintColumnLabels(context: Context, view: Viewport, { ranks, labels, palette }: Scene,
  chosen: number | undefined) {
  const space = view.slanted ? SLANTED_LABEL_SPACE : LABEL_SPACE;
  const to = Math.min(view.columns, view.x + view.plotWidth / view.cellWidth);
  context.font = LABEL_FONT;
  for (const { text, at, chosen: strong } of namesOf(ranks.columnOrder, labels.columns, view.cellWidth, space, view.x, to,
    chosen, (group) => Math.min(WIDEST_GROUP, context.measureText(group).width) + 8)) {
    context.fillStyle = strong ? palette.theme.ink : palette.theme.quietInk;
    context.save();
    context.translate(view.xOf(at), view.top - STRIP - 8);
    const level = isGrouped(ranks.columnOrder, view.cellWidth) && !strong;
    const slanted = view.slanted && !level;
    if (slanted) context.rotate(-SLANT);
    context.textAlign = slanted ? 'left' : 'center';
    paintText(context, text, 0, 0, slanted || level ? WIDEST_GROUP : view.cellWidth - 4);
    context.restore();
  }
}

// Draws one probe's grid: rows are sources, columns destinations. Owns the canvas; told what to
// show by map.tsx.

import type { Grid, Metric } from './model';
import { Layout, type Place } from './layout';
import { drawMark } from './marks';
import { css, inkOn, type Palette, type Rgb } from './palette';
import type { Scale } from './scale';
import { unitOf } from './shown';
import { severityOf } from './states';
import { humanRatio, threeDigits } from './format';

const FONT = '11.5px system-ui, sans-serif';
const CELL_FONT = '12px system-ui, sans-serif';
const PLAIN_BELOW = 6; // pixels: smaller cells are colour alone, written as pixels

export interface Labels { rows: string[]; columns: string[] }

export class Heatmap {
  readonly context: CanvasRenderingContext2D;
  grid!: Grid; // REQUIRES show() before anything else
  metric!: Metric;
  palette!: Palette;
  labels!: Labels;
  severities: number[] = [];
  scale!: Scale;
  layout!: Layout;
  cursor: number | null = null; // cell number
  held: number | null = null; // cell number

  constructor(readonly canvas: HTMLCanvasElement, readonly stage: HTMLElement) {
    this.context = canvas.getContext('2d')!;
  }

  show(grid: Grid, metric: Metric, palette: Palette, scale: Scale, labels: Labels) {
    this.grid = grid;
    this.metric = metric;
    this.palette = palette;
    this.scale = scale;
    this.labels = labels;
    this.severities = grid.stateNames.map(severityOf);
    this.resize();
  }

  resize() {
    this.context.font = FONT;
    const widest = Math.max(0, ...[...this.labels.rows, ...this.labels.columns].map(
      (label) => this.context.measureText(label).width));
    const box = this.stage.getBoundingClientRect();
    this.layout = new Layout(this.grid.rows, this.grid.columns, box.width,
      window.innerHeight - box.top - 48, Math.min(widest, 190));
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.layout.width * ratio);
    this.canvas.height = Math.round(this.layout.height * ratio);
    this.canvas.style.width = `${this.layout.width}px`;
    this.canvas.style.height = `${this.layout.height}px`;
    this.canvas.dataset.rows = String(this.grid.rows);
    this.canvas.dataset.columns = String(this.grid.columns);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint();
  }

  paint() {
    const { context, layout } = this;
    context.clearRect(0, 0, layout.width, layout.height);
    this.canvas.dataset.pairs = String(this.grid.pairs());
    this.canvas.dataset.pool = String(layout.pool);
    this.paintBand();
    if (Math.min(layout.cellWidth, layout.cellHeight) < PLAIN_BELOW) {
      this.paintPixels();
    } else {
      this.paintCells();
    }
    this.paintLabels();
    this.paintOutline(this.held, 2);
    this.paintOutline(this.cursor, this.held === this.cursor ? 2 : 1.5);
  }

  // The cell that a display cell shows: the worst of its block, -1 where none is a pair.
  worstOf(displayRow: number, displayColumn: number): number {
    const { pool } = this.layout;
    const { rows, columns, states } = this.grid;
    if (pool === 1) return displayRow * columns + displayColumn;
    const value = this.grid.values[this.metric.id];
    let worst = -1;
    let rank = -1;
    for (let row = displayRow * pool; row < Math.min(rows, (displayRow + 1) * pool); ++row) {
      const end = Math.min(columns, (displayColumn + 1) * pool);
      for (let column = displayColumn * pool; column < end; ++column) {
        const cell = row * columns + column;
        const severity = this.severities[states[cell]];
        if (severity === undefined) continue; // not a pair
        const cellRank = severity * 1e12 + (value[cell] >= 0 ? Math.min(value[cell], 1e11) : 0);
        if (cellRank > rank) [worst, rank] = [cell, cellRank];
      }
    }
    return worst;
  }

  colourOf(cell: number): Rgb {
    return this.palette.cellColour(this.grid.stateName(cell),
      this.grid.values[this.metric.id][cell], this.grid.values.loss[cell], this.scale);
  }

  paintCells() {
    const { layout } = this;
    for (let row = 0; row < layout.displayRows; ++row) {
      for (let column = 0; column < layout.displayColumns; ++column) {
        const cell = this.worstOf(row, column);
        if (cell >= 0 && this.grid.isPair(cell)) this.paintCell(cell, row, column);
      }
    }
  }

  paintCell(cell: number, row: number, column: number) {
    const { context, layout } = this;
    const [x, y] = [layout.x(column), layout.y(row)];
    const [width, height] = [layout.cellWidth - layout.gap, layout.cellHeight - layout.gap];
    const colour = this.colourOf(cell);
    const state = this.grid.stateName(cell);
    context.fillStyle = css(colour);
    context.fillRect(x, y, width, height);
    const text = layout.writable ? this.cellText(cell, state) : '';
    const ink = inkOn(colour);
    if (text === '') {
      drawMark(context, state, x, y, width, height, this.palette.theme, ink);
      return;
    }
    context.font = CELL_FONT;
    context.fillStyle = ink;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillText(text, x + width / 2, y + height / 2 + 0.5);
  }

  // What is written into a roomy cell; loss keeps its mark in front.
  cellText(cell: number, state: string): string {
    if (state === 'loss') return `×${this.ratioText(this.grid.values.loss[cell])}`;
    if (state !== 'ok') return '';
    const value = this.grid.values[this.metric.id][cell];
    if (Number.isNaN(value)) return '–';
    if (this.scale.isLoss) return value === 0 ? '0' : this.ratioText(value);
    return threeDigits(value / unitOf(this.scale).size);
  }

  ratioText(ratio: number): string {
    return humanRatio(ratio).replace(' ', '');
  }

  paintPixels() {
    const { context, layout } = this;
    const image = context.createImageData(layout.displayColumns, layout.displayRows);
    for (let row = 0; row < layout.displayRows; ++row) {
      for (let column = 0; column < layout.displayColumns; ++column) {
        const cell = this.worstOf(row, column);
        if (cell < 0 || !this.grid.isPair(cell)) continue;
        image.data.set([...this.colourOf(cell), 255], 4 * (row * layout.displayColumns + column));
      }
    }
    const small = new OffscreenCanvas(layout.displayColumns, layout.displayRows);
    small.getContext('2d')!.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, layout.left, layout.top,
      layout.displayColumns * layout.cellWidth, layout.displayRows * layout.cellHeight);
  }

  // Row and column of the cursor.
  paintBand() {
    const place = this.displayPlace(this.cursor);
    if (!place) return;
    const { context, layout } = this;
    context.fillStyle = this.palette.theme.band;
    context.fillRect(0, layout.y(place.row), layout.width, layout.cellHeight);
    context.fillRect(layout.x(place.column), layout.top - 6, layout.cellWidth,
      layout.displayRows * layout.cellHeight + 6);
  }

  paintLabels() {
    const { context, layout, labels } = this;
    const place = this.displayPlace(this.cursor);
    context.font = FONT;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (let row = 0; row < layout.displayRows; ++row) {
      const chosen = place?.row === row;
      if (!chosen && (row % layout.rowLabelEvery !== 0 || this.crowds(place?.row, row,
        layout.rowLabelEvery))) continue;
      const label = labels.rows[chosen ? this.rowOf(this.cursor!) : row * layout.pool];
      context.fillStyle = chosen ? this.palette.theme.ink : this.palette.theme.quietInk;
      context.fillText(label, layout.left - 6, layout.y(row) + layout.cellHeight / 2,
        layout.left - 8);
    }
    for (let column = 0; column < layout.displayColumns; ++column) {
      const chosen = place?.column === column;
      if (!chosen && (column % layout.columnLabelEvery !== 0 || this.crowds(place?.column, column,
        layout.columnLabelEvery))) continue;
      const label = labels.columns[chosen ? this.columnOf(this.cursor!) : column * layout.pool];
      context.fillStyle = chosen ? this.palette.theme.ink : this.palette.theme.quietInk;
      this.paintColumnLabel(label, layout.x(column) + layout.cellWidth / 2);
    }
  }

  crowds(chosen: number | undefined, at: number, every: number): boolean {
    return chosen !== undefined && every > 1 && Math.abs(chosen - at) < every;
  }

  paintColumnLabel(label: string, x: number) {
    const { context, layout } = this;
    context.save();
    context.translate(x, layout.top - 8);
    if (layout.slanted) context.rotate(-Math.PI / 3.2);
    context.textAlign = layout.slanted ? 'left' : 'center';
    context.fillText(label, 0, 0, layout.slanted ? 135 : layout.cellWidth - 4);
    context.restore();
  }

  paintOutline(cell: number | null, width: number) {
    const place = this.displayPlace(cell);
    if (!place) return;
    const { context, layout } = this;
    context.strokeStyle = this.palette.theme.focus;
    context.lineWidth = width;
    context.strokeRect(layout.x(place.column) - 0.5, layout.y(place.row) - 0.5,
      Math.max(layout.cellWidth, 4), Math.max(layout.cellHeight, 4));
  }

  rowOf(cell: number): number {
    return Math.floor(cell / this.grid.columns);
  }

  columnOf(cell: number): number {
    return cell % this.grid.columns;
  }

  displayPlace(cell: number | null): Place | null {
    if (cell === null) return null;
    const { pool } = this.layout;
    return {
      row: Math.floor(this.rowOf(cell) / pool),
      column: Math.floor(this.columnOf(cell) / pool),
    };
  }

  // The pair under a point of the canvas, or null.
  cellAt(x: number, y: number): number | null {
    const place = this.layout.at(x, y);
    if (!place) return null;
    const cell = this.worstOf(place.row, place.column);
    return cell >= 0 && this.grid.isPair(cell) ? cell : null;
  }

  // The next pair from `cell` in a direction, by display cells; `cell` itself at the edge.
  cellBeside(cell: number | null, downwards: number, rightwards: number): number | null {
    const place = this.displayPlace(cell) ?? { row: 0, column: -1 };
    let { row, column } = place;
    for (;;) {
      row += downwards;
      column += rightwards;
      const inside = row >= 0 && column >= 0 && row < this.layout.displayRows
        && column < this.layout.displayColumns;
      if (!inside) return cell;
      const next = this.worstOf(row, column);
      if (next >= 0 && this.grid.isPair(next)) return next;
    }
  }

  // The middle of a cell on the canvas, for tests and for the pointer.
  middleOf(cell: number): { x: number; y: number } {
    const place = this.displayPlace(cell)!;
    return {
      x: this.layout.x(place.column) + this.layout.cellWidth / 2,
      y: this.layout.y(place.row) + this.layout.cellHeight / 2,
    };
  }
}

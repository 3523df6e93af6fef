// Draws one probe's grid: rows are sources, columns are destinations. Owns the canvas; map.tsx says
// what to show.

import { LABEL_FONT, paintColumnLabels, paintRowLabels } from './axes';
import { drawMark } from './marks';
import { humanCode, NOT_MEASURED } from './metrics';
import type { Grid } from './model';
import { css, inkOn } from './palette';
import { paintRare } from './rare';
import type { Scene } from './scene';
import { className } from './severity';
import { type Place, STRIP, Viewport } from './viewport';

const CELL_FONT = '12px system-ui, sans-serif';
const SHAPED_FROM = 7; // pixels; smaller cells have no gaps, marks or values
// Cells of these classes show their value instead of their mark where there is room, cells of loss
// only a share.
const VALUED = ['ok', 'slow', 'very slow', 'unjudged'];
const LOST = ['loss', 'lossy', 'down'];

export class Heatmap {
  readonly context: CanvasRenderingContext2D;
  private readonly pixels = document.createElement('canvas');
  private image: ImageData | null = null;
  scene!: Scene; // REQUIRES show() before anything else
  view!: Viewport;
  cursor: number | null = null; // cell of the grid
  held: number | null = null;

  constructor(readonly canvas: HTMLCanvasElement, readonly stage: HTMLElement) {
    this.context = canvas.getContext('2d')!;
  }

  get grid(): Grid {
    return this.scene.grid;
  }

  show(scene: Scene) {
    const same = this.scene?.grid === scene.grid && this.scene.ranks.columnOrder.at === scene.ranks.columnOrder.at;
    this.scene = scene;
    if (!same || this.canvas.width === 0) this.resize();
  }

  resize() {
    const { grid, labels } = this.scene;
    this.context.font = LABEL_FONT;
    const longest = [...labels.rows, ...labels.columns].reduce((a, b) => (b.length > a.length ? b : a), '');
    const widest = this.context.measureText(longest.slice(0, 60)).width;
    const box = this.stage.getBoundingClientRect();
    const height = Math.max(240, Math.min(window.innerHeight - Math.max(box.top + window.scrollY, 0) - 92,
      window.innerHeight * 0.85));
    this.view = new Viewport(grid.rows, grid.columns, box.width, height, Math.min(widest, 170),
      this.scene.ranks.columnOrder.groups.length > 1);
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.view.width * ratio);
    this.canvas.height = Math.round(this.view.height * ratio);
    this.canvas.style.height = `${this.view.height}px`;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  paint() {
    const { context, view, scene } = this;
    const { dataset } = this.canvas;
    [dataset.rows, dataset.columns] = [String(scene.grid.rows), String(scene.grid.columns)];
    [dataset.pairs, dataset.level] = [String(scene.ranks.pairs()), String(view.level)];
    this.letFingersBy();
    context.clearRect(0, 0, view.width, view.height);
    this.paintBand();
    this.clipped(() => {
      this.paintPixels();
      const [from, to] = this.inSight();
      paintRare(context, view, scene, from, to);
      if (Math.min(view.cellWidth, view.cellHeight) >= SHAPED_FROM) this.paintShapes();
      this.paintGroups();
      this.paintOutline(this.held, 2);
      this.paintOutline(this.cursor, 1.5);
    });
    this.paintSummaries();
    const at = this.placeOf(this.cursor);
    paintRowLabels(context, view, scene, at?.row);
    paintColumnLabels(context, view, scene, at?.column);
    dataset.painted = String(Number(dataset.painted ?? 0) + 1);
  }

  // One finger scrolls the page while the whole map is visible, and moves the map otherwise. Two
  // fingers zoom the map, or the page where the map has nothing to zoom into.
  private letFingersBy() {
    const { zoom, largestZoom } = this.view;
    this.canvas.style.touchAction = zoom > 1 ? 'none' : largestZoom > 1 ? 'pan-y' : 'pan-y pinch-zoom';
  }

  private clipped(draw: () => void) {
    const { context, view } = this;
    context.save();
    context.beginPath();
    context.rect(view.left - 1, view.top - 1, view.plotWidth + 2, view.plotHeight + 2);
    context.clip();
    draw();
    context.restore();
  }

  // Paints the visible cells of the pyramid's level as a pixel each, then scales that image to the
  // size of the cells.
  private paintPixels() {
    const { context, view, scene: { ranks, palette } } = this;
    const level = ranks.levels[Math.min(view.level, ranks.levels.length - 1)];
    const size = 2 ** view.level;
    const [left, top] = [Math.floor(view.x / size), Math.floor(view.y / size)];
    const columns = Math.min(level.columns, Math.ceil((view.x + view.plotWidth / view.cellWidth) / size)) - left;
    const rows = Math.min(level.rows, Math.ceil((view.y + view.plotHeight / view.cellHeight) / size)) - top;
    if (columns <= 0 || rows <= 0) return;
    if (this.image?.width !== columns || this.image.height !== rows) {
      [this.pixels.width, this.pixels.height] = [columns, rows];
      this.image = new ImageData(columns, rows);
    }
    const out = new Uint32Array(this.image.data.buffer);
    for (let row = 0; row < rows; ++row) {
      const from = (top + row) * level.columns + left;
      for (let column = 0; column < columns; ++column) {
        out[row * columns + column] = palette.pixels[level.ranks[from + column]];
      }
    }
    this.pixels.getContext('2d')!.putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.pixels, view.xOf(left * size), view.yOf(top * size),
      columns * size * view.cellWidth, rows * size * view.cellHeight);
  }

  // Paints gaps, marks and values. REQUIRES cells of at least SHAPED_FROM.
  private paintShapes() {
    const { context, view } = this;
    const [from, to] = this.inSight();
    context.fillStyle = this.scene.palette.theme.page;
    for (let row = from.row; row <= to.row; ++row) context.fillRect(view.left, view.yOf(row + 1) - 1, view.plotWidth, 1);
    for (let column = from.column; column <= to.column; ++column) {
      context.fillRect(view.xOf(column + 1) - 1, view.top, 1, view.plotHeight);
    }
    const { ranks, columns } = this.scene.ranks.levels[0];
    for (let row = from.row; row <= to.row; ++row) {
      for (let column = from.column; column <= to.column; ++column) {
        const rank = ranks[row * columns + column];
        if (rank !== 0) this.paintShape(rank, view.xOf(column), view.yOf(row));
      }
    }
  }

  private paintShape(rank: number, x: number, y: number) {
    const { context, view, scene: { metric, palette } } = this;
    const [width, height] = [view.cellWidth - 1, view.cellHeight - 1];
    const state = className(rank);
    const ink = inkOn(palette.of(rank));
    const valued = VALUED.includes(state) || (LOST.includes(state) && metric.unit === 'ratio');
    if (!view.writable || !valued || (rank & 255) === NOT_MEASURED) {
      drawMark(context, state, x, y, width, height, palette.theme, ink);
      return;
    }
    context.font = CELL_FONT;
    context.fillStyle = ink;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillText(humanCode(metric, rank & 255), x + width / 2, y + height / 2 + 0.5, width);
  }

  private inSight(): [Place, Place] {
    const { view } = this;
    return [{ row: Math.floor(view.y), column: Math.floor(view.x) },
      { row: Math.min(view.rows, Math.ceil(view.y + view.plotHeight / view.cellHeight)) - 1,
        column: Math.min(view.columns, Math.ceil(view.x + view.plotWidth / view.cellWidth)) - 1 }];
  }

  private paintGroups() {
    const { context, view, scene: { ranks, palette } } = this;
    context.fillStyle = palette.theme.quietInk;
    // Lines closer together than this would cover the cells between them.
    const groups = Math.max(ranks.rowOrder.groups.length, ranks.columnOrder.groups.length);
    if (Math.min(view.rows * view.cellHeight, view.columns * view.cellWidth) < 14 * groups) return;
    for (const { from } of ranks.rowOrder.groups.slice(1)) context.fillRect(view.left, view.yOf(from) - 1, view.plotWidth, 1);
    for (const { from } of ranks.columnOrder.groups.slice(1)) {
      context.fillRect(view.xOf(from) - 1, view.top, 1, view.plotHeight);
    }
  }

  // Paints a strip next to each row and column that summarises its pairs: the two strips of a bad
  // host stand out.
  private paintSummaries() {
    const { context, view, scene: { ranks, palette } } = this;
    const size = 2 ** view.level;
    const paint = (lines: typeof ranks.rowLines, first: number, end: number, draw: (line: number) => void) => {
      for (let block = Math.floor(first / size) * size; block < end; block += size) {
        let worst = 0;
        for (let line = block; line < Math.min(block + size, end); ++line) worst = Math.max(worst, lines.rank(line));
        if (worst === 0) continue;
        context.fillStyle = css(palette.of(worst));
        draw(block);
      }
    };
    const [from, to] = this.inSight();
    const gap = Math.min(view.cellWidth, view.cellHeight) >= SHAPED_FROM ? 1 : 0;
    paint(ranks.rowLines, from.row, to.row + 1, (row) => {
      const y = Math.max(view.top, view.yOf(row));
      context.fillRect(view.left - STRIP - 2, y, STRIP - 2,
        Math.min(view.yOf(row + size) - gap, view.top + view.plotHeight) - y);
    });
    paint(ranks.columnLines, from.column, to.column + 1, (column) => {
      const x = Math.max(view.left, view.xOf(column));
      context.fillRect(x, view.top - STRIP - 2, Math.min(view.xOf(column + size) - gap, view.left + view.plotWidth) - x,
        STRIP - 2);
    });
  }

  // Paints a band behind the labels of the cursor's row and column.
  private paintBand() {
    const at = this.placeOf(this.cursor);
    if (!at) return;
    const { context, view } = this;
    context.fillStyle = this.scene.palette.theme.band;
    context.fillRect(0, view.yOf(at.row), view.left, Math.max(view.cellHeight, 3));
    context.fillRect(view.xOf(at.column), 0, Math.max(view.cellWidth, 3), view.top);
  }

  private paintOutline(cell: number | null, width: number) {
    const at = this.placeOf(cell);
    if (!at) return;
    const { context, view } = this;
    context.strokeStyle = this.scene.palette.theme.focus;
    context.lineWidth = width;
    context.strokeRect(view.xOf(at.column) - 0.5, view.yOf(at.row) - 0.5, Math.max(view.cellWidth, 4),
      Math.max(view.cellHeight, 4));
  }

  placeOf(cell: number | null): Place | null {
    if (cell === null) return null;
    const { ranks, grid } = this.scene;
    return { row: ranks.rowOrder.placeOf[Math.floor(cell / grid.columns)],
      column: ranks.columnOrder.placeOf[cell % grid.columns] };
  }

  private cellFrom({ row, column }: Place): number {
    const { ranks, grid } = this.scene;
    return ranks.rowOrder.at[row] * grid.columns + ranks.columnOrder.at[column];
  }

  // Returns the worst pair of the display cell at a place, null where that cell has no pair.
  worstAt(place: Place): number | null {
    const { ranks, columns, rows } = this.scene.ranks.levels[0];
    const size = 2 ** this.view.level;
    const [top, left] = [Math.floor(place.row / size) * size, Math.floor(place.column / size) * size];
    let worst: Place | null = null;
    let most = 0;
    for (let row = top; row < Math.min(rows, top + size); ++row) {
      for (let column = left; column < Math.min(columns, left + size); ++column) {
        if (ranks[row * columns + column] > most) [most, worst] = [ranks[row * columns + column], { row, column }];
      }
    }
    return worst && this.cellFrom(worst);
  }

  // Returns the pair under a point of the canvas, or null.
  cellAt(x: number, y: number): number | null {
    const place = this.view.at(x, y);
    return place && this.worstAt(place);
  }

  // Returns the next pair from `cell` in a direction, by display cells; `cell` itself at the edge.
  cellBeside(cell: number | null, downwards: number, rightwards: number): number | null {
    const size = 2 ** this.view.level;
    let { row, column } = this.placeOf(cell) ?? { row: Math.floor(this.view.y), column: Math.floor(this.view.x) - 1 };
    for (;;) {
      row += downwards * size;
      column += rightwards * size;
      if (row < 0 || column < 0 || row >= this.view.rows || column >= this.view.columns) return cell;
      const next = this.worstAt({ row, column });
      if (next !== null) return next;
    }
  }

  // Returns the middle of a cell on the canvas.
  middleOf(cell: number): { x: number; y: number } {
    const { row, column } = this.placeOf(cell)!;
    return { x: this.view.xOf(column + 0.5), y: this.view.yOf(row + 0.5) };
  }

  rankOf(cell: number): number {
    const { row, column } = this.placeOf(cell)!;
    const { ranks, columns } = this.scene.ranks.levels[0];
    return ranks[row * columns + column];
  }
}

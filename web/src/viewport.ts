// Places the cells on the canvas and chooses the visible part of the mesh. The cells of a mesh that
// fits are large enough for their values; in a larger mesh, blocks of 2^level by 2^level pairs
// share a display cell that shows the worst of them.

const LARGEST_HEIGHT = 44; // pixels; a small mesh fills a wide screen, and its cells are no tiles
const LARGEST_WIDTH = 96;
const LARGEST_GROUPED = 12; // pixels; narrower columns have the names of groups
const SMALLEST_DISPLAY = 2; // the least width and height of a display cell, in pixels
const WRITABLE_WIDTH = 38;
const WRITABLE_HEIGHT = 17;
export const STRIP = 9; // the width of the summary strips, in pixels

export interface Place { row: number; column: number }
export interface Sight { zoom: number; row: number; column: number } // the middle, in cells; zoom 1: the whole mesh
export const EVERYTHING: Sight = { zoom: 1, row: 0, column: 0 };

export class Viewport {
  readonly left: number;
  readonly top: number;
  readonly slanted: boolean;
  readonly fitWidth: number; // of a cell when the whole mesh is visible
  readonly fitHeight: number;
  readonly height: number; // of the canvas
  cellWidth = 1;
  cellHeight = 1;
  zoom = 1;
  x = 0; // the number of cells hidden to the left
  y = 0;

  // `width` and `height` are the room available, `labelWidth` is the longest label's; `grouped`:
  // columns name groups only.
  constructor(readonly rows: number, readonly columns: number, readonly width: number, height: number,
    labelWidth: number, grouped = false) {
    this.left = Math.min(labelWidth, Math.max(56, width * 0.25)) + 14 + STRIP;
    const across = Math.max(width - this.left - 10, 40);
    this.slanted = Math.min(LARGEST_WIDTH, across / columns) < labelWidth + 6;
    const overhang = this.slanted && !grouped ? Math.min(labelWidth * 0.55, 75) : 0; // the last label's, beyond the plot
    this.top = (this.slanted && !(grouped && across / columns < LARGEST_GROUPED) ? Math.min(labelWidth * 0.8, 110) + 16 : 24) + STRIP;
    const roomy = Math.min(LARGEST_WIDTH, (across - overhang) / columns);
    const down = Math.max(height - this.top - 6, 160);
    let fitHeight = Math.min(LARGEST_HEIGHT, down / rows);
    let fitWidth = roomy;
    if (roomy < WRITABLE_WIDTH || fitHeight < WRITABLE_HEIGHT) {
      fitHeight = Math.min(fitHeight, roomy);
      fitWidth = Math.min(fitHeight * Math.max(1, rows / columns), roomy);
    }
    this.fitWidth = fitWidth >= 4 ? Math.floor(fitWidth) : fitWidth;
    this.fitHeight = fitHeight >= 4 ? Math.floor(fitHeight) : fitHeight;
    this.height = Math.ceil(this.top + Math.min(down, rows * this.fitHeight) + 6);
    this.look(EVERYTHING);
  }

  get plotWidth(): number { return Math.min(this.width - this.left - 10, this.columns * this.cellWidth); }
  get plotHeight(): number { return Math.min(this.height - this.top - 6, this.rows * this.cellHeight); }
  get largestZoom(): number { return Math.max(1, LARGEST_WIDTH / this.fitWidth, LARGEST_HEIGHT / this.fitHeight); }

  look({ zoom, row, column }: Sight) {
    this.zoom = Math.min(this.largestZoom, Math.max(1, zoom));
    this.cellWidth = Math.min(LARGEST_WIDTH, this.fitWidth * this.zoom);
    this.cellHeight = Math.min(LARGEST_HEIGHT, this.fitHeight * this.zoom);
    this.x = clamp(column - this.plotWidth / this.cellWidth / 2, this.columns - this.plotWidth / this.cellWidth);
    this.y = clamp(row - this.plotHeight / this.cellHeight / 2, this.rows - this.plotHeight / this.cellHeight);
  }

  sight(): Sight {
    return { zoom: this.zoom, row: this.y + this.plotHeight / this.cellHeight / 2,
      column: this.x + this.plotWidth / this.cellWidth / 2 };
  }

  // Zooms so that the cell under (x, y) stays there.
  zoomAt(factor: number, x: number, y: number): Sight {
    const [column, row] = [this.x + (x - this.left) / this.cellWidth, this.y + (y - this.top) / this.cellHeight];
    this.look({ ...this.sight(), zoom: this.zoom * factor });
    const left = column - (x - this.left) / this.cellWidth;
    const top = row - (y - this.top) / this.cellHeight;
    return this.moveTo(left, top);
  }

  // Moves the map by pixels.
  moveBy(x: number, y: number): Sight {
    return this.moveTo(this.x + x / this.cellWidth, this.y + y / this.cellHeight);
  }

  private moveTo(x: number, y: number): Sight {
    this.x = clamp(x, this.columns - this.plotWidth / this.cellWidth);
    this.y = clamp(y, this.rows - this.plotHeight / this.cellHeight);
    return this.sight();
  }

  // Moves the map so far that the place is visible.
  reveal({ row, column }: Place): Sight {
    const [wide, high] = [this.plotWidth / this.cellWidth, this.plotHeight / this.cellHeight];
    const shift = (at: number, from: number, size: number) => Math.min(Math.max(from, at + 1 - size), at);
    return this.moveTo(shift(column, this.x, wide), shift(row, this.y, high));
  }

  // Returns the finest level of the pyramid whose cells are large enough to be seen.
  get level(): number {
    const smallest = Math.min(this.cellWidth, this.cellHeight);
    return Math.max(0, Math.ceil(Math.log2(SMALLEST_DISPLAY / smallest) - 1e-9));
  }

  get writable(): boolean {
    return this.cellWidth >= WRITABLE_WIDTH && this.cellHeight >= WRITABLE_HEIGHT;
  }

  xOf(column: number): number { return this.left + (column - this.x) * this.cellWidth; }
  yOf(row: number): number { return this.top + (row - this.y) * this.cellHeight; }

  // Returns the place under a point, or null.
  at(x: number, y: number): Place | null {
    const inside = x >= this.left && y >= this.top && x < this.left + this.plotWidth && y < this.top + this.plotHeight;
    if (!inside) return null;
    return { row: Math.min(this.rows - 1, Math.floor(this.y + (y - this.top) / this.cellHeight)),
      column: Math.min(this.columns - 1, Math.floor(this.x + (x - this.left) / this.cellWidth)) };
  }
}

function clamp(value: number, most: number): number {
  return Math.max(0, Math.min(value, most));
}

export interface Place { row: number; column: number }

// Where cells lie on the canvas. Small meshes get wide cells with their values written in; large
// ones are pooled: a display cell then stands for a block of pairs and shows the worst of them.

const LARGEST_HEIGHT = 30;
const LARGEST_WIDTH = 62;
const SMALLEST = 2; // pixels; below, pairs are pooled
const WRITABLE_WIDTH = 40;
const WRITABLE_HEIGHT = 17;
const LABEL_SPACE = 11; // pixels that a line of labels needs
const SLANTED_LABEL_SPACE = 17;

function poolFor(cells: number, space: number): number {
  return Math.max(1, Math.ceil((cells * SMALLEST) / Math.max(space, 1)));
}

export class Layout {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly pool: number;
  readonly displayColumns: number;
  readonly displayRows: number;
  readonly slanted: boolean;
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly gap: number;
  readonly writable: boolean;
  readonly rowLabelEvery: number;
  readonly columnLabelEvery: number;

  // width, height: of the stage; labelWidth: of the longest row label.
  constructor(rows: number, columns: number, width: number, height: number, labelWidth: number) {
    this.left = Math.min(labelWidth + 10, Math.max(60, width * 0.3));
    const across = Math.max(width - this.left - 8, 40);
    this.pool = Math.max(poolFor(columns, across), poolFor(rows, Math.max(height - 70, 200)));
    this.displayColumns = Math.ceil(columns / this.pool);
    this.displayRows = Math.ceil(rows / this.pool);
    const cellWidth = (space: number) => Math.min(LARGEST_WIDTH, Math.floor(space / this.displayColumns));
    this.slanted = cellWidth(across) < labelWidth + 6;
    const overhang = this.slanted ? Math.min(labelWidth * 0.55, 75) : 0; // of the last label
    const roomy = Math.max(SMALLEST, cellWidth(across - overhang));
    this.top = this.slanted ? Math.min(labelWidth * 0.8, 110) + 16 : 24;
    const down = Math.max(height - this.top - 8, 160);
    this.cellHeight = Math.max(SMALLEST, Math.min(LARGEST_HEIGHT, roomy,
      Math.floor(down / this.displayRows)));
    this.cellWidth = roomy < WRITABLE_WIDTH ? Math.min(roomy, this.cellHeight) : roomy;
    this.gap = Math.min(this.cellWidth, this.cellHeight) >= 6 ? 1 : 0;
    this.width = Math.ceil(this.left + this.displayColumns * this.cellWidth + overhang
      + 8);
    this.height = Math.ceil(this.top + this.displayRows * this.cellHeight + 4);
    this.writable = this.pool === 1 && this.cellWidth >= WRITABLE_WIDTH
      && this.cellHeight >= WRITABLE_HEIGHT;
    this.rowLabelEvery = Math.max(1, Math.ceil(LABEL_SPACE / this.cellHeight));
    this.columnLabelEvery = Math.max(1, Math.ceil(
      (this.slanted ? SLANTED_LABEL_SPACE : LABEL_SPACE) / this.cellWidth));
  }

  x(displayColumn: number): number {
    return this.left + displayColumn * this.cellWidth;
  }

  y(displayRow: number): number {
    return this.top + displayRow * this.cellHeight;
  }

  // The display cell under a point, or null.
  at(x: number, y: number): Place | null {
    const column = Math.floor((x - this.left) / this.cellWidth);
    const row = Math.floor((y - this.top) / this.cellHeight);
    const inside = row >= 0 && column >= 0 && row < this.displayRows
      && column < this.displayColumns;
    return inside ? { row, column } : null;
  }
}

// The rank of every pair in the shown order, their pyramid, and a summary of each row and column.

import type { Grid } from './model';
import type { Order } from './order';
import { type Level, pool, pyramidOf } from './pooling';
import { CLASSES, type Limits, OK, rankTable, UNJUDGED } from './severity';

const KINDS = CLASSES.length;

// Counts the pairs of each line by class, and sums the codes of those in class ok.
class Lines {
  private readonly counts: Uint32Array;
  private readonly codes: Float64Array;

  constructor(lines: number, private readonly length: number) {
    this.counts = new Uint32Array(lines * KINDS);
    for (let line = 0; line < lines; ++line) this.counts[line * KINDS] = length;
    this.codes = new Float64Array(lines);
  }

  // Replaces the rank of one pair.
  replace(line: number, before: number, rank: number) {
    this.counts[line * KINDS + (before >> 8)] -= 1;
    this.counts[line * KINDS + (rank >> 8)] += 1;
    if (before >> 8 === OK) this.codes[line] -= before & 255;
    if (rank >> 8 === OK) this.codes[line] += rank & 255;
  }

  // A line has the class of its median pair: one bad pair does not make its source bad, but a bad
  // host's pairs are all bad.
  rank(line: number): number {
    const pairs = this.pairs(line);
    if (pairs === 0) return 0;
    let left = Math.floor(pairs / 2) + 1;
    for (let kind = 1; kind < KINDS; ++kind) {
      left -= this.counts[line * KINDS + kind];
      if (left <= 0) return (kind << 8) | this.meanCode(line, kind);
    }
    return 0;
  }

  bad(line: number): number {
    let sum = 0;
    for (let kind = UNJUDGED + 1; kind < KINDS; ++kind) sum += this.counts[line * KINDS + kind];
    return sum;
  }

  pairs(line: number): number {
    return this.length - this.counts[line * KINDS];
  }

  private meanCode(line: number, kind: number): number {
    return kind === OK ? Math.round(this.codes[line] / this.counts[line * KINDS + OK]) : 255;
  }
}

export class Ranks {
  readonly levels: Level[];
  readonly rowLines: Lines;
  readonly columnLines: Lines;
  readonly counts = new Array<number>(KINDS).fill(0); // cells by class; class 0 is no pair
  private table: Uint16Array;

  constructor(readonly grid: Grid, readonly rowOrder: Order, readonly columnOrder: Order,
    private limits: Limits) {
    this.table = rankTable(grid, limits);
    this.levels = pyramidOf(grid.rows, grid.columns);
    this.counts[0] = grid.rows * grid.columns;
    this.rowLines = new Lines(grid.rows, grid.columns);
    this.columnLines = new Lines(grid.columns, grid.rows);
    grid.changed.clear();
    if (grid.pairs() > 0) this.takeAll(); // no pairs: nothing has arrived yet
  }

  pairs(): number {
    return this.grid.rows * this.grid.columns - this.counts[0];
  }

  // Other limits move few pairs to another class, so an update is much cheaper than a new object.
  use(limits: Limits) {
    if (limits === this.limits) return;
    this.limits = limits;
    this.table = rankTable(this.grid, limits);
    this.takeAll();
  }

  // Takes in the rows that have changed since the last call.
  update() {
    const places = new Set<number>();
    for (const row of this.grid.changed) places.add(this.takeRow(row));
    this.grid.changed.clear();
    pool(this.levels, places);
  }

  private takeAll() {
    for (let row = 0; row < this.grid.rows; ++row) this.takeRow(row);
    pool(this.levels, new Set(this.rowOrder.at.keys()));
  }

  private takeRow(row: number): number {
    const { table, grid: { cells, values } } = this;
    const { ranks, columns } = this.levels[0];
    const order = this.columnOrder.at;
    const place = this.rowOrder.placeOf[row];
    for (let at = 0; at < columns; ++at) {
      const cell = row * columns + order[at];
      const rank = table[(cells[cell] << 8) | values[cell]];
      const before = ranks[place * columns + at];
      if (rank === before) continue;
      ranks[place * columns + at] = rank;
      this.rowLines.replace(place, before, rank);
      this.columnLines.replace(at, before, rank);
      this.counts[before >> 8] -= 1;
      this.counts[rank >> 8] += 1;
    }
    return place;
  }
}

// The pyramid by which the map draws more cells than the screen has pixels: each level has half the
// rows and columns of the one below, and a cell of it is the worst of up to four below (max pooling),
// so that one bad pair is seen from afar.

export interface Level { rows: number; columns: number; ranks: Uint16Array }

// The finest level comes first, the last one has a single cell.
export function pyramidOf(rows: number, columns: number): Level[] {
  const levels = [{ rows, columns, ranks: new Uint16Array(rows * columns) }];
  for (let last = levels[0]; last.rows > 1 || last.columns > 1; last = levels[levels.length - 1]) {
    const [fewerRows, fewerColumns] = [Math.ceil(last.rows / 2), Math.ceil(last.columns / 2)];
    levels.push({ rows: fewerRows, columns: fewerColumns, ranks: new Uint16Array(fewerRows * fewerColumns) });
  }
  return levels;
}

// Carries these changed rows of the finest level up to the others.
export function pool(levels: Level[], changed: Set<number>) {
  let rows = changed;
  for (let at = 1; at < levels.length && rows.size > 0; ++at) {
    const above = new Set<number>();
    for (const row of rows) above.add(row >> 1);
    for (const row of above) poolRow(levels[at - 1], levels[at], row);
    rows = above;
  }
}

function poolRow(fine: Level, coarse: Level, row: number) {
  const first = 2 * row * fine.columns;
  const second = 2 * row + 1 < fine.rows ? first + fine.columns : first;
  for (let column = 0; column < coarse.columns; ++column) {
    const left = 2 * column;
    const right = left + 1 < fine.columns ? left + 1 : left;
    coarse.ranks[row * coarse.columns + column] = Math.max(fine.ranks[first + left],
      fine.ranks[first + right], fine.ranks[second + left], fine.ranks[second + right]);
  }
}

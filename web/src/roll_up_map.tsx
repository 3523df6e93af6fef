// The roll-up of the map: a cell for each pair of groups of the label by which the map is ordered, such as rack by rack. A click
// leads to the pairs of the two groups.

import { useMemo } from 'preact/hooks';
import { humanCount, humanRatio, inLine } from './format';
import { css, inkOn } from './palette';
import { type Block, blocksOf, sightOf } from './roll_up';
import { className } from './severity';
import { choose, grid, now, painted, palette, ranks, view } from './store';

export const MOST_GROUPS = 64;

function titleOf({ pairs, bad, worst }: Block, from: string, to: string): string {
  if (pairs === 0) return `${from} to ${to}: no pairs`;
  return `${from} to ${to}: ${humanCount(bad)} of ${humanCount(pairs)} pairs are bad${bad > 0 ? `, the worst is ${className(worst)}` : ''}`;
}

const nameOf = (name: string) => (name === '' ? '(none)' : inLine(name));

// Counting visits every pair, so it follows the clock rather than each painting.
export function RollUpMap() {
  const shown = ranks.value!;
  if (painted.value === 0) now.value;
  const blocks = useMemo(() => blocksOf(shown), [shown, now.value]);
  const [rows, columns] = [shown.rowOrder.groups, shown.columnOrder.groups];
  if (rows.length === 0) return <p class="blank-roll" role="status">Choose a label such as rack under “order by” to see its groups.</p>;
  const open = (row: number, column: number) => choose({ roll: '',
    sight: sightOf(rows[row], columns[column], grid.value!.rows, grid.value!.columns) });
  return <div class="wide"><table class="roll-up" id="roll-up" aria-label={`Pairs by ${view.value.order}`}>
    <thead><tr><td />{columns.slice(0, MOST_GROUPS).map(({ name }) => <th key={name} scope="col">{nameOf(name)}</th>)}</tr></thead>
    <tbody>{blocks.slice(0, MOST_GROUPS).map((line, row) => <tr key={rows[row].name}>
      <th scope="row">{nameOf(rows[row].name)}</th>
      {line.slice(0, MOST_GROUPS).map((block, column) => {
        const title = titleOf(block, nameOf(rows[row].name), nameOf(columns[column].name));
        const colour = palette.value.of(block.worst);
        return <td key={columns[column].name}>{block.pairs > 0 && <button title={title} aria-label={title} data-state={className(block.worst)}
          style={{ background: css(colour), color: inkOn(colour) }} onClick={() => open(row, column)}>
          {block.bad > 0 ? humanRatio(block.bad / block.pairs) : ''}</button>}</td>;
      })}</tr>)}</tbody>
  </table>
  {Math.max(rows.length, columns.length) > MOST_GROUPS && <p class="cut">{`The first ${MOST_GROUPS} of ${humanCount(rows.length)} by ${
    humanCount(columns.length)} groups are shown.`}</p>}</div>;
}

// The pairs as a table, worst first, for reading and for spreadsheets.

import { useMemo } from 'preact/hooks';
import { CsvLink } from './controls';
import { exportCsv } from './export';
import { humanCount, inLine } from './format';
import { humanCode } from './metrics';
import { type Grid, pairOf } from './model';
import { className, CLASSES } from './severity';
import { choose, grid, metric, model, openPair, painted, ranks, view } from './store';
import { type Column, firstIn, keyOf, type Listed, type Sort } from './worst_list';

const MOST = 500;

const COLUMNS: Column[] = ['source', 'destination', 'state', 'value'];

type Matcher = (source: number, destination: number, rank: number) => boolean;

// `only` is a class, or '' for all.
function matcher(current: Grid, text: string, only: string): Matcher {
  const named = nameMatcher(current, text.toLowerCase());
  const kind = CLASSES.findIndex((name) => name === only);
  return only === '' ? named : (source, destination, rank) => rank >> 8 === kind && named(source, destination, rank);
}

function nameMatcher(current: Grid, wanted: string): Matcher {
  if (wanted === '') return () => true;
  const matches = (address: string) => address.includes(wanted) || model.nameOf(address).toLowerCase().includes(wanted);
  const [sources, destinations] = [current.probe.sources.map(matches), current.probe.destinations.map(matches)];
  return (source, destination) => sources[source] || destinations[destination];
}

export function WorstPage() {
  const { sort } = view.value;
  const column = COLUMNS.find((each) => sort.endsWith(each)) ?? 'state';
  const by = { column, up: !sort.startsWith('-') };
  const [current, shown, { filter, only }] = [grid.value!, ranks.value!, view.value];
  const { listed: rows, all } = useMemo(
    () => firstIn(shown, keyOf(current, by, (address) => model.nameOf(address)), MOST, matcher(current, filter, only)),
    [current, shown, filter, only, column, by.up, painted.value]);
  return <main class="page">
    <div class="page-head">
      <h2>{`Worst pairs of ${current.probe.name}`}</h2>
      <label class="field">only <input id="filter" type="search" value={filter} placeholder="part of a name or address"
        onInput={(event) => choose({ filter: event.currentTarget.value }, true)} /></label>
      {only !== '' && <button class="quiet only" data-only={only} title="list all classes" onClick={() => choose({ only: '' })}>{`${only} ✕`}</button>}
      <button class="quiet" onClick={() => exportCsv(current, metric.value, rows.map(({ cell }) => cell))}>CSV</button>
      <span class="quiet-text">{`${humanCount(rows.length)} of ${humanCount(all)} pairs, ${metric.value.label}`}</span>
    </div>
    <PairTable rows={rows} current={current} by={by} setBy={(next) => {
      const up = column === next ? !by.up : next === 'source' || next === 'destination';
      choose({ sort: `${up ? '' : '-'}${next}` }, true);
    }} />
    {rows.length < all && <p class="cut">{`The first ${humanCount(rows.length)} of ${humanCount(all)} pairs are listed. `}
      Type a part of a name or address above to find others. <CsvLink text="CSV of all pairs" /></p>}
  </main>;
}

interface TableProps {
  rows: Listed[];
  current: Grid;
  by: Sort;
  setBy: (column: Column) => void;
}

function PairTable({ rows, current, by, setBy }: TableProps) {
  return <table class="pairs">
    <thead><tr>{COLUMNS.map((column) => <th key={column} scope="col"
      aria-sort={by.column !== column ? 'none' : by.up ? 'ascending' : 'descending'}>
      <button onClick={() => setBy(column)}>{column === 'value' ? metric.value.label : column}</button></th>)}<th /></tr></thead>
    <tbody>
      {rows.map(({ cell, rank }) => {
        const [source, destination] = pairOf(current, cell);
        const [from, to] = [source, destination].map((address) => inLine(model.nameOf(address)));
        return <tr key={cell}>
          <td>{from}</td><td>{to}</td>
          <td><span class="chip" data-state={className(rank)}>{className(rank)}</span></td>
          <td class="number">{humanCode(metric.value, current.values[cell])}</td>
          <td><button onClick={() => openPair(cell)}
            aria-label={`Open ${from} to ${to}`}>open</button></td>
        </tr>;
      })}
    </tbody>
  </table>;
}

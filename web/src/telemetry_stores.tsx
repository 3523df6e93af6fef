// The stores: who writes each, what arrives, what is lost, and how full the tables are.

import { humanAge, humanCount, humanRatio, inText } from './format';
import { ACCEPTED, type Figure, LOSSES, type Store, type Table } from './telemetry_data';
import { loudness, rateOf, stateOf, writerIn } from './telemetry_rates';
import { before, snapshot } from './telemetry_state';
import { fillOf, humanBytes, humanRate, roomOf } from './telemetry_text';

const ALMOST_FULL = 0.9;

export function Stores() {
  const stores = snapshot.value!.stores;
  if (stores.length === 0) return <p class="quiet-text">This collector has no stores.</p>;
  return <>{stores.map((store) => <StorePanel key={store.store} store={store} />)}</>;
}

function StorePanel({ store }: { store: Store }) {
  const { loud, text } = stateOf(store, humanAge);
  return <section class="store" data-translator={store.translator} data-loud={loud}>
    <div class="page-head">
      <h2>{inText(store.translator)}</h2>
      <span class="state" data-loud={loud}>{text}</span>
      <span class="quiet-text">{`${humanBytes(store.bytes)} · epoch ${store.epoch ?? '–'}${
        store.writer === null ? '' : ` · writer's last sign ${Math.max(0, store.writer.age_seconds).toFixed(1)} s ago`}`}</span>
    </div>
    {store.writer !== null && !store.shared && <div class="figures">
      <Figures store={store} title="accepted" figures={ACCEPTED} />
      <Figures store={store} title="losses" figures={LOSSES} />
    </div>}
    <Tables tables={store.tables} />
  </section>;
}

// `figures` has a text for each: the name of an operation, or the meaning of a loss.
function Figures({ store, title, figures }: { store: Store; title: string; figures: Partial<Record<Figure, string>> }) {
  const writer = store.writer!;
  const milliseconds = snapshot.value!.at - (before.value?.at ?? NaN);
  const losses = (figures as object) === LOSSES;
  return <table class="pairs">
    <thead><tr><th scope="col">{title}</th><th scope="col" class="number">in all</th><th scope="col" class="number">now</th></tr></thead>
    <tbody>{(Object.entries(figures) as [Figure, string][]).map(([figure, text]) => {
      const rate = rateOf(writerIn(before.value, store.store), writer, figure, milliseconds);
      return <tr key={figure} data-figure={figure} data-loud={losses ? loudness(figure, writer[figure], rate) : undefined}>
        <td>{losses ? <>{figure} <small class="quiet-text">{text}</small></> : text}</td>
        <td class="number">{humanCount(writer[figure])}</td>
        <td class="number">{humanRate(rate)}</td>
      </tr>;
    })}</tbody>
  </table>;
}

function Tables({ tables }: { tables: Table[] }) {
  return <div class="wide"><table class="pairs tables">
    <thead><tr><th scope="col">table</th><th scope="col">kind</th><th scope="col">used</th><th scope="col">room</th>
      <th scope="col" class="number">stored</th><th scope="col" class="number">size</th></tr></thead>
    <tbody>{tables.map((table) => <tr key={table.id} data-table={table.table}>
      <td>{`${table.table} `}<small class="quiet-text">{table.id}</small></td>
      <td>{table.kind}</td>
      <td><Fill table={table} /></td>
      <td>{roomOf(table)}</td>
      <td class="number">{stored(table)}</td>
      <td class="number">{humanBytes(table.bytes)}</td>
    </tr>)}</tbody>
  </table></div>;
}

function stored({ placed, increments }: Table): string {
  const count = placed ?? increments;
  return count === undefined ? '–' : humanCount(count);
}

// Lists and counters have no fill: a list is a ring, and a sketch counts any number of keys.
function Fill({ table }: { table: Table }) {
  const fill = fillOf(table);
  if (fill === null) return <>–</>;
  return <span class="fill" data-loud={fill > ALMOST_FULL ? 'warn' : undefined} title={`${humanCount(table.used!)} of ${humanCount(table.slots!)} slots`}>
    <i><b style={{ width: `${Math.min(100, fill * 100)}%` }} /></i>{humanRatio(fill)}</span>;
}

// The box that follows a list: the newest entry first.

import { useEffect, useRef, useState } from 'preact/hooks';
import { clockTime, humanCount } from './format';
import { ask } from './telemetry_ask';
import { changeText, PATH_CHANGES } from './telemetry_change';
import { TableChoice } from './telemetry_choice';
import { type Store, tablesOf } from './telemetry_data';
import { type Lines, MOST_LINES, NO_LINES, type TailAnswer, withAnswer } from './telemetry_lines';
import { choose, chosen, POLL, snapshot } from './telemetry_state';
import { bytesText, textOf } from './telemetry_text';
import { listOf } from './telemetry_view';

const WAIT = 10_000; // milliseconds; the collector answers as soon as there is an entry
const SHORTEST = 1000; // between the beginnings of two questions

// Follows the list from now on; a pause keeps the place.
function useTail(table: string, list: number, paused: boolean): { lines: Lines; fault: string } {
  const [lines, setLines] = useState(NO_LINES);
  const [fault, setFault] = useState('');
  const place = useRef(NO_LINES);
  useEffect(() => {
    if (paused) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const once = async () => {
      const began = Date.now();
      const question = { table, list: String(list), cursor: place.current.cursor, wait: `${WAIT}ms` };
      const rest = await ask<TailAnswer>('tail', question, WAIT, stop.signal).then((answer) => {
        if (stop.signal.aborted) return 0;
        place.current = withAnswer(place.current, answer, Date.now());
        setLines(place.current);
        setFault('');
        return Math.max(0, SHORTEST - (Date.now() - began));
      }, ({ message }: Error) => {
        if (!stop.signal.aborted) setFault(message);
        return POLL;
      });
      if (!stop.signal.aborted) timer = setTimeout(once, rest);
    };
    void once();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [paused]);
  return { lines, fault };
}

function listsOf(stores: Store[], table: string): number {
  return Math.max(1, ...stores.flatMap(({ tables }) => tables).filter((each) => each.table === table).map(({ lists }) => lists ?? 1));
}

export function TailBox() {
  const { stores } = snapshot.value!;
  const { tail, list } = chosen.value;
  return <section id="tail" class="box">
    <h2>Follow a list</h2>
    <form class="row" onSubmit={(event) => event.preventDefault()}>
      <TableChoice names={tablesOf(stores, 'lists')} value={tail} none="none" onChoose={(name) => choose({ tail: name, list: 0 })} />
      <label class="field">List <input name="list" type="number" min={0} max={listsOf(stores, tail) - 1} defaultValue={String(list)} key={list} disabled={tail === ''}
        onChange={(event) => choose({ list: listOf(event.currentTarget.value) })} /></label>
    </form>
    {tail === '' ? <p class="quiet-text">Choose a table whose new entries are shown as they arrive.</p>
      : <Following key={`${list} ${tail}`} table={tail} list={list} />}
  </section>;
}

function Following({ table, list }: { table: string; list: number }) {
  const [paused, setPaused] = useState(false);
  const { lines, fault } = useTail(table, list, paused);
  const stores = snapshot.value!.stores.filter(({ tables }) => tables.some((each) => each.table === table)).length;
  return <>
    <div class="row">
      <button class="quiet" aria-pressed={paused} onClick={() => setPaused(!paused)}>{paused ? 'go on' : 'pause'}</button>
      <span class="quiet-text" id="arrived">{`${humanCount(lines.entries)} arrived${
        lines.entries > MOST_LINES ? `, the newest ${MOST_LINES} are shown` : ''}${paused ? '; paused' : ''}`}</span>
    </div>
    {lines.lost > 0 && <p class="fault">{`At most ${humanCount(lines.lost)} entries were overwritten before they were read.`}</p>}
    {lines.skips > 0 && <p class="state" data-loud="warn">More entries arrive than this page reads: some were left out to go on with the newest.</p>}
    {fault !== '' && <p class="fault" role="alert">{fault}</p>}
    {lines.lines.length > 0 ? <Entries table={table} lines={lines} of={stores} /> : <p class="quiet-text">No entry has arrived since the page follows the list.</p>}
  </>;
}

// The store of an entry is named if several stores have the list.
function Entries({ table, lines, of }: { table: string; lines: Lines; of: number }) {
  const words = table === PATH_CHANGES ? changeText : textOf;
  return <div class="entries" tabIndex={0} role="region" aria-label="Entries, the newest first"><table class="pairs">
    <thead><tr><th scope="col">arrived</th>{of > 1 && <th scope="col">store</th>}<th scope="col">entry</th></tr></thead>
    <tbody>{lines.lines.map(({ number, seen, translator, entry }) => {
      const text = words(entry);
      return <tr key={number}>
        <td class="number">{clockTime(seen)}</td>{of > 1 && <td>{translator}</td>}
        <td><code class={text === null ? 'quiet-text' : undefined}>{text ?? bytesText(entry)}</code></td>
      </tr>;
    })}</tbody>
  </table></div>;
}

// The box in which counts of a table are compared: those of the most counted keys, which the
// collector ranks, and those of the keys that the user names.

import { useRef } from 'preact/hooks';
import { humanCount, inText } from './format';
import { ask, type Fault } from './telemetry_ask';
import { TableChoice } from './telemetry_choice';
import { tablesOf } from './telemetry_data';
import { errorText, KEY_FORMS } from './telemetry_key';
import { usePoll } from './telemetry_poll';
import { choose, chosen, snapshot } from './telemetry_state';
import { byCount, type Counted, humanRate, keysOf } from './telemetry_text';

interface Answer { at: number; rows: Counted[]; stores: number; stale: boolean }
interface Count { count: number; error: number; stores: number; stale: boolean }
interface Top { error: number; stores: number; stale: boolean; keys: { key: string; count: number }[] }
type AskRows = (last: Answer | null, stop: AbortSignal) => Promise<Answer>;

const RANKED = 10; // keys of a table

// Returns the growth of a count per second since the last answer; null where that did not have the key.
function rateOf(key: string, count: number, at: number, last: Answer | null): number | null {
  const earlier = last?.rows.find((row) => row.key === key)?.count ?? null;
  return earlier === null || count < earlier ? null : ((count - earlier) * 1000) / (at - last!.at);
}

async function topOf(table: string, last: Answer | null, stop: AbortSignal): Promise<Answer> {
  const at = Date.now();
  const { keys, error, stores, stale } = await ask<Top>('top', { table, limit: String(RANKED) }, 0, stop);
  return { at, stores, stale, rows: keys.map(({ key, count }) => ({ key, count, error, fault: '', rate: rateOf(key, count, at, last) })) };
}

// Asks for each key; `last` gives the rates.
async function countsOf(table: string, keys: string[], last: Answer | null, stop: AbortSignal): Promise<Answer> {
  const at = Date.now();
  let [stores, stale] = [1, false];
  const rows = await Promise.all(keys.map(async (key): Promise<Counted> => {
    try {
      const known = await ask<Count>('count', { table, key }, 0, stop);
      stores = Math.max(stores, known.stores);
      stale = stale || known.stale;
      return { key, count: known.count, error: known.error, fault: '', rate: rateOf(key, known.count, at, last) };
    } catch (failure) {
      if ((failure as Fault).gone) throw failure;
      return { key, count: null, error: 0, fault: (failure as Error).message, rate: null };
    }
  }));
  return { at, rows: byCount(rows), stores, stale };
}

export function WatchBox() {
  const names = tablesOf(snapshot.value!.stores, 'counters');
  const table = chosen.value.counts || names[0] || '';
  const { keys, omitted } = keysOf(chosen.value.keys);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    choose({ counts: String(form.get('table')), keys: String(form.get('keys')) });
  };
  return <section id="watch" class="box">
    <h2>Compare counts</h2>
    <form class="row" onSubmit={submit}>
      <TableChoice names={names} value={table} onChoose={(name) => choose({ counts: name })} />
      <label class="field grows">Keys <input name="keys" defaultValue={chosen.value.keys} key={chosen.value.keys}
        placeholder="text:link-1, text:link-2" autocomplete="off" spellcheck={false} /></label>
      <button class="quiet">watch</button>
    </form>
    {omitted > 0 && <p class="fault">{`Only the first ${keys.length} keys are watched; ${omitted} are left out.`}</p>}
    {table !== '' && <Rows key={table} name="most counted" askRows={(last, stop) => topOf(table, last, stop)} explains />}
    {keys.length > 0 && <Rows key={JSON.stringify([table, keys])} name="named" askRows={(last, stop) => countsOf(table, keys, last, stop)} />}
    <p class="quiet-text">{`The ${RANKED} most counted keys are listed by themselves. Name others to compare, separated by commas. A key is ${
      KEY_FORMS}; write one that has a comma with hex:.`}</p>
  </section>;
}

// Repeats a question for rows; another question needs another key.
function Rows({ name, askRows, explains = false }: { name: string; askRows: AskRows; explains?: boolean }) {
  const last = useRef<Answer | null>(null);
  const { answer, fault } = usePoll<Answer>(name, async (stop) => {
    last.current = await askRows(last.current, stop);
    return last.current;
  });
  return <div data-rows={name}>
    {fault !== '' && <p class="fault" role="alert">{fault}</p>}
    {answer && (answer.rows.length > 0 ? <Counts title={name} rows={answer.rows} /> : <p>Nothing was counted yet.</p>)}
    {answer && explains && <Notes {...answer} />}
  </div>;
}

function Counts({ title, rows }: { title: string; rows: Counted[] }) {
  return <table class="pairs counted">
    <thead><tr><th scope="col">{title}</th><th scope="col" class="number">count</th><th scope="col" class="number">now</th></tr></thead>
    <tbody>{rows.map(({ key, count, fault, rate }) => <tr key={key} data-key={key}>
      <td>{inText(key)}</td>
      {count === null ? <td colSpan={2} class="fault">{fault}</td> : <><td class="number">{humanCount(count)}</td><td class="number">{humanRate(rate)}</td></>}
    </tr>)}</tbody>
  </table>;
}

function Notes({ rows, stores, stale }: Answer) {
  return <>
    {rows.length > 0 && <p>{`Each count is ${errorText(rows[0].error, stores)}.`}</p>}
    {stale && <p class="state" data-loud="warn">A writer is silent: there may be later reports.</p>}
  </>;
}

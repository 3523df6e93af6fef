// The box in which the counts of several keys are compared. A sketch of counts does not know its
// keys, so nobody can list the most counted ones; the user names them.

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

// Asks for each key; `last` gives the rates.
async function countsOf(table: string, keys: string[], last: Answer | null, stop: AbortSignal): Promise<Answer> {
  const at = Date.now();
  let [stores, stale] = [1, false];
  const rows = await Promise.all(keys.map(async (key): Promise<Counted> => {
    try {
      const known = await ask<Count>('count', { table, key }, 0, stop);
      stores = Math.max(stores, known.stores);
      stale = stale || known.stale;
      const earlier = last?.rows.find((row) => row.key === key)?.count ?? null;
      const rate = earlier === null || known.count < earlier ? null : ((known.count - earlier) * 1000) / (at - last!.at);
      return { key, count: known.count, error: known.error, fault: '', rate };
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
      <TableChoice names={names} value={table} />
      <label class="field grows">Keys <input name="keys" defaultValue={chosen.value.keys} key={chosen.value.keys}
        placeholder="text:link-1, text:link-2" autocomplete="off" spellcheck={false} /></label>
      <button class="quiet">watch</button>
    </form>
    {omitted > 0 && <p class="fault">{`Only the first ${keys.length} keys are watched; ${omitted} are left out.`}</p>}
    {keys.length > 0 && <Watched key={JSON.stringify([table, keys])} table={table} keys={keys} />}
    <p class="quiet-text">{`Counters do not know their keys, so the most counted ones cannot be listed: name the keys to compare, separated by commas. A key is ${
      KEY_FORMS}; write one that has a comma with hex:.`}</p>
  </section>;
}

function Watched({ table, keys }: { table: string; keys: string[] }) {
  const last = useRef<Answer | null>(null);
  const { answer, fault } = usePoll<Answer>('counts', async (stop) => {
    last.current = await countsOf(table, keys, last.current, stop);
    return last.current;
  });
  return <>
    {fault !== '' && <p class="fault" role="alert">{fault}</p>}
    {answer && <Counts {...answer} />}
  </>;
}

function Counts({ rows, stores, stale }: Answer) {
  const error = Math.max(...rows.map((row) => row.error));
  return <>
    <table class="pairs counted">
      <thead><tr><th scope="col">key</th><th scope="col" class="number">count</th><th scope="col" class="number">now</th></tr></thead>
      <tbody>{rows.map(({ key, count, fault, rate }) => <tr key={key} data-key={key}>
        <td>{inText(key)}</td>
        {count === null ? <td colSpan={2} class="fault">{fault}</td> : <><td class="number">{humanCount(count)}</td><td class="number">{humanRate(rate)}</td></>}
      </tr>)}</tbody>
    </table>
    {rows.some(({ count }) => count !== null) && <p>{`Each count is ${errorText(error, stores)}.`}</p>}
    {stale && <p class="state" data-loud="warn">A writer is silent: there may be later reports.</p>}
  </>;
}

// The box in which one key is looked up: its latest value, or its count.

import { humanAge, humanCount } from './format';
import { ask } from './telemetry_ask';
import { TableChoice } from './telemetry_choice';
import { kindOf, tablesOf } from './telemetry_data';
import { usePoll } from './telemetry_poll';
import { choose, chosen, snapshot } from './telemetry_state';
import { bytesText, textOf } from './telemetry_text';

interface Found { value: string | null; age_seconds: number; written: string; translator: string; stale: boolean }
interface Count { count: number; error: number; stores: number; stale: boolean }
type Answer = { found: Found } | { count: Count };

export const KEY_FORMS = 'text:TEXT, hex:DIGITS or u32:NUMBER';

export function KeyBox() {
  const { stores } = snapshot.value!;
  const { key } = chosen.value;
  const names = [...tablesOf(stores, 'keyed'), ...tablesOf(stores, 'counters')];
  const table = chosen.value.table || names[0] || '';
  const counts = kindOf(stores, table) === 'counters';
  const { answer, fault } = usePoll<Answer>(key && JSON.stringify([table, key, counts]), async (stop) => (counts
    ? { count: await ask<Count>('count', { table, key }, 0, stop) } : { found: await ask<Found>('get', { table, key }, 0, stop) }));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    choose({ table: String(form.get('table')), key: String(form.get('key')).trim() });
  };
  return <section id="get" class="box">
    <h2>Get a key</h2>
    <form class="row" onSubmit={submit}>
      <TableChoice names={names} value={table} />
      <label class="field grows">Key <input name="key" defaultValue={key} key={key} placeholder="text:db-7" autocomplete="off" spellcheck={false} required /></label>
      <button class="quiet">get</button>
    </form>
    {fault !== '' && <p class="fault" role="alert">{fault}</p>}
    {key === '' && <p class="quiet-text">{`A key is ${KEY_FORMS}.`}</p>}
    {answer && 'found' in answer && <Value {...answer.found} />}
    {answer && 'count' in answer && <CountOf {...answer.count} />}
  </section>;
}

function Value({ value, age_seconds, written, translator, stale }: Found) {
  if (value === null) return <p class="answer">No store has this key.</p>;
  const text = textOf(value);
  return <dl class="facts answer">
    {text !== null && <><dt>text</dt><dd><code>{text}</code></dd></>}
    <dt>bytes</dt><dd><code>{bytesText(value)}</code></dd>
    <dt>written</dt><dd>{`${humanAge(age_seconds * 1000)} ago, ${written}`}</dd>
    <dt>store</dt><dd>{translator}{stale && <Stale />}</dd>
  </dl>;
}

function CountOf({ count, error, stores, stale }: Count) {
  return <dl class="facts answer">
    <dt>count</dt><dd><b>{humanCount(count)}</b>{stale && <Stale />}</dd>
    <dt>error</dt><dd>{errorText(error, stores)}</dd>
  </dl>;
}

function Stale() {
  return <span class="state" data-loud="warn"> the writer is silent: there may be later reports</span>;
}

export function errorText(error: number, stores: number): string {
  return `never too small; too large by more than ${humanCount(Math.ceil(error))} with a probability of at most 14\u00a0%${
    stores > 1 ? ` for each of ${stores} stores` : ''}`;
}

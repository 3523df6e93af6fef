// The box in which one key is looked up: its latest value, its count, or its path.

import { humanAge, humanCount } from './format';
import { ask } from './telemetry_ask';
import { TableChoice } from './telemetry_choice';
import { kindOf, tablesOf } from './telemetry_data';
import { type Path, Paths, Silent } from './telemetry_path';
import { usePoll } from './telemetry_poll';
import { choose, chosen, snapshot } from './telemetry_state';
import { bytesText, textOf } from './telemetry_text';

interface Found { value: string | null; age_seconds: number; written: string; translator: string; stale: boolean }
interface Count { count: number; error: number; stores: number; stale: boolean }
type Answer = { found: Found } | { count: Count } | { paths: Path[] };

// Asks as the table's kind requires.
async function answerOf(kind: string | undefined, query: Record<string, string>, stop: AbortSignal): Promise<Answer> {
  if (kind === 'counters') return { count: await ask<Count>('count', query, 0, stop) };
  if (kind === 'paths') return ask<{ paths: Path[] }>('path', query, 0, stop);
  return { found: await ask<Found>('get', query, 0, stop) };
}

export const KEY_FORMS = 'text:TEXT, hex:DIGITS or u32:NUMBER';

export function KeyBox() {
  const { stores } = snapshot.value!;
  const { key } = chosen.value;
  const names = [...tablesOf(stores, 'keyed'), ...tablesOf(stores, 'counters'), ...tablesOf(stores, 'paths')];
  const table = chosen.value.table || names[0] || '';
  const kind = kindOf(stores, table);
  const { answer, fault } = usePoll<Answer>(key && JSON.stringify([table, key, kind]), (stop) => answerOf(kind, { table, key }, stop));
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
    {key === '' && <p class="quiet-text">{`A key is ${KEY_FORMS}; of a path, tuple:10.0.0.1:49152>10.0.1.1:4791/udp.`}</p>}
    {answer && 'found' in answer && <Value {...answer.found} />}
    {answer && 'count' in answer && <CountOf {...answer.count} />}
    {answer && 'paths' in answer && <Paths paths={answer.paths} />}
  </section>;
}

function Value({ value, age_seconds, written, translator, stale }: Found) {
  if (value === null) return <p class="answer">No store has this key.</p>;
  const text = textOf(value);
  return <dl class="facts answer">
    {text !== null && <><dt>text</dt><dd><code>{text}</code></dd></>}
    <dt>bytes</dt><dd><code>{bytesText(value)}</code></dd>
    <dt>written</dt><dd>{`${humanAge(age_seconds * 1000)} ago, ${written}`}</dd>
    <dt>store</dt><dd>{translator}{stale && <Silent />}</dd>
  </dl>;
}

function CountOf({ count, error, stores, stale }: Count) {
  return <dl class="facts answer">
    <dt>count</dt><dd><b>{humanCount(count)}</b>{stale && <Silent />}</dd>
    <dt>error</dt><dd>{errorText(error, stores)}</dd>
  </dl>;
}

export function errorText(error: number, stores: number): string {
  return `never too small; too large by more than ${humanCount(Math.ceil(error))} with a probability of at most 14\u00a0%${
    stores > 1 ? ` for each of ${stores} stores` : ''}`;
}

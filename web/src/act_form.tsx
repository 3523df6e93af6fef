// The small form that asks who acts, why, and for how long.

import { useState } from 'preact/hooks';
import { now } from './store';

const DURATIONS: Record<string, number> = { '30m': 0.5, '1h': 1, '4h': 4, '12h': 12, '1d': 24, '7d': 168 }; // hours
const NAME_KEY = 'pingloom.by';

// Runs one request at a time and keeps the reason of a failure.
export function useRequest(): { run: (request: () => Promise<unknown>) => Promise<boolean>; busy: boolean; fault: string } {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState('');
  const run = async (request: () => Promise<unknown>) => {
    setBusy(true);
    setFault('');
    try {
      await request();
      return true;
    } catch (failure) {
      setFault((failure as Error).message);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { run, busy, fault };
}

export interface Said { by: string; comment: string; duration: string } // duration: '' has no end

interface Props {
  act: string; // the name of the button
  label: string;
  lasts: boolean; // asks for how long
  forever?: string; // what to call a time without an end, where that may be chosen
  request: (said: Said) => Promise<unknown>;
  close: () => void;
}

export function ActForm({ act, label, lasts, forever, request, close }: Props) {
  const { run, busy, fault } = useRequest();
  const [duration, setDuration] = useState('4h');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const [by, comment] = ['by', 'comment'].map((name) => String(fields.get(name)).trim());
    localStorage.setItem(NAME_KEY, by);
    if (await run(() => request({ by, comment, duration }))) close();
  };
  return <form class="act" data-act={act} onSubmit={submit} aria-label={label}
    onKeyDown={(event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      close();
    }}>
    <label class="field">by <input name="by" required maxLength={120} defaultValue={localStorage.getItem(NAME_KEY) ?? ''} autocomplete="name"
      spellcheck={false} /></label>
    <label class="field">why <input name="comment" maxLength={500} placeholder="comment" /></label>
    {lasts && <label class="field">for <select name="duration" value={duration}
      onChange={(event) => setDuration(event.currentTarget.value)}>
      {Object.keys(DURATIONS).map((each) => <option key={each} value={each}>{each}</option>)}
      {forever !== undefined && <option value="">{forever}</option>}</select>
      {duration !== '' && `until ${utcMinute(now.value + DURATIONS[duration] * 3_600_000)}`}</label>}
    <p><button disabled={busy}>{busy ? 'asking…' : act}</button><button type="button" onClick={close}>cancel</button></p>
    {fault && <p class="fault" role="alert">{`refused: ${fault}`}</p>}
  </form>;
}

export function utcMinute(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(5, 16).replace('T', ' ')} UTC`;
}

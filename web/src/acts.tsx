// What an operator may do about an incident: acknowledge it, silence it, and take either back. A
// small form asks who it is and, for a silence, until when.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { clockTime, inLine } from './format';
import type { Incident } from './incident';
import { acknowledge, endSilence, silence } from './incident_api';
import { session, whyNotOperate } from './session';
import { now } from './store';
import { verdict } from './verdict';

const DURATIONS: Record<string, number> = { '30m': 0.5, '1h': 1, '4h': 4, '12h': 12, '1d': 24, '7d': 168 }; // hours
const NAME_KEY = 'pingloom.by';

type Act = 'acknowledge' | 'silence';

// Runs one request at a time and keeps the reason of a failure.
function useRequest(): { run: (request: () => Promise<unknown>) => Promise<boolean>; busy: boolean; fault: string } {
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

function Form({ act, incident, close }: { act: Act; incident: Incident; close: () => void }) {
  const { run, busy, fault } = useRequest();
  const [duration, setDuration] = useState('4h');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const [by, comment] = ['by', 'comment'].map((name) => String(fields.get(name)).trim());
    localStorage.setItem(NAME_KEY, by);
    const done = await run(() => (act === 'acknowledge' ? acknowledge(incident.id, by, comment)
      : silence(incident, duration, by, comment)));
    if (done) close();
  };
  return <form class="act" data-act={act} onSubmit={submit} aria-label={`${act} this incident`}
    onKeyDown={(event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      close();
    }}>
    <label class="field">by <input name="by" required maxLength={120} defaultValue={localStorage.getItem(NAME_KEY) ?? ''} autocomplete="name"
      spellcheck={false} /></label>
    <label class="field">why <input name="comment" maxLength={500} placeholder="comment" /></label>
    {act === 'silence' && <label class="field">for <select name="duration" value={duration}
      onChange={(event) => setDuration(event.currentTarget.value)}>
      {Object.keys(DURATIONS).map((each) => <option key={each} value={each}>{each}</option>)}</select>
      {`until ${new Date(now.value + DURATIONS[duration] * 3_600_000).toISOString().slice(5, 16).replace('T', ' ')} UTC`}</label>}
    <p><button disabled={busy}>{busy ? 'asking…' : act}</button><button type="button" onClick={close}>cancel</button></p>
    {fault && <p class="fault" role="alert">{`refused: ${fault}`}</p>}
  </form>;
}

// Says who has acknowledged or silenced the incident, and lets it be taken back.
function Hushed({ incident, barred }: { incident: Incident; barred: string }) {
  const { run, busy, fault } = useRequest();
  const { acknowledged, silenced_by: silenced } = incident;
  const by = silenced === null ? undefined : verdict.value.silences.find(({ id }) => id === silenced);
  const said = (name: string, comment: string) => `${inLine(name)}${comment === '' ? '' : `: ${inLine(comment)}`}`;
  return <>
    {acknowledged && <p class="hushed">{`acknowledged by ${said(acknowledged.by, acknowledged.comment)} `}
      <button disabled={busy || barred !== ''} title={barred}
        onClick={() => run(() => acknowledge(incident.id, acknowledged.by, '', false))}>take back</button></p>}
    {silenced !== null && <p class="hushed">{by ? `silenced until ${clockTime(Date.parse(by.until))} by ${said(by.by, by.comment)} ` : 'silenced '}
      <button disabled={busy || barred !== ''} title={barred} onClick={() => run(() => endSilence(silenced))}>end silence</button></p>}
    {fault && <p class="fault" role="alert">{`refused: ${fault}`}</p>}
  </>;
}

export function Acts({ incident, children }: { incident: Incident; children?: ComponentChildren }) {
  const [act, setAct] = useState<Act | null>(null);
  const barred = whyNotOperate(session.value, 'this');
  const open = incident.closed === null;
  const offer = (which: Act, text: string) => <button disabled={barred !== ''} title={barred} aria-expanded={act === which}
    data-act={which} onClick={() => setAct(act === which ? null : which)}>{text}</button>;
  return <>
    <p class="acts">{children}
      {open && incident.acknowledged === null && offer('acknowledge', 'Acknowledge')}
      {open && incident.silenced_by === null && offer('silence', 'Silence')}</p>
    {act && open && <Form key={act} act={act} incident={incident} close={() => setAct(null)} />}
    <Hushed incident={incident} barred={barred} />
  </>;
}

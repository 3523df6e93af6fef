// What an operator may do about an incident: acknowledge it, silence it, and take either back.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ActForm, useRequest, utcMinute } from './act_form';
import { inLine } from './format';
import type { Incident } from './incident';
import { acknowledge, endSilence, silence } from './incident_api';
import { session, whyNotOperate } from './session';
import { verdict } from './verdict';

type Act = 'acknowledge' | 'silence';

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
    {silenced !== null && <p class="hushed">{by ? `silenced until ${utcMinute(Date.parse(by.until))} by ${said(by.by, by.comment)} ` : 'silenced '}
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
    {act && open && <ActForm key={act} act={act} label={`${act} this incident`} lasts={act === 'silence'} close={() => setAct(null)}
      request={({ by, comment, duration }) => (act === 'acknowledge' ? acknowledge(incident.id, by, comment)
        : silence(incident, duration, by, comment))} />}
    <Hushed incident={incident} barred={barred} />
  </>;
}

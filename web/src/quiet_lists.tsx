// What is kept quiet on purpose: silences, and hosts in maintenance. Each can be ended.

import { useState } from 'preact/hooks';
import { ActForm, useRequest, utcMinute } from './act_form';
import { inLine, inText } from './format';
import { beginMaintenance, endMaintenance, endSilence } from './incident_api';
import { session, whyNotOperate } from './session';
import { verdict } from './verdict';

interface Quiet { key: string; what: string; until: string | null; by: string; comment: string; end: (() => Promise<unknown>) | null; why: string }

function QuietTable({ title, of, entries }: { title: string; of: string; entries: Quiet[] }) {
  const { run, busy, fault } = useRequest();
  const barred = whyNotOperate(session.value, 'this');
  if (entries.length === 0) return null;
  return <section class="quiet-list"><h3>{title}</h3>
    <div class="wide"><table class="pairs"><thead><tr><th scope="col">{of}</th><th scope="col">until</th><th scope="col">by</th><th scope="col">why</th><th /></tr></thead>
      <tbody>{entries.map(({ key, what, until, by, comment, end, why }) => <tr key={key}>
        <td>{inLine(what)}</td><td>{until === null ? 'it is ended' : utcMinute(Date.parse(until))}</td><td>{inLine(by)}</td><td>{inText(comment)}</td>
        <td>{end ? <button disabled={busy || barred !== ''} title={barred} onClick={() => run(end)}>end</button> : why}</td></tr>)}</tbody></table></div>
    {fault && <p class="fault" role="alert">{`refused: ${fault}`}</p>}
  </section>;
}

export function Silences() {
  return <QuietTable title="Silences" of="whatever has" entries={verdict.value.silences.map(({ id, matchers, until, by, comment }) => ({ key: id,
    what: Object.entries(matchers).map(([name, value]) => `${name}=${value}`).join(', '), until, by, comment, end: () => endSilence(id), why: '' }))} />;
}

export function Maintained() {
  return <QuietTable title="In maintenance: shown, not judged" of="host" entries={verdict.value.maintenance.map(
    ({ host, until, by, comment, in_pinglist: fixed }) => ({ key: host, what: host, until, by, comment,
      end: fixed ? null : () => endMaintenance(host), why: 'in the pinglist' }))} />;
}

// The part of a host's page that begins its maintenance.
export function MaintenanceOf({ host }: { host: string }) {
  const [asking, setAsking] = useState(false);
  const { run, busy, fault } = useRequest();
  const barred = whyNotOperate(session.value, 'this');
  const current = verdict.value.maintenance.find((each) => each.host === host);
  if (asking) {
    return <ActForm act="begin maintenance" label={`begin the maintenance of ${inLine(host)}`} lasts forever="until ended" close={() => setAsking(false)}
      request={({ by, comment, duration }) => beginMaintenance(host, duration, by, comment)} />;
  }
  if (!current) {
    return <p class="acts"><button data-act="maintenance" disabled={barred !== ''} title={barred || "The host's pairs are shown but not judged meanwhile."}
      onClick={() => setAsking(true)}>Maintenance</button></p>;
  }
  return <p class="hushed maintained">{`in maintenance${current.until === null ? '' : ` until ${utcMinute(Date.parse(current.until))}`}${
    current.by === '' ? '' : ` by ${inLine(current.by)}`}${current.comment === '' ? '' : `: ${inLine(current.comment)}`} `}
    {current.in_pinglist ? '(in the pinglist)' : <button disabled={busy || barred !== ''} title={barred}
      onClick={() => run(() => endMaintenance(host))}>end</button>} {fault && <span class="fault" role="alert">{`refused: ${fault}`}</span>}</p>;
}

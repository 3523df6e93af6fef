// The page of incidents: those that are open, and those of the last days with their course, their
// evidence and what else would explain them.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Acts } from './acts';
import { grouped, placeOf } from './counters';
import { deviationText } from './deviation';
import { dayAndTime, humanCount, inLine, inText } from './format';
import { type Culprit, factsOf, type Incident, isWanted, together } from './incident';
import { fetchPastIncidents } from './incident_api';
import { Silences } from './quiet_lists';
import { JUDGED_STATES } from './states';
import { choose, now, view } from './store';
import { Sentence, showEvidence } from './suspects';
import { isHushed, verdict } from './verdict';

const KINDS = ['host', 'host-send', 'host-receive', 'host-cpu', 'address', 'address-send', 'address-receive', 'group', 'probe', 'pair',
  'agent', 'link', 'cable', 'switch'];
const REFRESH = 15_000; // milliseconds
const MOST = 300;
const DAY = 86_400_000;
const SPANS: Record<string, number> = { '1 day': 1, '7 days': 7, '30 days': 30 };

function usePast(days: number): { past: Incident[]; note: string } {
  const [past, setPast] = useState<Incident[]>([]);
  const [note, setNote] = useState('');
  useEffect(() => {
    const abort = new AbortController();
    const ask = () => fetchPastIncidents(Date.now() - days * DAY, Date.now(), MOST, abort.signal).then((found) => {
      setPast(found);
      setNote(found.length === MOST ? `the newest ${humanCount(MOST)} are listed` : '');
    }, (failure: Error) => { if (!abort.signal.aborted) setNote(`no history: ${failure.message}`); });
    void ask();
    const timer = setInterval(ask, REFRESH);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [days]);
  return { past, note };
}

// Shows when the incident was open within the last `days`.
function Life({ incident, days }: { incident: Incident; days: number }) {
  const begin = now.value - days * DAY;
  const part = (at: number) => Math.min(1, Math.max(0, (at - begin) / (days * DAY)));
  const [from, to] = [part(Date.parse(incident.opened)), incident.closed === null ? 1 : part(Date.parse(incident.closed))];
  return <span class="life" role="img" aria-label={factsOf(incident, now.value)}>
    <i data-state={incident.severity} style={{ left: `${100 * from}%`, width: `${100 * (to - from)}%` }} /></span>;
}

const named = ({ kind, culprit }: Culprit) => `${kind} ${inLine(culprit)}`;

function Details({ incident }: { incident: Incident }) {
  const { evidence, counters = [], anomalies = [], history, candidates, tell, labels } = incident;
  return <div class="incident-details">
    {Object.keys(labels).length > 0 && <p class="quiet-text">{Object.entries(labels).map(([label, value]) => inText(`${label}=${value}`)).join(', ')}</p>}
    {candidates.length > 0 && <p>{`would explain it as well: ${candidates.map(named).join('; ')}`}</p>}
    {tell !== null && <p>{`what would tell: ${inText(tell)}`}</p>}
    {evidence.length > 0 && <div class="wide"><table class="pairs"><thead><tr><th scope="col">probe</th><th scope="col">source</th><th scope="col">destination</th>
      <th scope="col">judged</th><th scope="col">because</th><th /></tr></thead>
    <tbody>{evidence.map((pair) => <tr key={`${pair.probe} ${pair.source} ${pair.destination}`}>
      <td>{inLine(pair.probe)}</td><td>{inLine(pair.source_name)}</td><td>{inLine(pair.destination_name)}</td>
      <td><span class="chip" data-state={pair.severity}>{pair.severity}</span></td><td>{inText(pair.because)}</td>
      <td><button onClick={() => showEvidence(incident, pair)}>map</button> <button
        onClick={() => showEvidence(incident, pair, 'pair')}>pair</button></td>
    </tr>)}</tbody></table></div>}
    {counters.length > 0 && <ul class="quiet-text">{counters.map((each) => <li key={`${each.host} ${placeOf(each)} ${each.counter}`}>
      {inText(`${each.host}, ${placeOf(each)}: ${each.counter} +${grouped(each.moved)} since `)}
      <time dateTime={each.since}>{dayAndTime(Date.parse(each.since), now.value)}</time></li>)}</ul>}
    {anomalies.length > 0 && <ul class="quiet-text">{anomalies.map((each) => <li key={`${each.host} ${each.application} ${each.metric}`}>
      {`${inLine(each.host)}, application ${inLine(each.application)}: ${deviationText(each)}`}</li>)}</ul>}
    {history.length > 0 && <ol class="course">{history.map(({ at, severity, sentence }, line) => <li key={line}>
      <time dateTime={at}>{dayAndTime(Date.parse(at), now.value)}</time> <span class="chip" data-state={severity}>{severity}</span> <bdi>{inText(sentence)}</bdi></li>)}
      {incident.closed !== null && <li><time dateTime={incident.closed}>{dayAndTime(Date.parse(incident.closed), now.value)}</time> closed</li>}</ol>}
  </div>;
}

function Entry({ incident, days }: { incident: Incident; days: number }) {
  const chosen = view.value.incident === incident.id;
  const place = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => { if (chosen) place.current?.scrollIntoView?.({ block: 'nearest' }); }, [chosen]);
  return <li ref={place} class="incident" data-id={incident.id} data-severity={incident.severity} data-open={incident.closed === null || undefined}
    data-hushed={isHushed(incident) || undefined}>
    <button class="incident-head" aria-expanded={chosen} onClick={() => choose({ incident: chosen ? null : incident.id })}>
      <Sentence incident={incident} /></button>
    <p class="facts-line">{`${incident.closed === null ? 'open' : 'closed'} · ${named(incident)} · ${factsOf(incident, now.value)}`}</p>
    <Life incident={incident} days={days} />
    <Acts incident={incident} />
    {chosen && <Details incident={incident} />}
  </li>;
}

interface ChoiceProps { label: string; name: string; value: string; all: string[]; any: string | null; take: (value: string) => void }

function Choice({ label, name, value, all, any, take }: ChoiceProps) {
  return <label class="field">{label} <select id={name} value={value} onChange={(event) => take(event.currentTarget.value)}>
    {any !== null && <option value="">{any}</option>}
    {all.map((each) => <option key={each} value={each}>{each}</option>)}</select></label>;
}

export function IncidentPage() {
  const [span, setSpan] = useState('7 days');
  const days = SPANS[span];
  const { past, note } = usePast(days);
  const { severity, kind, filter: text } = view.value;
  const all = together(verdict.value.open, verdict.value.recent, past);
  const shown = all.filter((incident) => isWanted(incident, { severity, kind, text }));
  const open = shown.filter(({ closed }) => closed === null).length;
  return <main class="page" id="incidents">
    <div class="page-head">
      <h2>Incidents</h2>
      <Choice label="judged" name="severity" value={severity} any="anything" all={JUDGED_STATES.map(({ name }) => name)}
        take={(next) => choose({ severity: next }, true)} />
      <Choice label="of kind" name="kind" value={kind} any="any" all={KINDS} take={(next) => choose({ kind: next }, true)} />
      <label class="field">only <input id="filter" type="search" value={text} placeholder="part of a name or sentence"
        onInput={(event) => choose({ filter: event.currentTarget.value }, true)} /></label>
      <Choice label="last" name="incident-span" value={span} any={null} all={Object.keys(SPANS)} take={setSpan} />
      <span class="quiet-text" role="status">{`${humanCount(open)} open, ${humanCount(shown.length - open)} closed${
        shown.length < all.length ? ` of ${humanCount(all.length)}` : ''}${note && `; ${note}`}`}</span>
    </div>
    {all.length === 0 && <p class="hint">There were none.</p>}
    <ul class="incidents">{shown.map((incident) => <Entry key={incident.id} incident={incident} days={days} />)}</ul>
    <Silences />
  </main>;
}

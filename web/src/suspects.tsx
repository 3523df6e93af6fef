// The suspects: each open incident as a sentence, with the way to its evidence.

import { Acts } from './acts';
import { humanCount, inText } from './format';
import { allClear, type Evidence, factsOf, type Incident, metricOf } from './incident';
import { choose, now, time } from './store';
import { isHushed, suspects, verdict } from './verdict';

const MOST = 5;

// Leads to the pair, with the figure that accuses it: in the present, or when a past incident began.
export function showEvidence({ figure, closed, opened }: Incident, { probe, source, destination }: Evidence, page: 'mesh' | 'pair' = 'mesh') {
  choose({ page, probe, held: [source, destination], metric: metricOf(figure), sight: null, path: 0, warn: null, crit: null,
    time: closed === null ? null : Date.parse(opened) });
}

export function Sentence({ incident }: { incident: Incident }) {
  return <p class="sentence"><strong class="severity" data-state={incident.severity}>{incident.severity}</strong> <bdi>{inText(incident.sentence)}</bdi></p>;
}

function Suspect({ incident }: { incident: Incident }) {
  const [worst] = incident.evidence;
  return <li class="suspect" data-id={incident.id} data-severity={incident.severity} data-hushed={isHushed(incident) || undefined}>
    <Sentence incident={incident} />
    <p class="facts-line">{factsOf(incident, now.value)}</p>
    <Acts incident={incident}>
      {worst && <button class="show" onClick={() => showEvidence(incident, worst)}
        title={`${worst.probe}: ${inText(worst.source_name)} → ${inText(worst.destination_name)}, ${worst.because}`}>evidence</button>}
      <button onClick={() => choose({ page: 'incidents', incident: incident.id })}>more</button>
    </Acts>
  </li>;
}

export function Suspects() {
  const all = suspects.value;
  // An operator looks first at what nobody has taken up yet; the controller's order is kept otherwise.
  const listed = [...all].sort((a, b) => Number(isHushed(a)) - Number(isHushed(b))).slice(0, MOST);
  return <section id="suspects" class="suspects" aria-label="Suspects">
    <h2>Suspects{all.length > 0 && <em>{humanCount(all.length)}</em>}</h2>
    {time.value !== null && <p class="hushed">as of now, not of the time that the map shows</p>}
    {all.length === 0 && <p class="clear">{allClear(verdict.value, now.value)}</p>}
    <ul>{listed.map((incident) => <Suspect key={incident.id} incident={incident} />)}</ul>
    {all.length > listed.length && <p><button class="quiet" onClick={() => choose({ page: 'incidents', incident: null })}>
      {`${humanCount(all.length - listed.length)} more`}</button></p>}
  </section>;
}

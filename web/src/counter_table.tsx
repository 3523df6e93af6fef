// The table of the counters of a host's NICs and ports.

import { useState } from 'preact/hooks';
import { type CountersOfHost, grouped, placeOf, shownCounters, summaryOf } from './counters';
import { humanAge, inText } from './format';
import { usePolled } from './polled';
import { now } from './store';

const REFRESH = 5000; // milliseconds

// `host` is the agent's id.
export function CounterTable({ host }: { host: string }) {
  const known = usePolled<CountersOfHost>(`api/v1/counters?host=${encodeURIComponent(host)}`, REFRESH);
  const [all, setAll] = useState(false);
  if (known === null) return null;
  const shown = shownCounters(known.counters, all);
  return <section class="metric-pages" id="counters">
    <h3>counters of NICs and ports<span>{summaryOf(known, now.value)}</span></h3>
    {shown.length > 0 && <div class="wide"><table class="pairs"><thead><tr><th scope="col">device</th><th scope="col">counter</th><th scope="col">kind</th>
      <th scope="col">total</th><th scope="col">last 5 min</th><th scope="col">last moved</th></tr></thead>
    <tbody>{shown.map((each) => <tr key={`${placeOf(each)} ${each.counter}`}>
      <td>{inText(placeOf(each))}</td>
      <td>{inText(each.counter)}</td>
      <td>{each.kind === 'error' && each.moved > 0 ? <span class="chip" data-state="lossy">error</span> : each.kind}</td>
      <td class="number">{grouped(each.total)}</td>
      <td class="number">{each.moved > 0 ? `+${grouped(each.moved)}` : '0'}</td>
      <td>{each.last_moved === null ? '–' : `${humanAge(now.value - Date.parse(each.last_moved))} ago`}</td>
    </tr>)}</tbody></table></div>}
    {known.counters.length > 0 && <button class="quiet" aria-pressed={all} onClick={() => setAll(!all)}>{
      all ? 'only those that moved' : `all ${known.counters.length} counters`}</button>}
  </section>;
}

// The page of all applications that collectors read: a grid of applications and hosts, coloured by
// how unusual they are, and what was noticed.

import { AnomalyList, usePageEvents } from './anomaly_list';
import { addressesOf, useAllAgents } from './agents';
import { type Applications, type GridCell, gridOf, type Level } from './applications';
import { deviationText } from './deviation';
import { humanCount, inLine } from './format';
import { usePolled } from './polled';
import { choose, view } from './store';

const REFRESH = 5000; // milliseconds
const [MOST_HOSTS, MOST_APPLICATIONS] = [64, 100];

const LEVELS: [Level, string][] = [['unusual', 'unusual now'], ['near', 'near its limit'], ['usual', 'as usual'], ['learning', 'learned or not watched']];

function titleOf({ host, processes, level }: GridCell): string {
  const text = LEVELS.find(([name]) => name === level)![1];
  const largest = processes.flatMap(({ deviation }) => (deviation === null ? [] : [deviation]))
    .sort((a, b) => Math.abs(b.score) - Math.abs(a.score))[0];
  const count = processes.length === 1 ? '' : `, ${humanCount(processes.length)} processes`;
  return `${inLine(processes[0].application)} of ${inLine(host)}${count}: ${text}${largest ? `: ${deviationText(largest)}` : ''}`;
}

// Returns what opens the page of a host; null for a host that no agent registered an address for.
function useOpen(): (host: string) => (() => void) | null {
  const agents = useAllAgents();
  return (host) => {
    const address = agents?.find((agent) => agent.host === host);
    const first = address && addressesOf(address)[0];
    return first === undefined ? null : () => choose({ page: 'host', host: first });
  };
}

export function ApplicationsPage() {
  const answer = usePolled<Applications>('api/v1/applications', REFRESH);
  const { span } = view.value;
  const events = usePageEvents(span);
  const open = useOpen();
  if (answer === null) return <main class="page" id="applications" />;
  const grid = gridOf(answer.applications, MOST_HOSTS, MOST_APPLICATIONS);
  return <main class="page" id="applications">
    <div class="page-head"><h2>Applications by host</h2><span class="quiet-text">those whose metric pages a collector reads</span></div>
    {answer.collectors === 0 && <p class="hint">No collector has registered here. Write <code>controller: URL</code>, with this controller's URL,
      in a collector's configuration; <code>analytics:</code> there has it look for anomalies.</p>}
    {answer.collectors > 0 && grid.rows.length === 0 && <p class="hint">{`${humanCount(answer.collectors)} ${
      answer.collectors === 1 ? 'collector reads' : 'collectors read'} no application yet. `}Agents serve pages
      with <code>pages:</code> in their configuration.</p>}
    {grid.rows.length > 0 && <><ul class="levels">{LEVELS.map(([level, text]) => <li key={level}><i data-level={level} />{text}</li>)}</ul>
      <div class="wide"><table class="application-grid">
        <thead><tr><th scope="col">application</th>{grid.hosts.map((host) => <th key={host} scope="col"><span>{inLine(host)}</span></th>)}</tr></thead>
        <tbody>{grid.rows.map(({ application, cells }) => <tr key={application} data-application={application}><th scope="row">{inLine(application)}</th>
          {cells.map((cell, at) => <td key={grid.hosts[at]}>{cell && <button data-level={cell.level} title={titleOf(cell)}
            aria-label={titleOf(cell)} disabled={open(cell.host) === null} onClick={() => open(cell.host)?.()} />}</td>)}
        </tr>)}</tbody>
      </table></div></>}
    {(grid.moreHosts > 0 || grid.moreApplications > 0 || answer.left_out > 0) && <p class="cut">{`${humanCount(grid.moreHosts)} more hosts, ${
      humanCount(grid.moreApplications)} more applications and ${humanCount(answer.left_out)} more processes are not shown.`}</p>}
    <AnomalyList found={events} span={span} open />
  </main>;
}

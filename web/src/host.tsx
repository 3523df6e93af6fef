// The page of one host: its pairs as a source, its pairs as a destination, and the facts about its
// agent.

import { useEffect, useState } from 'preact/hooks';
import { type Agent, labelsOf, planOf, useAgents } from './agents';
import { CounterTable } from './counter_table';
import { humanAge, humanCount, inText } from './format';
import { hostsOf } from './incident';
import { MetricPages } from './metric_pages';
import { fetchRow, type PairRow } from './pair_row';
import { PeerTable } from './peers';
import { MaintenanceOf } from './quiet_lists';
import { choose, grid, model, now, painted, view } from './store';
import { suspects } from './verdict';

// Fetches a row of a source for its clock and device: rows name them for every protocol,
// registrations only for RDMA.
function useRow(probe: string, source: string, destination: string | undefined): PairRow | null {
  const [row, setRow] = useState<PairRow | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    setRow(null);
    if (destination === undefined) return undefined;
    fetchRow(probe, source, destination, abort.signal).then((found) => { if (!abort.signal.aborted) setRow(found); }, () => {});
    return () => abort.abort();
  }, [probe, source, destination]);
  return row;
}

export function HostPage() {
  painted.value;
  const address = view.value.host ?? '';
  const host = model.nameOf(address).split('/')[0];
  const [agent] = useAgents([address]);
  const current = grid.value!;
  const { name: probe, sources, destinations } = current.probe;
  const [row, column] = [sources.indexOf(address), destinations.indexOf(address)];
  const to = row < 0 ? [] : Array.from({ length: current.columns }, (_, at) => row * current.columns + at);
  const from = column < 0 ? [] : Array.from({ length: current.rows }, (_, at) => at * current.columns + column);
  const measured = to.find((cell) => current.isPair(cell));
  const newest = useRow(probe, address, measured === undefined ? undefined : destinations[measured % current.columns]);
  return <main class="page">
    <div class="page-head"><h2>{inText(model.nameOf(address))}</h2><span class="quiet-text">{address}</span>
      <Accusations host={host} /></div>
    <MaintenanceOf key={host} host={host} />
    <Facts agent={agent} address={address} probe={probe} row={newest} />
    {agent && <CounterTable host={agent.host} />}
    {agent && <MetricPages agent={agent} />}
    <div class="columns">
      <PeerTable key={`from ${address}`} title="from here to" cells={to} current={current}
        peer={(cell) => destinations[cell % current.columns]} />
      <PeerTable key={`to ${address}`} title="to here from" cells={from} current={current}
        peer={(cell) => sources[Math.floor(cell / current.columns)]} />
    </div>
  </main>;
}

// The open incidents that accuse the host.
function Accusations({ host }: { host: string }) {
  return <>{suspects.value.filter((incident) => hostsOf(incident).includes(host)).map(({ id, severity, sentence }) => <button key={id} class="quiet"
    title={inText(sentence)} onClick={() => choose({ page: 'incidents', incident: id })}><span class="chip" data-state={severity}>{severity}</span></button>)}</>;
}

interface FactsProps { agent: Agent | null | undefined; address: string; probe: string; row: PairRow | null }

function Facts({ agent, address, probe, row }: FactsProps) {
  const facts: [string, string][] = [...labelsOf(address)];
  if (agent) {
    facts.unshift(['agent', `${agent.host}, ${agent.alive ? 'alive' : 'down'}`]);
    facts.push(['version', agent.version], ['plan', planOf(agent)],
      ['last seen', `${humanAge(now.value - Date.parse(agent.last_seen))} ago`]);
  }
  if (row?.clock) facts.push([`measures ${probe} with`, [`${row.clock} clock`, ...(row.device ? [row.device] : [])].join(', ')]);
  for (const { address: at, device, clock, gid, qpn } of agent?.endpoints ?? []) {
    facts.push([`device ${at}`, `${device}, ${clock} clock, QP ${qpn}, ${gid}`]);
  }
  for (const [name, count] of Object.entries(agent ?? {})) {
    if (typeof count === 'number' && name !== 'port') facts.push([name.replace(/_/g, ' '), humanCount(count)]);
  }
  return <>
    {agent === null && <p class="meaning">No agent has registered for this address.</p>}
    <dl class="facts">{facts.map(([name, text], at) => [<dt key={`${at} name`}>{inText(name)}</dt>, <dd key={at}>{inText(text)}</dd>])}</dl>
  </>;
}

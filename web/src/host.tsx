// One host: what it measures of the others, what they measure of it, and what is known of its agent.

import { type Agent, labelsOf, useAgents } from './agents';
import { humanAge, humanCount } from './format';
import { MetricPages } from './metric_pages';
import { openPair, stateOf } from './map';
import { humanCode } from './metrics';
import type { Grid } from './model';
import { grid, metric, model, now, painted, view } from './store';

export function HostPage() {
  painted.value;
  const address = view.value.host ?? '';
  const [agent] = useAgents([address]);
  const current = grid.value!;
  const [row, column] = [current.probe.sources.indexOf(address), current.probe.destinations.indexOf(address)];
  const to = row < 0 ? [] : Array.from({ length: current.columns }, (_, at) => row * current.columns + at);
  const from = column < 0 ? [] : Array.from({ length: current.rows }, (_, at) => at * current.columns + column);
  return <main class="page">
    <div class="page-head"><h2>{model.nameOf(address)}</h2><span class="quiet-text">{address}</span></div>
    <Facts agent={agent} address={address} />
    {agent && <MetricPages agent={agent} />}
    <div class="columns">
      <PeerTable title="from here to" cells={to} current={current}
        peer={(cell) => current.probe.destinations[cell % current.columns]} />
      <PeerTable title="to here from" cells={from} current={current}
        peer={(cell) => current.probe.sources[Math.floor(cell / current.columns)]} />
    </div>
  </main>;
}

function Facts({ agent, address }: { agent: Agent | null | undefined; address: string }) {
  const facts: [string, string][] = [...labelsOf(address)];
  if (agent) {
    facts.unshift(['agent', `${agent.host}, ${agent.alive ? 'alive' : 'down'}`]);
    facts.push(['version', agent.version], ['plan', agent.plan_current ? 'the one in force' : 'an older one'],
      ['last seen', `${humanAge(now.value - Date.parse(agent.last_seen))} ago`]);
    for (const { address: at, device, clock, gid, qpn } of agent.endpoints) {
      facts.push([`device ${at}`, `${device}, ${clock} clock, QP ${qpn}, ${gid}`]);
    }
    for (const [name, count] of Object.entries(agent)) {
      if (typeof count === 'number' && name !== 'port') facts.push([name.replace(/_/g, ' '), humanCount(count)]);
    }
  }
  return <>
    {agent === null && <p class="meaning">No agent has registered for this address.</p>}
    <dl class="facts">{facts.map(([name, text]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{text}</dd>])}</dl>
  </>;
}

interface PeerProps { title: string; cells: number[]; current: Grid; peer: (cell: number) => string }

function PeerTable({ title, cells, current, peer }: PeerProps) {
  const pairs = cells.filter((cell) => current.isPair(cell));
  const bad = pairs.filter((cell) => !['ok', 'pending', 'not measured'].includes(stateOf(current, cell)));
  return <section>
    <h3>{title}<span>{`${humanCount(bad.length)} of ${humanCount(pairs.length)} not well or slow`}</span></h3>
    {pairs.length === 0 && <p class="hint">{`Nothing in ${current.probe.name}.`}</p>}
    <table class="pairs"><thead><tr><th scope="col">host</th><th scope="col">state</th>
      <th scope="col">{metric.value.label}</th><th /></tr></thead>
    <tbody>{[...bad, ...pairs.filter((cell) => !bad.includes(cell)).slice(0, 300)].map((cell) => <tr key={cell}>
      <td>{model.nameOf(peer(cell))}</td>
      <td><span class="chip" data-state={stateOf(current, cell)}>{stateOf(current, cell)}</span></td>
      <td class="number">{humanCode(metric.value, current.values[cell])}</td>
      <td><button onClick={() => openPair(cell)} aria-label={`Open the pair with ${model.nameOf(peer(cell))}`}>open</button></td>
    </tr>)}</tbody></table>
  </section>;
}

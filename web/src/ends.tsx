// The two ends of a pair: their hosts, labels and agents, and the devices and clocks that they
// measure with.

import { useAgents, type Agent, labelsOf } from './agents';
import { inText } from './format';
import type { PairRow } from './pair_row';
import { model } from './store';

// `row` is the latest row that this end reported as a source: it names the device that measured.
function factsOf(address: string, agent: Agent | null | undefined, row: PairRow | null | undefined): [string, string][] {
  const facts: [string, string][] = [['host', model.nameOf(address)], ['address', address], ...labelsOf(address)];
  if (agent === null) facts.push(['agent', 'not registered']);
  if (agent) facts.push(['agent', `${agent.host}, ${agent.alive ? 'alive' : 'down'}, ${agent.version}`]);
  const endpoint = agent?.endpoints.find((each) => each.address === address);
  const device = row?.device ?? endpoint?.device;
  const clock = row?.clock ?? endpoint?.clock;
  if (device) facts.push(['device', device]);
  if (clock) facts.push(['timestamps', `${clock} clock`]);
  if (endpoint) facts.push(['rdma endpoint', `${endpoint.device}, QP ${endpoint.qpn}, ${endpoint.gid}`]);
  return facts;
}

interface Props { source: string; destination: string; there?: PairRow; back?: PairRow | null }

export function Ends({ source, destination, there, back }: Props) {
  const agents = useAgents([source, destination]);
  const ends: [string, string, PairRow | null | undefined][] = [['source', source, there], ['destination', destination, back]];
  return <div class="columns" id="ends">{ends.map(([title, address, row], at) => <section key={title}>
    <h3>{title}</h3>
    <dl class="facts">{factsOf(address, agents[at], row).map(([name, text], line) =>
      [<dt key={`${line} name`}>{inText(name)}</dt>, <dd key={line}>{inText(text)}</dd>])}</dl>
  </section>)}</div>;
}

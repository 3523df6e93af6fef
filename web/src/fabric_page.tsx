// The page of the fabric: its switches by tiers, its links coloured by open incidents, and the flows that cross the chosen one.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { draw, type Drawing, type Fabric, FEW_FLOWS, type Flow, type Flows, flowsPath, halfLine, isSame, NO_FABRIC, type Part, summaryOf, titleOf, WIDTH } from './fabric';
import { humanCount, inLine, inText } from './format';
import type { Incident } from './incident';
import { usePolled } from './polled';
import { fetchJson } from './status';
import { choose, model } from './store';
import { suspects } from './verdict';

const REFRESH = 2000; // milliseconds
const MOST_DRAWN = 5000; // directions; larger fabrics are listed only
const RADIUS = 8;

function useFlows(part: Part | null): Flows | null {
  const [flows, setFlows] = useState<Flows | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    setFlows(null);
    if (part) fetchJson<Flows>(flowsPath(part), abort.signal).then((found) => { if (!abort.signal.aborted) setFlows(found); }, () => {});
    return () => abort.abort();
  }, [part?.from, part?.to]);
  return flows;
}

const incidentOf = (id: string | null): Incident | undefined => (id === null ? undefined : suspects.value.find((each) => each.id === id));

interface Chosen { chosen: Part | null; take: (part: Part) => void }

export function FabricPage() {
  const fabric = usePolled<Fabric>('api/v1/fabric', REFRESH);
  const [chosen, take] = useState<Part | null>(null);
  const known = fabric ?? NO_FABRIC;
  const drawing = useMemo(() => draw(known.switches), [known.switches.map(({ name }) => name).join()]);
  return <main class="page" id="fabric">
    <div class="page-head"><h2>Fabric</h2><span class="quiet-text">{summaryOf(known)}</span></div>
    {fabric !== null && known.switches.length === 0 && <p class="cut">No path through a switch is known. Agents trace the flows of
      RDMA probes over the soft device, and a switch is known once it answers them.</p>}
    {!known.merged && <p class="cut">Switches answer from addresses of other links, so only those next to hosts could be told by their
      addresses. Name the others in a topology file.</p>}
    <AccusedParts fabric={known} chosen={chosen} take={take} />
    <div class="fabric">
      {known.links.length <= MOST_DRAWN ? <FabricMap fabric={known} drawing={drawing} chosen={chosen} take={take} />
        : <p class="cut">{`${humanCount(known.links.length)} links are too many to draw.`}</p>}
      {chosen && <FlowsOf part={chosen} fabric={known} take={take} />}
    </div>
  </main>;
}

// What open incidents accuse stands first, in words.
function AccusedParts({ fabric, chosen, take }: { fabric: Fabric } & Chosen) {
  const parts: [Part, Incident | undefined][] = [...fabric.switches.map(({ name, incident }): [Part, string | null] => [{ from: name, to: name }, incident]),
    ...fabric.links.map(({ from, to, incident }): [Part, string | null] => [{ from, to }, incident])]
    .map(([part, id]): [Part, Incident | undefined] => [part, incidentOf(id)]);
  const first = new Map<string, [Part, Incident]>(); // a cable's incident belongs to two directions
  for (const [part, incident] of parts) if (incident && !first.has(incident.id)) first.set(incident.id, [part, incident]);
  if (first.size === 0) return null;
  return <ul class="incidents">{[...first.values()].map(([part, { id, severity, sentence }]) => <li key={id} class="incident" data-severity={severity} data-open>
    <p class="sentence">{inText(sentence)}</p>
    <p class="acts"><button class="show" onClick={() => choose({ page: 'incidents', incident: id })}>incident</button>
      <button aria-pressed={isSame(chosen, part)} onClick={() => take(part)}>flows</button></p>
  </li>)}</ul>;
}

function FabricMap({ fabric, drawing, chosen, take }: { fabric: Fabric; drawing: Drawing } & Chosen) {
  if (fabric.switches.length === 0) return null;
  return <svg class="fabric-map" viewBox={`0 0 ${WIDTH} ${drawing.height}`} role="group" aria-label="Switches and links">
    {fabric.links.map((link) => {
      const line = halfLine(drawing, link);
      const incident = incidentOf(link.incident);
      if (!line) return null;
      const [{ x, y }, end] = line;
      return <line key={`${link.from} ${link.to}`} x1={x} y1={y} x2={end.x} y2={end.y} data-link={`${link.from} ${link.to}`} data-few={link.flows < FEW_FLOWS}
        data-severity={incident?.severity} data-chosen={isSame(chosen, link)} onClick={() => take({ from: link.from, to: link.to })}>
        <title>{`${titleOf(link)}: ${humanCount(link.flows)} flows${incident ? `\n${inText(incident.sentence)}` : ''}`}</title></line>;
    })}
    {fabric.switches.map(({ name, incident: id, addresses }) => {
      const spot = drawing.spots.get(name)!;
      const incident = incidentOf(id);
      const part = { from: name, to: name };
      return <g key={name} class="switch-node" role="button" tabindex={0} aria-label={inLine(name)} data-switch={name} data-severity={incident?.severity}
        data-chosen={isSame(chosen, part)} onClick={() => take(part)} onKeyDown={(event) => { if (event.key === 'Enter') take(part); }}>
        <circle cx={spot.x} cy={spot.y} r={RADIUS} />
        <text x={spot.x} y={spot.y - RADIUS - 3}>{inLine(name)}</text>
        <title>{`${inLine(name)}: ${addresses.join(', ')}${incident ? `\n${inText(incident.sentence)}` : ''}`}</title>
      </g>;
    })}
  </svg>;
}

function FlowsOf({ part, fabric, take }: { part: Part; fabric: Fabric; take: (part: Part) => void }) {
  const found = useFlows(part);
  const around = part.from === part.to ? fabric.links.filter(({ from, to }) => from === part.from || to === part.from) : [];
  return <section class="fabric-flows" aria-label="Flows">
    <h3>{titleOf(part)}<span>{found ? `${humanCount(found.flows)} flows` : '…'}</span></h3>
    {part.from !== part.to && <p><button class="quiet" onClick={() => take({ from: part.to, to: part.from })}>the other direction</button></p>}
    {around.length > 0 && <p class="acts">{around.map((link) => <button key={titleOf(link)} onClick={() => take({ from: link.from, to: link.to })}>
      {`${titleOf(link)} (${humanCount(link.flows)})`}</button>)}</p>}
    {found && found.listed.length > 0 && <table class="pairs"><thead><tr><th scope="col">probe</th><th scope="col">from</th><th scope="col">to</th>
      <th scope="col">path</th><th /></tr></thead>
    <tbody>{found.listed.map((flow) => <FlowLine key={`${flow.probe} ${flow.source} ${flow.destination} ${flow.path}`} flow={flow} />)}</tbody></table>}
    {found && found.flows > found.listed.length && <p class="cut">{`The first ${humanCount(found.listed.length)} are listed.`}</p>}
  </section>;
}

function FlowLine({ flow }: { flow: Flow }) {
  const known = model.gridNamed(flow.probe) !== undefined;
  const open = () => choose({ page: 'pair', probe: flow.probe, held: [flow.source, flow.destination], path: flow.path });
  return <tr><td>{inLine(flow.probe)}</td><td>{inLine(flow.source_name)}</td><td>{inLine(flow.destination_name)}</td>
    <td class="number">{flow.path === 0 ? '' : flow.path}</td><td>{known && <button onClick={open}>open</button>}</td></tr>;
}

// The table of a host's pairs, those with a problem first.

import { useState } from 'preact/hooks';
import { humanCount, inLine } from './format';
import { stateOf } from './map';
import { humanCode } from './metrics';
import type { Grid } from './model';
import { metric, model, openPair } from './store';

const MOST = 300; // until the user asks for all

interface Props { title: string; cells: number[]; current: Grid; peer: (cell: number) => string }

export function PeerTable({ title, cells, current, peer }: Props) {
  const [all, setAll] = useState(false);
  const pairs = cells.filter((cell) => current.isPair(cell));
  const isBad = (cell: number) => !['ok', 'pending', 'not measured', 'unjudged'].includes(stateOf(current, cell));
  const bad = pairs.filter(isBad);
  const listed = [...bad, ...pairs.filter((cell) => !isBad(cell))].slice(0, all ? undefined : MOST);
  return <section>
    <h3>{title}<span>{`${humanCount(bad.length)} of ${humanCount(pairs.length)} have a problem or are slow`}</span></h3>
    {pairs.length === 0 && <p class="hint">{`${current.probe.name} has no such pairs.`}</p>}
    <table class="pairs"><thead><tr><th scope="col">host</th><th scope="col">state</th>
      <th scope="col">{metric.value.label}</th><th /></tr></thead>
    <tbody>{listed.map((cell) => <tr key={cell}>
      <td>{inLine(model.nameOf(peer(cell)))}</td>
      <td><span class="chip" data-state={stateOf(current, cell)}>{stateOf(current, cell)}</span></td>
      <td class="number">{humanCode(metric.value, current.values[cell])}</td>
      <td><button onClick={() => openPair(cell)} aria-label={`Open the pair with ${inLine(model.nameOf(peer(cell)))}`}>open</button></td>
    </tr>)}</tbody></table>
    {listed.length < pairs.length && <p class="cut">
      {`${humanCount(listed.length)} of ${humanCount(pairs.length)} pairs are listed, those with a problem first. `}
      <button class="quiet" onClick={() => setAll(true)}>list all</button></p>}
  </section>;
}

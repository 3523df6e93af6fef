// The page that ranks the hosts of the shown probe.

import { useMemo } from 'preact/hooks';
import { humanCount, humanRatio, inLine, inText } from './format';
import { rankHosts, type Way } from './host_ranks';
import { Maintained } from './quiet_lists';
import { choose, grid, model, now, ranks } from './store';
import { suspects } from './verdict';

const MOST = 200;

function share({ bad, pairs }: Way): string {
  return pairs === 0 ? '–' : `${humanRatio(bad / pairs)} (${humanCount(bad)} of ${humanCount(pairs)})`;
}

// A ranking visits every row, so it follows the clock rather than each painting.
export function HostsPage() {
  const shown = ranks.value!;
  const { hosts, others, otherBad } = useMemo(() => rankHosts(shown, suspects.value, (address) => model.nameOf(address)),
    [shown, suspects.value, now.value]);
  return <main class="page" id="hosts">
    <div class="page-head"><h2>{`Hosts of ${inLine(grid.value!.probe.name)}`}</h2>
      <span class="quiet-text">by open incidents, then by the share of bad pairs that no host above explains</span></div>
    {hosts.length > 0 && <table class="pairs ranking"><thead><tr><th scope="col">host</th><th scope="col">incidents</th>
      <th scope="col">bad from here</th><th scope="col">bad to here</th><th /></tr></thead>
    <tbody>{hosts.slice(0, MOST).map(({ address, incidents, sends, receives }) => <tr key={address}>
      <td>{inLine(model.nameOf(address))}</td>
      <td>{incidents.map(({ id, severity, sentence }) => <button key={id} class="chip" data-state={severity} title={inText(sentence)}
        onClick={() => choose({ page: 'incidents', incident: id })}>{severity}</button>)}</td>
      <td class="number">{share(sends)}</td><td class="number">{share(receives)}</td>
      <td><button onClick={() => choose({ page: 'host', host: address })} aria-label={`Open ${inLine(model.nameOf(address))}`}>open</button></td>
    </tr>)}</tbody></table>}
    {hosts.length > MOST && <p class="cut">{`The first ${humanCount(MOST)} of ${humanCount(hosts.length)} accused hosts are listed.`}</p>}
    <p class="cut">{`${hosts.length === 0 ? 'No host stands out. ' : ''}${humanCount(others)} ${hosts.length === 0 ? '' : 'other '}hosts: ${
      otherBad === 0 ? 'no bad pairs among them' : `${humanCount(otherBad)} bad ${otherBad === 1 ? 'pair' : 'pairs'} among them`}.`}</p>
    <Maintained />
  </main>;
}

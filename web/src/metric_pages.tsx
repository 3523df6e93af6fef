// The table of a host's applications that have metric pages.

import type { Agent } from './agents';
import { humanCount } from './format';
import { pagesTable } from './page_owners';

export function MetricPages({ agent }: { agent: Agent }) {
  const table = pagesTable(agent.pages, agent.page_owners);
  if (table === null) return null;
  return <section class="metric-pages">
    <h3>metric pages<span>{table.summary}</span></h3>
    {table.rows.length > 0 && <table class="pairs"><thead><tr><th scope="col">application</th><th scope="col">pid</th>
      <th scope="col">pages</th><th scope="col">metrics</th></tr></thead>
    {/* The key has the row's number because several applications may share a name and the pid 0, which stands for an
        unknown pid. */}
    <tbody>{table.rows.map(({ application, pid, pages, metrics }, row) => <tr key={`${pid} ${application} ${row}`}>
      <td>{application}</td>
      <td class="number">{pid}</td>
      <td class="number">{humanCount(pages)}</td>
      <td class="number">{humanCount(metrics)}</td>
    </tr>)}</tbody></table>}
    {table.more !== '' && <p class="hint">{table.more}</p>}
  </section>;
}

// The applications of a host that have metric pages: what they are, their metrics with sparklines,
// and what is unusual about them.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Agent } from './agents';
import { deviationText, humanMetric, humanValue } from './deviation';
import { clockTime, humanCount, inLine, inText } from './format';
import { addPages, type ApplicationMetrics, type Exemplar, type History, type HostPages, labelsText, type MetricLine, sparkline } from './host_metrics';
import { pagesTable } from './page_owners';
import { fetchJson } from './status';

const REFRESH = 2000; // milliseconds
const RETRY = 10_000; // after a failure, such as that no collector reads the host
const FEW = 12; // metrics of an application that are shown at first
const [WIDTH, HEIGHT] = [120, 18];

interface Read { applications: ApplicationMetrics[]; fault: string }

// Asks the host's collector again and again, and keeps what it has answered.
function useMetrics(host: string | null): Read {
  const [read, setRead] = useState<Read>({ applications: [], fault: '' });
  const history = useRef<History>(new Map());
  useEffect(() => {
    history.current = new Map();
    setRead({ applications: [], fault: '' });
    if (host === null) return undefined;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const once = async () => {
      const next = await fetchJson<HostPages>(`api/v1/applications/${encodeURIComponent(host)}`, abort.signal)
        .then((pages) => ({ applications: addPages(history.current, pages, Date.now()), fault: '' }))
        .catch(({ message }: Error) => ({ applications: [], fault: message }));
      if (abort.signal.aborted) return;
      setRead(next);
      timer = setTimeout(once, next.fault === '' ? REFRESH : RETRY);
    };
    void once();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [host]);
  return read;
}

export function MetricPages({ agent }: { agent: Agent }) {
  const table = pagesTable(agent.pages, agent.page_owners);
  const { applications, fault } = useMetrics(table === null ? null : agent.host);
  if (table === null) return null;
  return <section class="metric-pages">
    <h3>metric pages<span>{table.summary}</span></h3>
    {fault !== '' && <p class="hint" id="no-collector">{`${inText(fault)}. `}Values are shown here if a collector that reads this host
      has <code>controller: URL</code> in its configuration.</p>}
    {applications.length > 0 ? applications.map((each) => <ApplicationBlock key={each.owner} shown={each} />)
      : <Owners rows={table.rows} />}
    {table.more !== '' && <p class="hint">{table.more}</p>}
  </section>;
}

// The applications as the agent counts them, which needs no collector.
function Owners({ rows }: { rows: { application: string; pid: number; pages: number; metrics: number }[] }) {
  if (rows.length === 0) return null;
  return <table class="pairs"><thead><tr><th scope="col">application</th><th scope="col">pid</th>
    <th scope="col">pages</th><th scope="col">metrics</th></tr></thead>
  {/* The key has the row's number because several applications may share a name and the pid 0, which stands for an
      unknown pid. */}
  <tbody>{rows.map(({ application, pid, pages, metrics }, row) => <tr key={`${pid} ${application} ${row}`}>
    <td>{application}</td>
    <td class="number">{pid}</td>
    <td class="number">{humanCount(pages)}</td>
    <td class="number">{humanCount(metrics)}</td>
  </tr>)}</tbody></table>;
}

function ApplicationBlock({ shown }: { shown: ApplicationMetrics }) {
  const [all, setAll] = useState(false);
  const { application, pid, state, lines, anomalies } = shown;
  const unusual = lines.filter(({ deviation }) => deviation !== null).length;
  const visible = all ? lines : lines.slice(0, Math.max(FEW, unusual));
  return <div class="application" data-application={application} data-unusual={anomalies.length > 0}>
    <h4>{inLine(application)}<span>{`pid ${pid}, ${state === 'fresh' ? '' : `${state}, `}${humanCount(lines.length)} metrics`}</span></h4>
    {anomalies.length > 0 && <ul class="deviations">{anomalies.map((each, at) => <li key={at}>{deviationText(each)}</li>)}</ul>}
    <table class="pairs metrics"><thead><tr><th scope="col">metric</th><th scope="col">since opened</th>
      <th scope="col">value</th><th scope="col" /></tr></thead>
    <tbody>{visible.map((line) => <MetricRow key={line.key} line={line} />)}</tbody></table>
    {visible.length < lines.length && <button class="quiet" onClick={() => setAll(true)}>{`show all ${humanCount(lines.length)} metrics`}</button>}
  </div>;
}

function whatOf({ name, kind, more, total, p99 }: MetricLine): string {
  const tail = p99 === null ? [] : [`p99 ${humanMetric(name, p99)}`]; // a summary may have none
  const parts = kind === 'histogram' || kind === 'summary' ? [more, ...tail, `${humanValue(total)} in all`]
    : kind === 'counter' ? [more, `${humanValue(total)} in all`] : [];
  return parts.join(', ');
}

// The trace of the largest value, which is the one to look at where something is slow; a tooltip has all of them.
function Traces({ line: { name, exemplars }, text }: { line: MetricLine; text: (value: number) => string }) {
  if (exemplars.length === 0) return null;
  const one = (each: Exemplar) => `${text(each.value)} at ${clockTime(Date.parse(each.time))}: ${inLine(labelsText(each.labels))}`;
  return <div class="exemplar" data-metric={name} title={exemplars.map(one).join('\n')}><bdi>{one(exemplars[0])}</bdi></div>;
}

function MetricRow({ line }: { line: MetricLine }) {
  const { name, kind, value, points, deviation } = line;
  const text = (each: number) => (kind === 'counter' ? humanValue(each) : humanMetric(name, each));
  return <tr data-unusual={deviation !== null} title={deviation === null ? undefined : deviationText(deviation)}>
    <td>{inLine(name)}</td>
    <td><svg class="spark" width={WIDTH} height={HEIGHT + 2} viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`} role="img"
      aria-label={points.length < 2 ? 'no course yet' : `from ${text(Math.min(...points))} to ${text(Math.max(...points))}`}>
      <polyline points={sparkline(points, WIDTH, HEIGHT)} /></svg></td>
    <td class="number">{value === null ? '–' : text(value)}</td>
    <td class="quiet-text">{whatOf(line)}<Traces line={line} text={text} /></td>
  </tr>;
}

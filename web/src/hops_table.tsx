// Draws a pair's paths hop by hop, with what was before.

import { humanAge, humanNanos, inLine } from './format';
import { endOf, firstChange, hopName, type KnownPath, type PathsOfPair, type Trace, wordsOf } from './hops';
import { usePolled } from './polled';
import { now } from './store';

const REFRESH = 5000; // milliseconds

// The known paths of a pair, in both directions.
export function useKnownPaths(probe: string, pair: [string, string] | null): PathsOfPair | null {
  return usePolled(pair && `api/v1/paths/${[probe, ...pair].map(encodeURIComponent).join('/')}`, REFRESH);
}

interface Ends { from: string; to: string }

function Hops({ trace, from, to, changed }: { trace: Trace; changed: number } & Ends) {
  const end = endOf(trace);
  return <ol class="hops" data-state={trace.state}>
    <li class="end">{inLine(from)}</li>
    {trace.hops.map((hop, at) => <li key={at} data-silent={hop.router === null} data-changed={at === changed} title={hop.router ?? 'it did not answer'}>
      {inLine(hopName(hop))}<small>{hop.rtt_ns === undefined ? '' : humanNanos(hop.rtt_ns)}</small></li>)}
    {end === '' ? <li class="end">{inLine(to)}<small>{humanNanos(trace.rtt_ns)}</small></li> : <li class="broken">{end}</li>}
  </ol>;
}

// The connections of a TCP pair take many paths, so a different path of another connection is no change.
function Connections({ known }: { known: KnownPath }) {
  return <>
    <p class="quiet-text">{`${known.state}, traced ${humanAge(now.value - Date.parse(known.traced))} ago: a connection from port ${known.source_port}`}</p>
    {known.before.map((each) => <p class="quiet-text" key={each.traced}>
      {`${humanAge(now.value - Date.parse(each.traced))} ago, from port ${each.source_port}: ${wordsOf(each)}${endOf(each) === '' ? '' : `, ${endOf(each)}`}`}</p>)}
  </>;
}

function History({ known }: { known: KnownPath }) {
  if (known.source_port !== undefined) return <Connections known={known} />;
  const age = humanAge(now.value - Date.parse(known.traced));
  const since = humanAge(now.value - Date.parse(known.since));
  return <p class="quiet-text">{`${known.state}, traced ${age} ago, this path for ${since}`}
    {known.changes > 0 && `, changed ${known.changes === 1 ? 'once' : `${known.changes} times`}`}
    {known.before.length > 0 && <span title={known.before.map((each) => `until ${each.traced}: ${wordsOf(each)}`).join('\n')}>{`; before: ${wordsOf(known.before[0])}`}</span>}
  </p>;
}

// `path` is the chosen one; 0 stands for all.
export function HopsTable({ known, path, from, to }: { known: KnownPath[]; path: number } & Ends) {
  const shown = path === 0 ? known : known.filter((each) => each.path === path);
  if (shown.length === 0) return null;
  return <div class="hop-lists" aria-label="Path through the fabric">{shown.map((each) => <div key={each.path} data-path={each.path}>
    {known.length > 1 && <b>{`path ${each.path}`}</b>}
    <Hops trace={each} from={from} to={to} changed={each.source_port === undefined ? firstChange(each, each.before[0]) : -1} />
    {each.broken && <><p class="broken-note">{`The newest trace, ${humanAge(now.value - Date.parse(each.broken.traced))} ago, came only so far:`}</p>
      <Hops trace={each.broken} from={from} to={to} changed={-1} /></>}
    <History known={each} />
  </div>)}</div>;
}

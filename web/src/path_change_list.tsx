// Changes of flows' paths as marks on the timeline, and as a list.

import { humanCount } from './format';
import { rangeOf } from './past';
import { fetchPathChanges, flowsOf, type PathChange, type PathChanges, pathMarksOf, sidesOfPath } from './path_changes';
import { useRepeated } from './polled';
import { choose } from './store';

const REFRESH = 15_000; // milliseconds
const BINS = 150;
const MOST = 500;
const NONE: PathChanges = { left_out: 0, changes: [] };

// Fetches the changes within the last `span`, or within `span` around a time, again and again. Failures are not shown.
export function usePathChanges(probe: string, span: string, pair: [string, string] | null, time: number | null): PathChanges {
  const ask = (signal: AbortSignal) => fetchPathChanges(probe, rangeOf(span, time), pair, MOST, signal);
  return useRepeated(JSON.stringify([probe, span, pair, time]), NONE, probe === '' ? null : ask, REFRESH);
}

interface MarksProps { changes: PathChange[]; start: number; end: number; go: (time: number) => void }

export function PathMarks({ changes, start, end, go }: MarksProps) {
  return <span class="marks" aria-hidden="true">
    {pathMarksOf(changes, start, end, BINS).map(({ place, time, title }) => <button key={title} class="mark path" tabIndex={-1}
      title={title} style={{ '--place': String(place) }} onClick={() => go(time)} />)}
  </span>;
}

function goTo({ probe, source, destination, path, at }: PathChange) {
  choose({ page: 'pair', probe, time: Date.parse(at), held: [source, destination], path });
}

// Shows nothing where no flow has moved.
export function PathChangeList({ found, span }: { found: PathChanges; span: string }) {
  const { changes, left_out: leftOut } = found;
  if (changes.length === 0) return null;
  const flows = changes.reduce((sum, { flows: count }) => sum + count, 0);
  return <details class="events path-changes">
    <summary>{`${humanCount(flows)} ${flows === 1 ? 'flow' : 'flows'} took another path in the last ${span}`}</summary>
    <div><table class="pairs">
      <thead><tr><th scope="col">UTC</th><th scope="col">hop</th><th scope="col">from</th><th scope="col">to</th><th scope="col">flows</th></tr></thead>
      <tbody>{[...changes].reverse().map((change, at) => ({ change, at, sides: sidesOfPath(change) })).map(({ change, at, sides: [from, to] }) => <tr key={`${change.at} ${at}`}>
        <td><button onClick={() => goTo(change)} title="Show the pair at that time">
          {change.at.slice(0, 19).replace('T', ' ')}</button></td>
        <td class="number">{change.hop}</td><td>{from}</td><td>{to}</td><td>{flowsOf(change)}</td>
      </tr>)}</tbody>
    </table>
    {leftOut > 0 && <p class="cut">{`The newest ${humanCount(changes.length)} changes are listed, ${humanCount(leftOut)} older ones are not.`}</p>}</div>
  </details>;
}

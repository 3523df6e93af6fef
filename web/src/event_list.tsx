// State changes as marks on the timeline, and as a list whose entries lead to their time and pair.

import { type Changes, csvOf, fetchChanges, marksOf, sidesOf, type StateChange, timeOf, whoOf } from './events';
import { humanCount } from './format';
import { rangeOf } from './past';
import { useRepeated } from './polled';
import { choose } from './store';

const REFRESH = 15_000; // milliseconds
const BINS = 150;
const MOST = 500;
const NONE: Changes = { left_out: 0, events: [], bins: [] };

// Fetches the changes within the last `span`, or within `span` around a time, again and again.
// Failures are not shown here because the timeline shows them.
export function useChanges(probe: string, span: string, pair: [string, string] | null, time: number | null): Changes {
  const ask = (signal: AbortSignal) =>
    fetchChanges({ probe, ...rangeOf(span, time), pair, limit: MOST, bins: pair ? 0 : BINS }, signal);
  const nothing = probe === '' || pair?.[0] === '';
  return useRepeated(JSON.stringify([probe, span, pair, time]), NONE, nothing ? null : ask, REFRESH);
}

interface MarksProps { changes: Changes; start: number; end: number; go: (time: number) => void }

export function EventMarks({ changes, start, end, go }: MarksProps) {
  return <span class="marks" aria-hidden="true">
    {marksOf(changes.bins ?? [], start, end).map(({ place, time, worst, title }) => <button key={title} class="mark"
      tabIndex={-1} data-state={worst} title={title} style={{ '--place': String(place) }} onClick={() => go(time)} />)}
  </span>;
}

function goTo(change: StateChange) {
  const { probe, source, destination } = change;
  choose({ page: 'mesh', probe, time: timeOf(change), sight: null,
    held: source !== null && destination !== null ? [source, destination] : null });
}

// An empty list is shown too, so that the map below does not move under the pointer at the first
// change.
export function EventList({ changes, probe, span }: { changes: Changes; probe: string; span: string }) {
  const { events, left_out: leftOut } = changes;
  const { from, to } = rangeOf(span, null);
  const count = events.length + leftOut;
  return <details class="events" id="events">
    <summary>{`${count === 0 ? 'no' : humanCount(count)} ${count === 1 ? 'change' : 'changes'} in the last ${span}`}</summary>
    <div><table class="pairs">
      <thead><tr><th scope="col">UTC</th><th scope="col">from</th><th scope="col">to</th><th scope="col">pairs</th></tr></thead>
      <tbody>{[...events].reverse().map((change, at) => ({ change, at, sides: sidesOf(change) })).map(({ change, at, sides: [from, to] }) => <tr key={`${change.at} ${at}`}>
        <td><button onClick={() => goTo(change)} title="Show the mesh at that time">
          {change.at.slice(0, 19).replace('T', ' ')}</button></td>
        <td><span class="chip" data-state={from}>{from}</span></td>
        <td><span class="chip" data-state={to}>{to}</span></td>
        <td>{whoOf(change)}</td>
      </tr>)}</tbody>
    </table>
    {leftOut > 0 && <p class="cut">{`The newest ${humanCount(events.length)} are listed, ${humanCount(leftOut)} older ones are not. `}
      <a href={csvOf(probe, from, to)} download={`${probe}-changes.csv`}>CSV of
        up to 10,000</a></p>}</div>
  </details>;
}

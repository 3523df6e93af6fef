// Live, or the whole mesh at a past time.

import { useEffect, useState } from 'preact/hooks';
import { EventList, EventMarks, useChanges } from './event_list';
import { clockTime } from './format';
import { fetchRange, SPANS } from './past';
import { choose, liveGrid, now, pastNote, view } from './store';

const REFRESH = 15_000; // milliseconds

function useOldest(): number | null {
  const [oldest, setOldest] = useState<number | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const ask = () => fetchRange(abort.signal).then(
      (range) => setOldest(range.oldest === null ? null : Date.parse(range.oldest)), () => {});
    void ask();
    const timer = setInterval(ask, REFRESH);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, []);
  return oldest;
}

// The newest window of some sources is not yet there for the others: the one before it is.
function newestComplete(): number {
  const { windowEnd = NaN, probe } = liveGrid.value ?? {};
  const at = windowEnd - (probe?.window_ns ?? 0) / 1e6 - 1;
  return Number.isNaN(at) ? now.value : at;
}

export function Timeline() {
  const oldest = useOldest();
  const { time, span } = view.value;
  const changes = useChanges(liveGrid.value?.probe.name ?? '', span, null);
  if (oldest === null && time === null) return null; // there is no history to go back to
  const end = newestComplete();
  const start = Math.min(end - 1000, Math.max(end - SPANS[span] * 1000, oldest ?? 0));
  const go = (at: number | null, replace: boolean) => choose({ time: at }, replace);
  return <><div class="timeline" role="group" aria-label="Time">
    <button id="live" aria-pressed={time === null} onClick={() => go(time === null ? end : null, false)}>
      {time === null ? 'Pause' : 'Live'}</button>
    <span class="track"><EventMarks changes={changes} start={start} end={end} go={(at) => go(at, false)} />
    <input id="time" type="range" min={start} max={end} step="any" value={time ?? end} aria-label="Time to look at"
      aria-valuetext={time === null ? 'live' : clockTime(time)}
      onInput={(event) => go(Number(event.currentTarget.value), time !== null)} /></span>
    <label class="field">last <select id="span" value={span} onChange={(event) => choose({ span: event.currentTarget.value })}>
      {Object.keys(SPANS).map((name) => <option key={name} value={name}>{name}</option>)}
    </select></label>
    <span class="past" role="status">{time === null ? '' : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC${
      pastNote.value ? `: ${pastNote.value}` : ''}`}</span>
  </div><EventList changes={changes} span={span} /></>;
}

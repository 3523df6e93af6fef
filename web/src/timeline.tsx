// The timeline: live, or the whole mesh at a past time.

import { useEffect, useState } from 'preact/hooks';
import { EventList, EventMarks, useChanges } from './event_list';
import { clockTime, timeTyped } from './format';
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

// Returns a time in the last window but one: the newest window has not arrived from all sources
// yet.
function newestComplete(): number {
  const { windowEnd = NaN, probe } = liveGrid.value ?? {};
  const at = windowEnd - (probe?.window_ns ?? 0) / 1e6 - 1;
  return Number.isNaN(at) ? now.value : at;
}

const utcText = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

// The notice that keeps past data from being taken for the present. Incidents are always those of
// the present.
export function PastNotice() {
  const { time, page } = view.value;
  if (time === null || page === 'incidents') return null;
  return <p class="as-of" role="status">{`As of ${utcText(time)} UTC${pastNote.value ? ` (${pastNote.value})` : ''}, not live. `}
    <button class="quiet" onClick={() => choose({ time: null })}>Live</button></p>;
}

// Arrow keys step by one window; the slider's own step would be a hundredth of its range, which may
// be hours.
function step(event: KeyboardEvent, at: number, go: (at: number, replace: boolean) => void) {
  const window = (liveGrid.value?.probe.window_ns ?? 1e9) / 1e6;
  const by = { ArrowLeft: -window, ArrowDown: -window, ArrowRight: window, ArrowUp: window }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  go(at + by * (event.shiftKey ? 10 : 1), true);
}

// Keeps the text that is being typed while the time moves on.
function When({ time, go }: { time: number | null; go: (at: number) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  return <label class="field">at <input id="when" class={time === null ? '' : 'past'}
    value={typed ?? (time === null ? '' : utcText(time))}
    placeholder="03:12" title="A time in UTC, such as 2026-11-21 03:12:00; 03:12 alone means the most recent 03:12." aria-label="Time to look at, UTC"
    onInput={(event) => setTyped(event.currentTarget.value)}
    onChange={(event) => {
      const at = timeTyped(event.currentTarget.value, now.value);
      setTyped(null);
      if (at !== null) go(at);
    }} /> UTC</label>;
}

export function Timeline() {
  const oldest = useOldest();
  const { time, span } = view.value;
  const probe = liveGrid.value?.probe.name ?? '';
  const changes = useChanges(probe, span, null, null);
  if (oldest === null && time === null) return null; // there is no history
  const end = newestComplete();
  const start = Math.min(end - 1000, time ?? end, Math.max(end - SPANS[span] * 1000, oldest ?? 0));
  const go = (at: number | null, replace: boolean) => choose({ time: at }, replace);
  return <><div class="timeline" role="group" aria-label="Time">
    <button id="live" aria-pressed={time === null} onClick={() => go(time === null ? end : null, false)}>
      {time === null ? 'Pause' : 'Live'}</button>
    <span class="track"><EventMarks changes={changes} start={start} end={end} go={(at) => go(at, false)} />
    <input id="time" type="range" min={start} max={end} step="any" value={time ?? end} aria-label="Time to look at"
      aria-valuetext={time === null ? 'live' : clockTime(time)}
      onKeyDown={(event) => step(event, time ?? end, go)}
      onInput={(event) => go(Number(event.currentTarget.value), time !== null)} /></span>
    <label class="field">last <select id="span" value={span} onChange={(event) => choose({ span: event.currentTarget.value })}>
      {Object.keys(SPANS).map((name) => <option key={name} value={name}>{name}</option>)}
    </select></label>
    <When time={time} go={(at) => go(Math.min(at, end), false)} />
    <span class="past" role="status">{time === null ? '' : pastNote.value}</span>
  </div><EventList changes={changes} probe={probe} span={span} /></>;
}

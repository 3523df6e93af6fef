// The timeline: live, or the whole mesh at a past time.

import { useState } from 'preact/hooks';
import { AnomalyList, AnomalyMarks, usePageEvents } from './anomaly_list';
import { EventList, EventMarks, useChanges } from './event_list';
import { PathChangeList, PathMarks, usePathChanges } from './path_change_list';
import { clockTime, timeTyped } from './format';
import { againstTime, fetchRange, SPANS, WORST } from './past';
import { useRepeated } from './polled';
import { away, choose, liveGrid, newestComplete, now, pastNote, view } from './store';

const REFRESH = 15_000; // milliseconds

function useOldest(): number | null {
  return useRepeated<number | null>('', null, (signal) => fetchRange(signal).then(
    (range) => (range.oldest === null ? null : Date.parse(range.oldest))), REFRESH);
}

const utcText = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

// Names what is shown instead of the present.
function pastText(): string {
  const { time, worst, against } = view.value;
  const at = time === null ? '' : ` of ${utcText(time)} UTC`;
  if (worst !== '') return `The worst that was judged in the ${worst}${time === null ? ' up to now' : ` before ${utcText(time)} UTC`}`;
  if (against === '') return `As${at}`;
  const then = SPANS[against] ? `${against} before` : `${utcText(againstTime(against, 0))} UTC`;
  return `The change from ${then} to ${time === null ? 'now' : `${utcText(time)} UTC`}`;
}

export const LIVE = { time: null, worst: '', against: '' };

// The notice that keeps past data from being taken for the present. Incidents are always those of
// the present.
export function PastNotice() {
  if (!away.value || view.value.page === 'incidents') return null;
  return <p class="as-of" role="status">{`${pastText()}${pastNote.value ? ` (${pastNote.value})` : ''}, not live. `}
    <button onClick={() => choose(LIVE)}>Live</button></p>;
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

const TICKS = 5;

// Times along the slider.
function Ticks({ start, end }: { start: number; end: number }) {
  const days = end - start > 86_400_000;
  const at = Array.from({ length: TICKS }, (_, i) => start + ((end - start) * i) / (TICKS - 1));
  const text = (time: number) => {
    const iso = new Date(time).toISOString();
    return days ? `${iso.slice(5, 10)} ${iso.slice(11, 16)}` : iso.slice(11, end - start < 600_000 ? 19 : 16);
  };
  return <span class="ticks" aria-hidden="true">{at.map((time) => <i key={time}>{text(time)}</i>)}</span>;
}

const EARLIER = ['5m', '1h', '24h'];

// Chooses between one time, the worst of a while, and the difference to another time.
function What({ start }: { start: number }) {
  const { worst, against } = view.value;
  const chosen = worst !== '' ? `worst ${worst}` : against === '' ? '' : SPANS[against] ? `against ${against}` : 'against';
  const choice = (text: string) => {
    const [kind, length] = text.split(' ');
    if (kind === 'worst') return choose({ worst: length, against: '' });
    return choose({ worst: '', against: kind === 'against' ? length ?? new Date(start).toISOString() : '' });
  };
  return <label class="field">show <select id="what" value={chosen} onChange={(event) => choice(event.currentTarget.value)}>
    <option value="">this time</option>
    {WORST.map((length) => <option key={length} value={`worst ${length}`}>{`worst of the last ${length}`}</option>)}
    {EARLIER.map((length) => <option key={length} value={`against ${length}`}>{`change since ${length} before`}</option>)}
    <option value="against">change since a time</option>
  </select>
  {chosen === 'against' && <Against />}</label>;
}

function Against() {
  const at = againstTime(view.value.against, 0);
  return <input id="against" defaultValue={utcText(at)} key={at} aria-label="Time to compare with, UTC"
    onChange={(event) => {
      const typed = timeTyped(event.currentTarget.value, now.value);
      if (typed !== null) choose({ against: new Date(typed).toISOString() });
    }} />;
}

export function Timeline() {
  const oldest = useOldest();
  const { time, span } = view.value;
  const probe = liveGrid.value?.probe.name ?? '';
  const changes = useChanges(probe, span, null, null);
  const moved = usePathChanges(probe, span, null, null);
  const noticed = usePageEvents(span);
  if (oldest === null && time === null) return null; // there is no history
  const end = newestComplete();
  const start = Math.min(end - 1000, time ?? end, Math.max(end - SPANS[span] * 1000, oldest ?? 0));
  const go = (at: number | null, replace: boolean) => choose({ time: at }, replace);
  return <><div class="timeline" role="group" aria-label="Time">
    <button id="live" aria-pressed={!away.value} onClick={() => (away.value ? choose(LIVE) : go(end, false))}>
      {away.value ? 'Live' : 'Pause'}</button>
    <span class="track"><EventMarks changes={changes} start={start} end={end} go={(at) => go(at, false)} />
    <PathMarks changes={moved.changes} start={start} end={end} go={(at) => go(at, false)} />
    <AnomalyMarks events={noticed.events} start={start} end={end} go={(at) => go(at, false)} />
    <input id="time" type="range" min={start} max={end} step="any" value={time ?? end} aria-label="Time to look at"
      aria-valuetext={time === null ? 'live' : clockTime(time)}
      onKeyDown={(event) => step(event, time ?? end, go)}
      onInput={(event) => go(Number(event.currentTarget.value), time !== null)} /><Ticks start={start} end={end} /></span>
    <label class="field">last <select id="span" value={span} onChange={(event) => choose({ span: event.currentTarget.value })}>
      {Object.keys(SPANS).map((name) => <option key={name} value={name}>{name}</option>)}
    </select></label>
    <What start={start} />
    <When time={time} go={(at) => go(Math.min(at, end), false)} />
    <span class="past" role="status">{away.value ? pastNote.value : ''}</span>
  </div><EventList changes={changes} probe={probe} span={span} /><PathChangeList found={moved} span={span} /><AnomalyList found={noticed} span={span} /></>;
}

// What collectors have noticed about applications, as marks on the timeline and as a list.

import { eventText, fetchEvents, type PageEvent, type PageEvents } from './applications';
import { clockTime, humanCount, inLine } from './format';
import { rangeOf } from './past';
import { useRepeated } from './polled';

const REFRESH = 15_000; // milliseconds
const MOST = 200;
const NONE: PageEvents = { collectors: 0, left_out: 0, events: [] };

// Failures are not shown here because the timeline shows them.
export function usePageEvents(span: string, host: string | null = null): PageEvents {
  return useRepeated(JSON.stringify([span, host]), NONE, (signal) => fetchEvents(rangeOf(span, null), host, signal), REFRESH);
}

interface MarksProps { events: PageEvent[]; start: number; end: number; go: (time: number) => void }

// Marks what began; the list has the ends, too.
export function AnomalyMarks({ events, start, end, go }: MarksProps) {
  const marks = events.filter(({ began }) => began).slice(-MOST).flatMap((event) => {
    const time = Date.parse(event.time);
    const place = (time - start) / (end - start);
    return place >= 0 && place <= 1 ? [{ event, time, place }] : [];
  });
  return <span class="marks" aria-hidden="true">{marks.map(({ event, time, place }, at) => <button key={at} class="mark anomaly" tabIndex={-1}
    title={`${clockTime(time)}: ${inLine(event.application)} of ${inLine(event.host)}: ${eventText(event)}`}
    style={{ '--place': String(place) }} onClick={() => go(time)} />)}</span>;
}

// Shows nothing where nothing was noticed.
export function AnomalyList({ found: { events, left_out: leftOut }, span, open = false }: { found: PageEvents; span: string; open?: boolean }) {
  if (events.length === 0) return null;
  const newest = [...events].reverse().slice(0, MOST);
  const older = events.length - newest.length + leftOut;
  const began = events.filter((each) => each.began).length;
  return <details class="events anomalies" open={open}>
    <summary>{`${humanCount(began)} ${began === 1 ? 'anomaly' : 'anomalies'} of applications in the last ${span}`}</summary>
    <div><table class="pairs">
      <thead><tr><th scope="col">UTC</th><th scope="col">host</th><th scope="col">application</th><th scope="col">what</th></tr></thead>
      <tbody>{newest.map((event, at) => <tr key={`${event.time} ${at}`} data-began={event.began}>
        <td>{event.time.slice(0, 19).replace('T', ' ')}</td>
        <td>{inLine(event.host)}</td>
        <td>{inLine(event.application)}</td>
        <td>{eventText(event)}</td>
      </tr>)}</tbody>
    </table>
    {older > 0 && <p class="cut">{`The newest ${humanCount(newest.length)} are listed, ${humanCount(older)} older ones are not.`}</p>}</div>
  </details>;
}

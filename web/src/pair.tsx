// The panel that explains one pair: the latest row and the split of the round trip, for both
// directions.

import { useEffect, useRef, useState } from 'preact/hooks';
import { humanCount, humanNanos, inLine } from './format';
import { pairOf } from './model';
import { fetchPairRows } from './past';
import { fetchRow, PARTS, type PairRow, part, statisticsOf } from './pair_row';
import { meaningOf } from './states';
import { choose, followPair, grid, held, model, pointed, time } from './store';

const COUNTS = ['sent', 'received', 'lost', 'refused', 'unreachable', 'ack_lost', 'duplicate',
  'late'] as const;
const MINUTE = 60_000;
const PAUSE = 60; // milliseconds for which the pointer has to rest
const REFRESH_EVERY = 900;

export interface Ways { source: string; destination: string; there?: PairRow; back?: PairRow | null; failed?: boolean }

// Fetches the row of a past time: a window, or the minute into which history has merged it.
async function fetchRowAt(probe: string, source: string, destination: string, path: number, at: number,
  signal: AbortSignal): Promise<PairRow> {
  const window = (grid.value?.probe.window_ns ?? 0) / 1e6;
  try {
    const rows = await fetchPairRows(probe, source, destination, at - Math.max(window, MINUTE), at + 1, 100, signal, path);
    const row = rows.filter(({ end }) => Date.parse(end!) > at).pop();
    if (!row) return { missing: 'Nothing was reported then.', state: '' };
    return path > 0 ? { ...row, paths: [row] } : row;
  } catch (failure) {
    return { missing: (failure as Error).message, state: '' };
  }
}

interface Question { probe: string; source: string; destination: string; goes: boolean; returns: boolean; path: number; at: number | null }

async function fetchWays({ probe, source, destination, goes, returns, path, at }: Question, signal: AbortSignal): Promise<Ways> {
  const row = (from: string, to: string) => (at === null ? fetchRow(probe, from, to, signal)
    : fetchRowAt(probe, from, to, path, at, signal));
  const [there, back] = await Promise.all([goes ? row(source, destination) : undefined, returns ? row(destination, source) : null]);
  return { source, destination, there, back };
}

// Tells which of a pair's two directions the shown probe has; the page asks for no others.
export function waysOf(pair: [string, string] | null): { goes: boolean; returns: boolean } {
  if (!pair || !grid.value) return { goes: false, returns: false };
  const [source, destination] = pair;
  return { goes: grid.value.hasWay(source, destination),
    returns: source !== destination && grid.value.hasWay(destination, source) };
}

// Fetches the latest rows of a pair, again whenever the live connection brings a new row of it.
// Latest rows have all paths; rows of the past have only the chosen path.
export function useWays(probe: string, pair: [string, string] | null, path = 0): Ways | null {
  const [ways, setWays] = useState<Ways | null>(null);
  const at = time.value;
  const { goes, returns } = waysOf(pair);
  const key = pair ? JSON.stringify([probe, ...pair, goes, returns, at, at === null ? 0 : path]) : '';
  useEffect(() => {
    if (!pair) return setWays(null);
    const abort = new AbortController();
    let timer: number | undefined;
    let fetchedAt = 0;
    const [source, destination] = pair;
    const plan = (delay: number) => {
      timer ??= window.setTimeout(async () => {
        fetchedAt = Date.now();
        try {
          const fetched = await fetchWays({ probe, source, destination, goes, returns, path, at }, abort.signal);
          if (!abort.signal.aborted) setWays(fetched);
        } catch {
          if (!abort.signal.aborted) setWays({ source, destination, failed: true });
        }
        timer = undefined;
      }, delay);
    };
    plan(PAUSE);
    const unfollow = followPair(source, destination,
      () => plan(Math.max(0, fetchedAt + REFRESH_EVERY - Date.now())));
    return () => {
      abort.abort();
      clearTimeout(timer);
      unfollow();
    };
  }, [key]);
  return ways;
}

type Last = { current: { grid: unknown; cell: number } | null };

// The last pair pointed at stays chosen when the pointer leaves the map.
function pairAt(last: Last): [string, string] | null {
  const cell = held.value ?? pointed.value;
  if (cell !== null) last.current = { grid: grid.value, cell };
  if (!grid.value || last.current === null || last.current.grid !== grid.value) return null;
  return pairOf(grid.value, last.current.cell);
}

export function PairPanel() {
  const last: Last = useRef(null);
  const ways = useWays(grid.value?.probe.name ?? '', pairAt(last));
  if (!ways) {
    return <section id="pair" class="pair" aria-label="The chosen pair">
      <p class="hint">Point at a cell to see its latest window, both ways.</p>
    </section>;
  }
  const { source, destination } = ways;
  const [from, to] = [source, destination].map((address) => inLine(model.nameOf(address)));
  return <section id="pair" class="pair" aria-label="The chosen pair" data-pair={`${source} ${destination}`}>
    <h2>{`${from} → ${to}`}{held.value !== null && <span class="held">held</span>}
      <button class="quiet close" aria-label="Close the details" onClick={() => { last.current = null; pointed.value = null; choose({ held: null }); }}>✕</button></h2>
    <p class="links">
      <button onClick={() => choose({ page: 'pair', held: [source, destination] })}>open pair</button>
      <button onClick={() => choose({ page: 'host', host: source })}>source</button>
      <button onClick={() => choose({ page: 'host', host: destination })}>destination</button>
    </p>
    {(from !== source || to !== destination) && <p class="addresses">{`${source} → ${destination}`}</p>}
    {ways.failed && <p class="meaning">The controller does not answer.</p>}
    {ways.there && <Way title="there" row={ways.there} />}
    {ways.back && <Way title="back" row={ways.back} />}
  </section>;
}

export function Way({ title, row }: { title: string; row: PairRow }) {
  const judged = row.severity && row.severity !== 'none';
  if (row.missing) {
    return <section class="way"><h3>{title}</h3><p class="meaning">{row.missing}</p></section>;
  }
  return <section class="way">
    <h3>{title}<span><span class="chip" data-state={row.state}>{row.state}</span>
      {judged && <span class="chip" data-state={row.severity}>, judged {row.severity}</span>}</span></h3>
    {row.state !== 'ok' && <p class="meaning">{meaningOf(row.state)}</p>}
    {judged && row.because && row.because.length > 0 && <ul class="because">{row.because.map((text) => <li key={text}>{text}</li>)}</ul>}
    <SplitBar row={row} /><TimesTable row={row} /><Counts row={row} /><Origin row={row} />
  </section>;
}

function SplitBar({ row }: { row: PairRow }) {
  const parts = PARTS.slice(0, 3).flatMap((name) => {
    const times = part(row, name);
    return times ? [{ name, p50: times.p50 }] : [];
  });
  if (parts.length < 2) return null;
  const total = parts.reduce((sum, { p50 }) => sum + p50, 0) || 1;
  return <div>
    <div class="split" role="img" aria-label="The parts of the median round trip">
      {parts.map(({ name, p50 }) => <i key={name} class={name} title={`${name} ${humanNanos(p50)}`}
        style={{ flexGrow: p50 / total }} />)}
    </div>
    <p class="split-names">
      {parts.map(({ name, p50 }) => <span key={name} class={name}>
        {`${name} ${Math.round((100 * p50) / total)} %`}</span>)}
    </p>
  </div>;
}

function TimesTable({ row }: { row: PairRow }) {
  const measured = PARTS.filter((name) => part(row, name));
  if (measured.length === 0) return null;
  return <table class="times">
    <thead><tr><th />{measured.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
    <tbody>
      {statisticsOf(measured.map((name) => part(row, name)!)).map(({ of, label }) => <tr key={of}>
        <th scope="row">{label}</th>
        {measured.map((name) => <td key={name}>{humanNanos(part(row, name)![of])}</td>)}
      </tr>)}
    </tbody>
  </table>;
}

function Counts({ row }: { row: PairRow }) {
  if (row.sent === undefined) return null;
  const always = new Set<string>(['sent', 'received', 'lost']);
  const entries: [string, number][] = COUNTS.filter((name) => (row[name] ?? 0) > 0 || always.has(name))
    .map((name) => [name.replace('_', ' '), row[name] ?? 0]);
  for (const [reason, count] of Object.entries(row.anomalous ?? {})) {
    entries.push([`anomalous ${reason.replace('_', ' ')}`, count]);
  }
  return <dl class="counts">{entries.map(([name, count]) => [
    <dt key={`${name}-name`}>{name}</dt>, <dd key={name}>{humanCount(count)}</dd>])}</dl>;
}

function Origin({ row }: { row: PairRow }) {
  const facts: string[] = [];
  if (row.start && row.end) facts.push(`${row.start.slice(11, 19)} – ${row.end.slice(11, 19)} UTC`);
  if (row.jitter_ns !== undefined && row.jitter_ns !== null) facts.push(`jitter ${humanNanos(row.jitter_ns)}`);
  if (row.clock) facts.push(`${row.clock} clock`);
  if (row.device) facts.push(row.device);
  return facts.length === 0 ? null : <p class="origin">{facts.join(' · ')}</p>;
}

// The part of the pair's page that starts a burst and shows its pings as their results arrive.

import { useEffect, useRef, useState } from 'preact/hooks';
import { type Burst, fateOf, followBurst, pingsOf, startBurst, summaryOf } from './burst';
import { humanNanos } from './format';
import { PARTS } from './pair_row';
import { session, whyNotOperate } from './session';

const COUNTS = [10, 20, 50, 100];

const EXPLANATION = "The source's agent pings this pair at once, outside of its schedule; the pings appear here and in no history.";

interface Props { probe: string; source: string; destination: string; path: number }

export function BurstPanel({ probe, source, destination, path }: Props) {
  const [count, setCount] = useState(20);
  const [burst, setBurst] = useState<Burst | null>(null);
  const [fault, setFault] = useState('');
  const [running, setRunning] = useState(false);
  const abort = useRef<AbortController>();
  useEffect(() => {
    setBurst(null);
    setFault('');
    setRunning(false);
    return () => abort.current?.abort();
  }, [probe, source, destination, path]);

  const run = async () => {
    const mine = new AbortController();
    abort.current = mine;
    setBurst(null);
    setFault('');
    setRunning(true);
    try {
      const id = await startBurst({ probe, source, destination, count, ...(path > 0 && { path }) }, mine.signal);
      await followBurst(id, (shown) => { if (!mine.signal.aborted) setBurst(shown); }, mine.signal);
    } catch (failure) {
      if (!mine.signal.aborted) setFault((failure as Error).message);
    }
    if (!mine.signal.aborted) setRunning(false);
  };

  const barred = whyNotOperate(session.value);
  return <section id="burst" class="burst" aria-label="Burst">
    <p>
      <button class="quiet" title={EXPLANATION} disabled={running || barred !== ''} onClick={run}>
        {running ? 'sending…' : 'send a burst'}</button>
      <label class="field">pings
        <select value={count} disabled={running || barred !== ''} onChange={(event) => setCount(Number(event.currentTarget.value))}>
          {COUNTS.map((each) => <option key={each} value={each}>{each}</option>)}
        </select></label>
      <span class="quiet-text" role="status" data-state={burst?.state ?? ''}>
        {burst ? `${burst.path > 0 ? `path ${burst.path}: ` : ''}${summaryOf(burst)}` : ''}</span>
    </p>
    {barred && <p class="barred">{barred}</p>}
    {fault && <p class="fault" role="alert">{`no burst: ${fault}`}</p>}
    {burst?.state === 'failed' && <p class="fault" role="alert">{`the burst failed: ${burst.reason}`}</p>}
    {burst && <Pings burst={burst} />}
  </section>;
}

function Pings({ burst }: { burst: Burst }) {
  const pings = pingsOf(burst);
  const shown = pings.map((ping, at) => ({ ping, sequence: at + 1 })).filter(({ ping }) => ping || burst.state === 'running');
  const measured = PARTS.filter((name) => burst.pings.some((ping) => ping[`${name}_ns`] !== undefined));
  return <div class="pings"><table class="pairs">
    <thead><tr><th scope="col">ping</th><th scope="col">result</th>
      {measured.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
    <tbody>{shown.map(({ ping, sequence }) => <tr key={sequence} data-result={ping?.result ?? 'waiting'}>
      <td>{sequence}</td><td>{fateOf(ping)}</td>
      {measured.map((name) => <td key={name} class="number">{humanNanos(ping?.[`${name}_ns`])}</td>)}
    </tr>)}</tbody>
  </table></div>;
}

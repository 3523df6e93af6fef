// The page of one pair: a burst, the latest rows of both directions with their history, and the
// pair's two ends.

import { Charts } from './chart';
import { Ends } from './ends';
import { useChanges } from './event_list';
import { clockTime, inLine } from './format';
import type { KnownPath } from './hops';
import { HopsTable, useKnownPaths } from './hops_table';
import { useWays, Way, waysOf } from './pair';
import { SPANS } from './past';
import type { PairRow } from './pair_row';
import { PathChangeList, usePathChanges } from './path_change_list';
import { PathTable } from './paths';
import { BurstPanel } from './burst_panel';
import { rowOfPath, type Series, useSeries } from './series';
import { choose, grid, model, painted, time, view } from './store';

const UNMEASURED: PairRow = { missing: 'Nothing was measured on this path.', state: '' };

interface OneWay { title: string; probe: string; pair: [string, string]; row: PairRow; series: Series; paths: number; path: number; span: string; known: KnownPath[] | undefined }

// One direction, on the chosen path.
function WayWithHistory({ title, probe, pair, row, series, paths, path, span, known }: OneWay) {
  const { events } = useChanges(probe, span, pair, time.value);
  const moved = usePathChanges(probe, span, pair, time.value);
  return <section>
    {paths > 1 && !row.missing && <PathTable row={row} paths={paths} path={path} />}
    <Way title={path > 0 ? `${title}, path ${path}` : title} row={row.missing ? row : rowOfPath(row, path) ?? UNMEASURED} />
    {known && time.value === null && <HopsTable known={known} path={path} from={model.nameOf(pair[0])} to={model.nameOf(pair[1])} />}
    <PathChangeList found={moved} span={span} />
    <Charts series={series} of={time.value === null ? `last ${span}` : `${span} around ${clockTime(time.value)}`} at={time.value}
      changes={events} group={pair.join()} />
  </section>;
}

// A link may be older than the pinglist.
function NoSuchPair({ probe, pair, swap }: { probe: string; pair: [string, string]; swap: (() => void) | null }) {
  return <main class="page empty" id="no-pair">
    <h2>No such pair</h2>
    <p>{`${probe} does not go from ${inLine(model.nameOf(pair[0]))} to ${inLine(model.nameOf(pair[1]))}.`}</p>
    {swap && <p><button class="quiet" onClick={swap}>the other direction</button></p>}
  </main>;
}

export function PairPage() {
  const { held: pair, span } = view.value;
  const { name: probe, paths } = grid.value!.probe;
  const path = view.value.path <= paths && paths > 1 ? view.value.path : 0;
  const ways = useWays(probe, pair, path);
  const [source, destination] = pair ?? ['', ''];
  if (source === destination) painted.value; // arriving rows tell whether a host probes itself
  const { goes, returns } = waysOf(pair);
  const there = useSeries(probe, goes ? [source, destination] : null, path, span, time.value, ways?.there);
  const back = useSeries(probe, returns ? [destination, source] : null, path, span, time.value, ways?.back);
  const known = useKnownPaths(probe, goes ? [source, destination] : null);
  const swap = () => choose({ held: [destination, source] });
  if (!pair) return <main class="page empty"><h2>No pair is chosen</h2><p>Choose one in the mesh.</p></main>;
  if (!goes) return <NoSuchPair probe={probe} pair={pair} swap={returns ? swap : null} />;
  return <main class="page" id="pair-page" data-pair={pair.join(' ')}>
    <div class="page-head">
      <h2>{`${inLine(model.nameOf(source))} → ${inLine(model.nameOf(destination))}`}</h2>
      <span class="quiet-text">{`${probe}: ${source} → ${destination}`}</span>
      {returns && <button class="quiet" onClick={swap}>swap</button>}
      <button class="quiet" onClick={() => choose({ page: 'host', host: source })}>source</button>
      <button class="quiet" onClick={() => choose({ page: 'host', host: destination })}>destination</button>
      <span class="switch" role="radiogroup" aria-label="How far back">{Object.keys(SPANS).map((name) => <button key={name}
        role="radio" aria-checked={span === name} onClick={() => choose({ span: name })}>{name}</button>)}</span>
    </div>
    {ways?.failed && <p class="meaning">The controller does not answer.</p>}
    <BurstPanel probe={probe} source={source} destination={destination} path={path} />
    <div class="columns">
      {ways?.there && <WayWithHistory title="there" probe={probe} pair={[source, destination]} row={ways.there}
        series={there} paths={paths} path={path} span={span} known={known?.forward} />}
      {ways?.back && <WayWithHistory title="back" probe={probe} pair={[destination, source]} row={ways.back}
        series={back} paths={paths} path={path} span={span} known={known?.return} />}
    </div>
    <Ends source={source} destination={destination} there={ways?.there} back={ways?.back} />
  </main>;
}

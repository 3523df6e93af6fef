// The table of a pair's paths, where the user chooses the path that the page shows.

import { humanNanos, humanRatio } from './format';
import { type PairRow, part } from './pair_row';
import { choose, time } from './store';

const chosenBy = (path: number) => () => choose({ path });

// `paths` is their number; path k has the flow label k. `path` is the chosen one; 0 stands for all
// together.
export function PathTable({ row, paths, path }: { row: PairRow; paths: number; path: number }) {
  const line = (k: number, found: PairRow | undefined) => {
    // The page fetches only the chosen path of the past.
    const known = time.value === null || k === path;
    const of = known ? found : undefined;
    const network = of && part(of, 'network');
    return <tr key={k} data-path={k} aria-selected={path === k}>
      <td><button onClick={chosenBy(k)} aria-pressed={path === k}>{k === 0 ? 'all' : `path ${k}`}</button></td>
      <td>{k === 0 ? '' : k}</td>
      <td><span class="chip" data-state={of?.state ?? 'pending'}>{of?.state ?? (known ? 'pending' : '–')}</span></td>
      <td class="number">{humanNanos(network?.p50)}</td><td class="number">{humanNanos(network?.p99)}</td>
      <td class="number">{of?.sent ? humanRatio((of.lost ?? 0) / of.sent) : '–'}</td>
    </tr>;
  };
  const numbers = Array.from({ length: paths }, (_, at) => at + 1);
  return <div class="pings"><table class="pairs paths">
    <thead><tr><th scope="col">path</th><th scope="col">flow label</th><th scope="col">state</th><th scope="col">network p50</th>
      <th scope="col">p99</th><th scope="col">loss</th></tr></thead>
    <tbody>{line(0, row)}{numbers.map((k) => line(k, row.paths?.find((each) => each.path === k)))}</tbody>
  </table></div>;
}

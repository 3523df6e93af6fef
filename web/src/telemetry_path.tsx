// The path of a flow: its hops, and the time to each.

import { humanAge, humanCount, humanNanos } from './format';

interface Hop { address: string; rtt_seconds: number }
export interface Path {
  key: string;
  translator: string;
  complete: boolean;
  hops: number | null; // null: the length is not known
  changes: number; // how often another address was seen at a hop
  path: (Hop | null)[]; // null: nothing is known of that hop
  age_seconds: number;
  written: string;
  stale: boolean;
}

// Says that the answer may be old.
export function Silent() {
  return <span class="state" data-loud="warn"> the writer is silent: there may be later reports</span>;
}

export function Paths({ paths }: { paths: Path[] }) {
  if (paths.length === 0) return <p class="answer">No store has a path of this key.</p>;
  return <>{paths.map((path) => <PathOf key={path.key} of={path} />)}</>;
}

function PathOf({ of: { translator, complete, hops, changes, path, age_seconds, written, stale } }: { of: Path }) {
  return <div class="answer">
    <table class="pairs">
      <thead><tr><th scope="col">hop</th><th scope="col">address</th><th scope="col" class="number">round trip</th></tr></thead>
      <tbody>{path.map((hop, at) => <tr key={at}>
        <td>{at + 1}</td><td>{hop?.address ?? '–'}</td>
        <td class="number">{humanNanos(hop && hop.rtt_seconds * 1e9)}</td>
      </tr>)}</tbody>
    </table>
    <dl class="facts">
      <dt>path</dt><dd>{`${complete ? 'complete' : 'not complete'}, ${hops === null ? 'length not known' : `${hops} hops`}, ${humanCount(changes)} changes`}</dd>
      <dt>written</dt><dd>{`${humanAge(age_seconds * 1000)} ago, ${written}`}</dd>
      <dt>store</dt><dd>{translator}{stale && <Silent />}</dd>
    </dl>
  </div>;
}

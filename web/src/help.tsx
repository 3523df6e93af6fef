// The keys, on `?`.

import { signal } from '@preact/signals';

export const helpShown = signal(false);

const KEYS: [string, string][] = [
  ['← ↑ → ↓', 'move to the next cell (click the map first, or Tab to it)'],
  ['Space, click', 'hold a pair, so that the panel stays with it'],
  ['Enter, double click', 'open the pair'],
  ['Escape', 'let go; back to the mesh'],
  ['+  −  wheel', 'zoom in and out'],
  ['drag, Shift + arrows', 'move the part that is in sight'],
  ['0', 'all of it'],
  ['/', 'search a host'],
  ['?', 'this help'],
];

export function Help() {
  if (!helpShown.value) return null;
  const close = () => { helpShown.value = false; };
  return <div class="help" role="dialog" aria-modal="true" aria-label="Keys" onClick={close}>
    <section onClick={(event) => event.stopPropagation()}>
      <h2>Keys</h2>
      <dl>{KEYS.map(([key, text]) => [<dt key={`${key} key`}>{key}</dt>, <dd key={key}>{text}</dd>])}</dl>
      <p>Rows are sources, columns destinations. The strips beside the map show what most pairs of a row or column are
        like: a bad host is a cross. Zoomed out, a cell shows the worst of its pairs.</p>
      <button onClick={close} autofocus>Close</button>
    </section>
  </div>;
}

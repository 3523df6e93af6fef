// The keys, on `?`.

import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

export const helpShown = signal(false);

const KEYS: [string, string][] = [
  ['← ↑ → ↓', 'move to the next cell (click the map first, or Tab to it)'],
  ['Space, click', 'hold a pair, so that the panel stays with it'],
  ['Enter, double click', 'open the pair'],
  ['Escape', 'let go; back to the mesh'],
  ['+  −  wheel, two fingers', 'zoom in and out'],
  ['drag, Shift + arrows', 'move the part that is in sight'],
  ['0', 'all of it'],
  ['/', 'search a host'],
  ['?', 'this help'],
];

export function Help() {
  return helpShown.value ? <Dialog /> : null;
}

// Nothing behind a modal dialog can have the focus, and the browser gives it back to where it was when the dialog is closed. From
// its only button Tab would lead to the browser's own bars.
function Dialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = () => { helpShown.value = false; };
  useLayoutEffect(() => {
    const shown = dialog.current!;
    shown.showModal();
    return () => shown.close();
  }, []);
  return <dialog class="help" ref={dialog} aria-labelledby="help-title" onClose={close}
    onKeyDown={(event) => event.key === 'Tab' && event.preventDefault()}
    onClick={(event) => event.target === dialog.current && close()}>
    <section>
      <h2 id="help-title">Keys</h2>
      <dl>{KEYS.map(([key, text]) => [<dt key={`${key} key`}>{key}</dt>, <dd key={key}>{text}</dd>])}</dl>
      <p>Rows are sources, columns destinations. The strips beside the map show what most pairs of a row or column are
        like: a bad host is a cross. Zoomed out, a cell shows the worst of its pairs.</p>
      <button onClick={close} autofocus>Close</button>
    </section>
  </dialog>;
}

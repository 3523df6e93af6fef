// The dialog with the keys, which `?` opens.

import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

export const helpShown = signal(false);

const KEYS: [string, string][] = [
  ['← ↑ → ↓', 'move to the next cell (click the map first, or Tab to it)'],
  ['Space, click', 'hold a pair: the panel stays with it'],
  ['Enter, double click', 'open the pair'],
  ['Escape', 'release the pair; return to the mesh'],
  ['+  −  wheel, two fingers', 'zoom in and out'],
  ['drag, Shift + arrows', 'move a zoomed map'],
  ['0', 'show the whole mesh'],
  ['click on a name', 'open the host; a count or a mark of the legend lists its pairs'],
  ['/', 'search for a host'],
  ['?', 'show this help'],
];

export function Help() {
  return helpShown.value ? <Dialog /> : null;
}

// The dialog is modal: nothing behind it takes the focus, and the browser restores the focus when
// it closes. Tab is disabled because from the only button it would lead to the browser's own bars.
// A dialog tells of its closing in a later task. By then the keys may be shown again, so a dialog
// that the page itself removed is not listened to.
function Dialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = () => { helpShown.value = false; };
  useLayoutEffect(() => {
    const shown = dialog.current!;
    shown.addEventListener('close', close);
    shown.showModal();
    return () => {
      shown.removeEventListener('close', close);
      shown.close();
    };
  }, []);
  return <dialog class="help" ref={dialog} aria-labelledby="help-title"
    onKeyDown={(event) => event.key === 'Tab' && event.preventDefault()}
    onClick={(event) => event.target === dialog.current && close()}>
    <section>
      <h2 id="help-title">Keys</h2>
      <dl>{KEYS.map(([key, text]) => [<dt key={`${key} key`}>{key}</dt>, <dd key={key}>{text}</dd>])}</dl>
      <p>Rows are sources, columns are destinations. The strips along the map show the median pair of each row and column,
        so a bad host appears as a cross. In a zoomed-out map a cell shows the worst of its pairs.</p>
      <p>The suspects are the controller's open incidents. It judges each pair over several windows by the pinglist's thresholds, so
        a cell is slow or lossy only if it stays so. Acknowledge says that somebody takes care; Silence also withholds the alerts.</p>
      <button onClick={close} autofocus>Close</button>
    </section>
  </dialog>;
}

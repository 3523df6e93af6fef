// The heatmap in the page: repaints after changes, and turns pointers and keys into chosen cells
// and movements.

import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { LONGEST_LABEL } from './axes';
import { inLine, inText, shortened } from './format';
import { Gestures } from './gestures';
import { Heatmap } from './heatmap';
import { helpShown } from './help';
import { humanCode } from './metrics';
import { type Grid, pairOf } from './model';
import type { Ranks } from './ranks';
import { className } from './severity';
import { choose, grid, held, hold, metric, model, openPair, painted, palette, pointed, ranks, view } from './store';
import { EVERYTHING, type Sight } from './viewport';

declare global {
  interface HTMLCanvasElement { heatmap?: Heatmap } // for tests
}

const DIRECTIONS: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0],
  ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const STEP = 60; // pixels

function keyPressed(event: KeyboardEvent, map: Heatmap, look: (sight: Sight) => void) {
  const direction = DIRECTIONS[event.key];
  const middle = () => (pointed.value === null ? { x: map.view.left + map.view.plotWidth / 2,
    y: map.view.top + map.view.plotHeight / 2 } : map.middleOf(pointed.value));
  if (direction && event.shiftKey) {
    look(map.view.moveBy(direction[1] * STEP, direction[0] * STEP));
  } else if (direction) {
    pointed.value = map.cellBeside(pointed.value, ...direction);
    if (pointed.value !== null) look(map.view.reveal(map.placeOf(pointed.value)!));
  } else if (event.key === 'Enter') openPair(pointed.value ?? held.value);
  else if (event.key === ' ') hold(pointed.value);
  else if (event.key === 'Escape' && held.value !== null) hold(null);
  else if (event.key === '+' || event.key === '=') look(map.view.zoomAt(1.5, middle().x, middle().y));
  else if (event.key === '-') look(map.view.zoomAt(1 / 1.5, middle().x, middle().y));
  else if (event.key === '0') look(EVERYTHING);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function labelsOf({ probe }: Grid, { rowOrder, columnOrder }: Ranks) {
  const names = (addresses: string[], at: Uint32Array) => Array.from(at,
    (index) => shortened(inText(model.nameOf(addresses[index])), LONGEST_LABEL));
  return { rows: names(probe.sources, rowOrder.at), columns: names(probe.destinations, columnOrder.at) };
}

export function Map() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const heatmap = useRef<Heatmap>();
  const [current, shown] = [grid.value!, ranks.value!];
  painted.value;
  const labels = useMemo(() => labelsOf(current, shown), [current, shown.rowOrder, shown.columnOrder]);
  const look = (sight: Sight) => {
    heatmap.current!.view.look(sight);
    const next = sight.zoom > 1 ? sight : null;
    if (JSON.stringify(next) !== JSON.stringify(view.peek().sight)) choose({ sight: next }, true);
  };

  useLayoutEffect(() => {
    const made = new Heatmap(canvas.current!, stage.current!);
    heatmap.current = made;
    canvas.current!.heatmap = made;
    const resize = () => {
      made.resize();
      made.view.look(view.peek().sight ?? EVERYTHING);
      made.paint();
    };
    const watcher = new ResizeObserver(() => made.scene && resize());
    watcher.observe(stage.current!);
    window.addEventListener('resize', resize);
    const gestures = new Gestures(canvas.current!, made, look);
    return () => {
      watcher.disconnect();
      window.removeEventListener('resize', resize);
      gestures.close();
      pointed.value = null;
    };
  }, []);
  useLayoutEffect(() => {
    const map = heatmap.current!;
    map.show({ grid: current, metric: metric.value, palette: palette.value, ranks: shown, labels });
    map.view.look(view.value.sight ?? EVERYTHING);
    map.cursor = pointed.value;
    map.held = held.value;
    map.paint();
  }, [current, metric.value, palette.value, shown, labels, painted.value, pointed.value, held.value, view.value.sight]);

  return <>
    <div class="stage" ref={stage}>
      <canvas id="heatmap" ref={canvas} tabIndex={0} role="img" aria-roledescription="heatmap"
        aria-label={describe(current)} aria-describedby="keys readout"
        onKeyDown={(event) => keyPressed(event, heatmap.current!, look)} />
      {shown.pairs() === 0 && <p class="blank" role="status">
        {current.complete ? `${current.probe.name} has no pairs.` : 'Loading the mesh…'}</p>}
    </div>
    <p id="keys" class="keys">Rows are sources, columns are destinations. Click or Space holds a pair, Enter or a double click
      opens it, the wheel or two fingers zoom; <button class="kbd" aria-label="Keys"
        onClick={() => { helpShown.value = true; }}>?</button> lists the keys. The same pairs as a table: <a href="#page=worst"
        onClick={(event) => { event.preventDefault(); choose({ page: 'worst' }); }}>worst pairs</a>.</p>
    <p id="readout" class="readout" aria-live="polite">{pointed.value === null ? '' : readOut(current, pointed.value)}</p>
  </>;
}

function describe(current: Grid): string {
  return `${current.probe.name}, ${metric.value.label}: ${current.rows} sources by ${current.columns} destinations, `
    + `${current.problems()} of ${current.pairs()} pairs have a problem`;
}

// Describes one pair and its other direction.
function readOut(current: Grid, cell: number): string {
  const [source, destination] = pairOf(current, cell);
  const text = (at: number) => `${stateOf(current, at)}, ${metric.value.label} ${humanCode(metric.value, current.values[at])}`;
  const reverse = current.reverseOf(cell);
  const back = reverse === null || !current.isPair(reverse) ? '' : `; back: ${text(reverse)}`;
  return `${inLine(model.nameOf(source))} to ${inLine(model.nameOf(destination))}: ${text(cell)}${back}`;
}

export function stateOf(current: Grid, cell: number): string {
  const shown = ranks.value!;
  const place = shown.rowOrder.placeOf[Math.floor(cell / current.columns)] * current.columns
    + shown.columnOrder.placeOf[cell % current.columns];
  return className(shown.levels[0].ranks[place]) || current.stateName(cell);
}

// The heatmap in the page: paints when something changed, and turns the pointer and the keys into cells.

import { useEffect, useRef } from 'preact/hooks';
import { humanNanos, humanRatio } from './format';
import { Heatmap } from './heatmap';
import type { Grid } from './model';
import { Palette } from './palette';
import { scale } from './shown';
import { dark, grid, held, metric, model, painted, pointed } from './store';

declare global {
  interface HTMLCanvasElement { heatmap?: Heatmap } // for tests
}

const DIRECTIONS: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0],
  ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function hold(cell: number | null) {
  held.value = cell === held.value ? null : cell;
}

function keyPressed(event: KeyboardEvent, heatmap: Heatmap) {
  const direction = DIRECTIONS[event.key];
  if (direction) {
    pointed.value = heatmap.cellBeside(pointed.value, ...direction);
  } else if (event.key === 'Enter' || event.key === ' ') {
    hold(pointed.value);
  } else if (event.key === 'Escape') {
    hold(held.value);
  } else {
    return;
  }
  event.preventDefault();
}

function labelsOf({ probe }: Grid) {
  return { rows: probe.sources.map((address) => model.nameOf(address)),
    columns: probe.destinations.map((address) => model.nameOf(address)) };
}

export function Map() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const heatmap = useRef<Heatmap>();
  const current = grid.value!;

  useEffect(() => {
    const made = new Heatmap(canvas.current!, stage.current!);
    heatmap.current = made;
    canvas.current!.heatmap = made;
    const resize = () => made.resize();
    window.addEventListener('resize', resize);
    return () => window.removeEventListener('resize', resize);
  }, []);
  useEffect(() => {
    heatmap.current!.show(current, metric.value, new Palette(dark.value), scale.value, labelsOf(current));
  }, [current, metric.value, dark.value, scale.value]);
  useEffect(() => {
    const map = heatmap.current!;
    map.cursor = pointed.value;
    map.held = held.value;
    map.paint();
  }, [painted.value, pointed.value, held.value]);

  return <>
    <div class="stage" ref={stage}>
      <canvas id="heatmap" ref={canvas} tabIndex={0} role="img" aria-roledescription="heatmap"
        aria-label={describe(current)} aria-describedby="keys readout"
        onPointerMove={(event) => { pointed.value = heatmap.current!.cellAt(event.offsetX, event.offsetY); }}
        onPointerLeave={() => { pointed.value = null; }}
        onClick={(event) => hold(heatmap.current!.cellAt(event.offsetX, event.offsetY))}
        onKeyDown={(event) => keyPressed(event, heatmap.current!)} />
    </div>
    <p id="keys" class="keys">Rows are sources, columns destinations. Arrow keys move, Enter holds
      a pair, Escape lets it go.</p>
    <p id="readout" class="hidden" aria-live="polite">
      {pointed.value === null ? '' : readOut(current, pointed.value)}
    </p>
  </>;
}

function describe(current: Grid): string {
  return `${current.probe.name}, ${metric.value.label}: ${current.rows} sources by `
    + `${current.columns} destinations, ${current.problems()} of ${current.pairs()} pairs not well`;
}

export function pairOf({ probe, columns }: Grid, cell: number): [string, string] {
  return [probe.sources[Math.floor(cell / columns)], probe.destinations[cell % columns]];
}

function readOut(current: Grid, cell: number): string {
  const [source, destination] = pairOf(current, cell);
  const { id, label, unit } = metric.value;
  const value = current.values[id][cell];
  const text = unit === 'ratio' ? humanRatio(value) : humanNanos(value);
  return `${model.nameOf(source)} to ${model.nameOf(destination)}: ${current.stateName(cell)}, ${label} ${text}`;
}

// The states with their marks and counts.

import { useEffect, useRef } from 'preact/hooks';
import { humanCount } from './format';
import { drawMark } from './marks';
import { css, inkOn, Palette } from './palette';
import { STATES } from './states';
import { dark, grid, painted } from './store';

const SIDE = 18;

function Swatch({ state, isDark }: { state: string; isDark: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ratio = window.devicePixelRatio || 1;
  useEffect(() => {
    const palette = new Palette(isDark);
    const context = canvas.current!.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colour = state === 'ok' ? palette.data[110] : state === 'loss' ? palette.lossColour(0.1)
      : palette.states[state];
    context.fillStyle = css(colour);
    context.fillRect(0, 0, SIDE, SIDE);
    drawMark(context, state, 0, 0, SIDE, SIDE, palette.theme, inkOn(colour));
  }, [state, isDark, ratio]);
  return <canvas ref={canvas} class="swatch" width={SIDE * ratio} height={SIDE * ratio} aria-hidden="true" />;
}

export function Legend() {
  painted.value;
  return <section class="legend" aria-label="States">
    <h2>Pairs</h2>
    <ul>
      {STATES.map(({ name, text }) => {
        const pairs = grid.value?.countOf(name) ?? 0;
        return <li key={name} title={text} data-state={name} class={pairs === 0 ? 'none' : ''}>
          <Swatch state={name} isDark={dark.value} /><span>{name}</span><b>{humanCount(pairs)}</b>
        </li>;
      })}
    </ul>
  </section>;
}

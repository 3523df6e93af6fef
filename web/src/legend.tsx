// The legend: every state with its mark and count. The thresholds divide the pairs that are ok.

import { useEffect, useRef } from 'preact/hooks';
import { ScaleBar, Standard, WindowTime } from './controls';
import { humanCount } from './format';
import { drawMark } from './marks';
import { css, inkOn } from './palette';
import { CLASSES } from './severity';
import { entriesOf } from './states';
import { choose, limits, metric, painted, palette, ranks, scale } from './store';

const SIDE = 18;

function Swatch({ state }: { state: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ratio = window.devicePixelRatio || 1;
  useEffect(() => {
    const context = canvas.current!.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const code = metric.value.unit === 'ratio' ? 1 : Math.round((scale.value.low + scale.value.high) / 2);
    const kind = CLASSES.indexOf(state as typeof CLASSES[number]);
    const colour = palette.value.of((kind << 8) | code);
    context.fillStyle = css(colour);
    context.fillRect(0, 0, SIDE, SIDE);
    drawMark(context, state, 0, 0, SIDE, SIDE, palette.value.theme, inkOn(colour));
  }, [palette.value, ratio]);
  return <canvas ref={canvas} class="swatch" width={SIDE * ratio} height={SIDE * ratio} aria-hidden="true" />;
}

export function Legend() {
  painted.value;
  return <section class="legend" aria-label="States">
    <h2>{metric.value.label}</h2>
    <ScaleBar />
    <WindowTime />
    <h2>Pairs</h2>
    <Standard />
    <ul>
      {entriesOf(limits.value.judged).map(({ name, text }) => {
        const pairs = ranks.value?.counts[CLASSES.indexOf(name as typeof CLASSES[number])] ?? 0;
        return <li key={name} title={text} data-state={name} class={pairs === 0 ? 'none' : ''}>
          <button onClick={() => choose({ page: 'worst', only: name })}><Swatch state={name} /><span>{name}</span><b>{humanCount(pairs)}</b></button>
        </li>;
      })}
    </ul>
  </section>;
}

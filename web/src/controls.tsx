// One tab per probe, the switch of metrics, the scale and the time of what is shown.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { clockTime, humanCount } from './format';
import { METRICS, type Probe } from './model';
import { css, Palette } from './palette';
import { scale, unitOf } from './shown';
import { choose, dark, grid, metric, model, painted, plan } from './store';

// Arrow keys move among the buttons of a group, as its role promises.
function moveWithin(event: JSX.TargetedKeyboardEvent<HTMLElement>) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const buttons = [...event.currentTarget.children] as HTMLElement[];
  const at = buttons.indexOf(document.activeElement as HTMLElement);
  const next = buttons[(at + step + buttons.length) % buttons.length];
  next.click();
  next.focus();
}

function tabNote({ name, protocol, paths }: Probe): string {
  const protocolNote = name === protocol ? [] : [protocol];
  return [...protocolNote, ...(paths > 1 ? [`${paths} paths`] : [])].join(', ');
}

export function Tabs() {
  plan.value;
  painted.value;
  return <nav id="probes" class="probes" role="tablist" aria-label="Probes" onKeyDown={moveWithin}>
    {model.grids.map((each) => {
      const selected = each === grid.value;
      const problems = each.problems();
      const { name } = each.probe;
      return <button key={name} role="tab" aria-selected={selected} tabIndex={selected ? 0 : -1}
        data-probe={name} onClick={() => choose({ probe: name })}>
        {name}<small>{tabNote(each.probe)}</small>
        {problems > 0
          && <em title={`${humanCount(problems)} pairs are not well`}>{humanCount(problems)}</em>}
      </button>;
    })}
  </nav>;
}

export function Controls() {
  return <div class="controls">
    <div id="metrics" class="switch" role="radiogroup" aria-label="Colour shows"
      onKeyDown={moveWithin}>
      {METRICS.map(({ id, label }) => {
        const selected = id === metric.value.id;
        return <button key={id} role="radio" aria-checked={selected} tabIndex={selected ? 0 : -1}
          data-metric={id} onClick={() => choose({ metric: id })}>{label}</button>;
      })}
    </div>
    <ScaleBar />
    <WindowTime />
  </div>;
}

// From quick to slow, or from little loss to all.
function ScaleBar() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { isLoss, low, high } = scale.value;
  useEffect(() => {
    const context = canvas.current!.getContext('2d')!;
    const palette = new Palette(dark.value);
    for (let i = 0; i < 256; ++i) {
      context.fillStyle = css(isLoss ? palette.loss[i] : palette.data[i]);
      context.fillRect(i, 0, 1, 1);
    }
  }, [isLoss, dark.value]);
  const text = (nanos: number) => {
    const { name, size } = unitOf(scale.value);
    return `${Number((nanos / size).toPrecision(3))} ${name}`;
  };
  return <div class="scale">
    <span>{isLoss ? '0.1 %' : text(low)}</span>
    <canvas ref={canvas} width={256} height={1} aria-hidden="true" />
    <span>{isLoss ? '100 %' : text(high)}</span>
  </div>;
}

function WindowTime() {
  painted.value;
  const end = grid.value?.windowEnd ?? NaN;
  return <p class="window">{Number.isNaN(end) ? '' : `newest window ended ${clockTime(end)}`}</p>;
}

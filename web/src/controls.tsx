// The controls of the mesh: a tab per probe, the metric, the order of rows and columns, the
// thresholds, the scale, the time.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { LONGEST_LABEL } from './axes';
import { csvOfAll, exportPng } from './export';
import { clockTime, humanCount, inText, shortened } from './format';
import { humanCode, isChange, METRICS, NO_CHANGE } from './metrics';
import type { Probe } from './model';
import { ordersOf } from './order';
import { css } from './palette';
import { isThreshold } from './severity';
import { Timeline } from './timeline';
import { away, choose, crit, grid, limits, metric, model, overlaid, ownThresholds, painted, palette, pastQuestion, plan, ranks, scale, view, warn } from './store';
import { accusedBy, suspectsOf } from './verdict';

// Arrow keys move among the buttons of a group, as the ARIA roles tablist and radiogroup promise.
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

// Every painting asks this for thousands of addresses, and a probe's addresses never change, so the
// answer is kept.
const meshes = new WeakMap<Probe, boolean>();

function isMesh(probe: Probe): boolean {
  if (!meshes.has(probe)) meshes.set(probe, probe.sources.join() === probe.destinations.join());
  return meshes.get(probe)!;
}

function tabNote(probe: Probe): string {
  const { name, protocol, paths } = probe;
  const directed = isMesh(probe) ? [] : ['one way'];
  return [...(name === protocol ? [] : [protocol]), ...(paths > 1 ? [`${paths} paths`] : []), ...directed].join(', ');
}

const LISTS = ['worst', 'hosts']; // these pages list the chosen probe
export const TAB_OF = 'probe-'; // a tab's id is this and the probe's number

export function Tabs() {
  plan.value;
  painted.value;
  if (model.grids.length === 0) return null;
  return <nav id="probes" class="probes" role="tablist" aria-label="Probes" onKeyDown={moveWithin}>
    {model.grids.map((each, at) => {
      const selected = each.probe === grid.value?.probe;
      const { name } = each.probe;
      const accusing = suspectsOf(name);
      return <button key={name} id={TAB_OF + at} role="tab" aria-controls="probe-panel" aria-selected={selected} tabIndex={selected ? 0 : -1} data-probe={name}
        onClick={() => choose({ probe: name, sight: null, held: null, page: LISTS.includes(view.value.page) ? view.value.page : 'mesh' })}>
        {name}<small>{tabNote(each.probe)}</small>
        {accusing.length > 0 && <em title={accusing.map(({ sentence }) => inText(sentence)).join('\n')}>{humanCount(accusing.length)}</em>}
      </button>;
    })}
  </nav>;
}

export function Controls() {
  return <div class="controls">
    <div id="metrics" class="switch" role="radiogroup" aria-label="Metric" onKeyDown={moveWithin}>
      {METRICS.map(({ id, label }) => {
        const selected = id === metric.value.id;
        const accusing = accusedBy(grid.value!.probe.name, id);
        return <button key={id} role="radio" aria-checked={selected} tabIndex={selected ? 0 : -1} data-metric={id}
          onClick={() => choose({ metric: id })}>{label}
          {accusing.length > 0 && <em title={accusing.map(({ sentence }) => inText(sentence)).join('\n')}>{humanCount(accusing.length)}</em>}</button>;
      })}
    </div>
    <Order />
    {overlaid.value && <Overlay />}
    <Threshold name="warn" label="slow from" code={limits.value.slow} />
    <Threshold name="crit" label="very slow from" code={limits.value.verySlow} />
    <span class="export">
      <button onClick={() => exportPng(grid.value!, metric.value, palette.value.theme)}>PNG</button>
      <CsvLink text="CSV" />
    </span>
    <Timeline />
  </div>;
}

// All pairs of the map as a file.
export function CsvLink({ text }: { text: string }) {
  const { name } = grid.value!.probe;
  return <a class="button" download={`${name}-${metric.value.id}.csv`} href={csvOfAll(name, metric.value.id, pastQuestion())}>{text}</a>;
}

function Order() {
  plan.value; // the labels come with the plan
  const grouped = (ranks.value?.rowOrder.groups.length ?? 0) > 1;
  return <label class="field">order by <select id="order" value={view.value.order}
    onChange={(event) => choose({ order: event.currentTarget.value, sight: null })}>
    {ordersOf(Object.keys(model.labels)).map(({ by, text }) => <option key={by} value={by}>{shortened(text, LONGEST_LABEL)}</option>)}
  </select>
  {(grouped || view.value.roll !== '') && <button id="roll" class="quiet" aria-pressed={view.value.roll !== ''} title="A cell for each pair of groups; a click on one leads to its pairs"
    onClick={() => choose({ roll: view.value.roll === '' ? 'on' : '' })}>groups</button>}</label>;
}

function Threshold({ name, label, code }: { name: 'warn' | 'crit'; label: string; code: number }) {
  const shown = { warn, crit }[name].value;
  const [text, setText] = useState(shown);
  useEffect(() => setText(shown), [shown]);
  const wrong = !isThreshold(text);
  const take = (next: string) => choose({ [name]: next === ownThresholds.value[name] ? null : next });
  return <label class="field" title="3x is three times the mesh's median; 50us, 2ms and 5% are absolute; an empty field sets no threshold. The controller judges by the pinglist's thresholds; your own are shown instead of its verdict.">
    {label} <input id={name} value={text} size={5} aria-invalid={wrong} spellcheck={false}
      onInput={(event) => setText(event.currentTarget.value)}
      onChange={(event) => isThreshold(event.currentTarget.value) && take(event.currentTarget.value)} />
    <small>{wrong ? 'such as 3x or 50us' : code <= 255 && text.endsWith('x') ? `≈ ${humanCode(metric.value, code)}` : ''}</small>
  </label>;
}

function Overlay() {
  return <span class="overlay" role="status">your thresholds, not the verdict
    <button class="quiet" onClick={() => choose({ warn: null, crit: null })}>verdict</button></span>;
}

// Says by what the pairs are slow.
export function Standard() {
  if (isChange(metric.value)) return <p class="standard">coloured by the change, whatever was judged</p>;
  if (limits.value.judged) return <p class="standard">{away.value ? 'as the controller judged it then' : 'judged by the controller over several windows'}</p>;
  if (overlaid.value) return <p class="standard own">by your thresholds, not the verdict</p>;
  return <p class="standard">{away.value ? "no judgement is known of that time: by the pinglist's thresholds"
    : "not judged yet: by the pinglist's thresholds"}</p>;
}

const FULL = NO_CHANGE + 42; // the code with the full colour of a change (palette.ts)

// The scale runs from fast to slow, or from little loss to total loss.
export function ScaleBar() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ratio = metric.value.unit === 'ratio';
  const change = isChange(metric.value);
  const lost = metric.value.id === 'loss' && !limits.value.judged;
  useEffect(() => {
    const context = canvas.current!.getContext('2d')!;
    for (let i = 0; i < 256; ++i) {
      context.fillStyle = css(lost ? palette.value.loss[i] : palette.value.data[i]);
      context.fillRect(i, 0, 1, 1);
    }
  }, [palette.value, lost]);
  return <div class="scale">
    <span>{change ? humanCode(metric.value, 2 * NO_CHANGE - FULL) : ratio ? '0.1 %' : humanCode(metric.value, scale.value.low)}</span>
    <canvas ref={canvas} width={256} height={1} aria-hidden="true" />
    <span>{change ? humanCode(metric.value, FULL) : ratio ? '100 %' : humanCode(metric.value, Math.min(255, scale.value.high))}</span>
  </div>;
}

export function WindowTime() {
  painted.value;
  const end = grid.value?.windowEnd ?? NaN;
  return <p class="window">{Number.isNaN(end) ? 'no window yet' : `newest window ended ${clockTime(end)}`}</p>;
}

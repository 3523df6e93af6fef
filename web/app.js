// Puts the page together: which probe, which metric, which pair; what changes is drawn at most ten
// times a second.

import { byId, element } from './dom.js';
import { clockTime, humanCount, humanNanos, humanRatio } from './format.js';
import { Header } from './header.js';
import { Heatmap } from './heatmap.js';
import { buildScale, Legend } from './legend.js';
import { Live } from './live.js';
import { METRICS, Model } from './model.js';
import { PairPanel } from './pair.js';
import { Palette } from './palette.js';

const PAINT_EVERY = 100; // milliseconds
const HOVER_PAUSE = 60;
const RESCALE_EVERY = 1000;
const REFRESH_EVERY = 900; // of the pair that is shown

const darkness = window.matchMedia('(prefers-color-scheme: dark)');
const model = new Model();
const live = new Live(model);
const header = new Header(model, live);
const heatmap = new Heatmap(byId('heatmap'), byId('stage'));
const legend = new Legend();
const panel = new PairPanel(model);
const chosen = { probe: null, metric: METRICS[0] };
let palette = new Palette(darkness.matches);
let paintPlanned = false;
let rescaledAt = 0;
let refreshedAt = 0;
let refreshTimer = null;
let hoverTimer = null;

byId('heatmap').heatmap = heatmap; // for tests

// ---- what is chosen: kept in the URL, so that a view can be sent to a colleague ----

function readHash() {
  const hash = new URLSearchParams(location.hash.slice(1));
  chosen.probe = hash.get('probe') ?? chosen.probe;
  chosen.metric = METRICS.find(({ id }) => id === hash.get('metric')) ?? chosen.metric;
}

function writeHash() {
  const hash = new URLSearchParams();
  if (chosen.probe !== null) hash.set('probe', chosen.probe);
  hash.set('metric', chosen.metric.id);
  history.replaceState(null, '', `#${hash}`);
}

function grid() {
  return model.gridNamed(chosen.probe);
}

function choose(change) {
  Object.assign(chosen, change);
  writeHash();
  showAll();
}

// ---- tabs and switch ----

// Arrow keys move among the buttons of a group, as its role promises.
function moveWithin(event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const buttons = [...event.currentTarget.children];
  const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length)
    % buttons.length];
  next.click();
  event.currentTarget.querySelector('[tabindex="0"]')?.focus();
}

function tabNote({ name, protocol, paths }) {
  const protocolNote = name === protocol ? [] : [protocol];
  return [...protocolNote, ...(paths > 1 ? [`${paths} paths`] : [])].join(', ');
}

function buildTabs() {
  byId('probes').replaceChildren(...model.grids.map(({ probe }) => {
    const selected = probe.name === chosen.probe;
    return element('button', { role: 'tab', 'aria-selected': String(selected),
      tabindex: selected ? 0 : -1, 'data-probe': probe.name,
      on: { click: () => choose({ probe: probe.name }) } },
    probe.name, element('small', {}, tabNote(probe)), element('em', { hidden: true }));
  }));
  updateTabs();
}

function updateTabs() {
  model.grids.forEach((each, i) => {
    const badge = byId('probes').children[i]?.querySelector('em');
    if (!badge) return;
    const problems = each.problems();
    badge.hidden = problems === 0;
    badge.textContent = humanCount(problems);
    badge.title = `${humanCount(problems)} pairs are not well`;
  });
}

function buildMetrics() {
  byId('metrics').replaceChildren(...METRICS.map((metric) => {
    const selected = metric === chosen.metric;
    return element('button', { role: 'radio', 'aria-checked': String(selected),
      tabindex: selected ? 0 : -1, 'data-metric': metric.id,
      on: { click: () => choose({ metric }) } }, metric.label);
  }));
}

// ---- drawing ----

function showAll() {
  if (!grid()) chosen.probe = model.grids[0]?.probe.name ?? chosen.probe;
  buildTabs();
  buildMetrics();
  legend.build(palette);
  const current = grid();
  byId('empty').hidden = Boolean(current);
  byId('stage').hidden = !current;
  byId('empty').textContent = model.generation === null ? 'Waiting for the controller.'
    : 'No pinglist is in force yet: there is nothing to probe.';
  legend.update(current);
  if (!current) return;
  if (heatmap.grid !== current) {
    heatmap.cursor = null;
    heatmap.held = null;
    panel.clear();
  }
  heatmap.show(current, chosen.metric, palette, {
    rows: current.probe.sources.map((address) => model.nameOf(address)),
    columns: current.probe.destinations.map((address) => model.nameOf(address)),
  });
  buildScale(heatmap);
  showWindow(current);
  describe();
}

function describe() {
  const current = grid();
  byId('heatmap').setAttribute('aria-label', `${current.probe.name}, ${chosen.metric.label}: `
    + `${current.rows} sources by ${current.columns} destinations, ${current.problems()} of `
    + `${current.pairs()} pairs not well`);
}

function showWindow({ windowEnd }) {
  byId('window').textContent = Number.isNaN(windowEnd) ? ''
    : `newest window ended ${clockTime(windowEnd)}`;
}

function paint() {
  paintPlanned = false;
  updateTabs();
  const current = grid();
  if (!current || heatmap.grid !== current) return;
  if (Date.now() - rescaledAt > RESCALE_EVERY) {
    rescaledAt = Date.now();
    heatmap.rescale();
    buildScale(heatmap);
    describe();
  }
  heatmap.paint();
  legend.update(current);
  showWindow(current);
}

function planPaint() {
  if (paintPlanned) return;
  paintPlanned = true;
  setTimeout(() => requestAnimationFrame(paint), PAINT_EVERY);
}

// ---- the pair ----

function pairOf(cell) {
  const { probe } = grid();
  return [probe.sources[heatmap.rowOf(cell)], probe.destinations[heatmap.columnOf(cell)]];
}

function readOut(cell) {
  const [source, destination] = pairOf(cell);
  const value = grid().values[chosen.metric.id][cell];
  const text = chosen.metric.unit === 'ratio' ? humanRatio(value) : humanNanos(value);
  byId('readout').textContent = `${model.nameOf(source)} to ${model.nameOf(destination)}: `
    + `${grid().stateName(cell)}, ${chosen.metric.label} ${text}`;
}

// Whether a source's new row is one of the two ways that the panel shows.
function concernsShownPair(source) {
  const cell = heatmap.held ?? heatmap.cursor;
  return cell !== null && (heatmap.rowOf(cell) === source
    || grid().probe.sources[source] === grid().probe.destinations[heatmap.columnOf(cell)]);
}

function planRefresh() {
  if (refreshTimer !== null) return;
  refreshTimer = setTimeout(showPair, Math.max(0, refreshedAt + REFRESH_EVERY - Date.now()));
}

function showPair() {
  clearTimeout(refreshTimer);
  refreshTimer = null;
  const cell = heatmap.held ?? heatmap.cursor;
  if (cell === null) return panel.clear();
  refreshedAt = Date.now();
  const [source, destination] = pairOf(cell);
  return panel.show(chosen.probe, source, destination, heatmap.held !== null);
}

function pointAt(cell) {
  if (cell === heatmap.cursor) return;
  heatmap.cursor = cell;
  heatmap.paint();
  if (cell !== null) readOut(cell);
  clearTimeout(hoverTimer);
  if (heatmap.held === null && cell !== null) hoverTimer = setTimeout(showPair, HOVER_PAUSE);
}

function hold(cell) {
  heatmap.held = cell === heatmap.held ? null : cell;
  heatmap.paint();
  showPair();
}

function keyPressed(event) {
  if (!grid()) return;
  const direction = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  if (direction[event.key]) {
    pointAt(heatmap.cellBeside(heatmap.cursor, ...direction[event.key]));
  } else if (event.key === 'Enter' || event.key === ' ') {
    hold(heatmap.cursor);
  } else if (event.key === 'Escape') {
    hold(heatmap.held);
  } else {
    return;
  }
  event.preventDefault();
}

// ---- events ----

byId('heatmap').addEventListener('pointermove', (event) => {
  if (grid()) pointAt(heatmap.cellAt(event.offsetX, event.offsetY));
});
byId('heatmap').addEventListener('pointerleave', () => grid() && pointAt(null));
byId('heatmap').addEventListener('click', (event) => {
  if (grid()) hold(heatmap.cellAt(event.offsetX, event.offsetY));
});
byId('heatmap').addEventListener('keydown', keyPressed);
byId('probes').addEventListener('keydown', moveWithin);
byId('metrics').addEventListener('keydown', moveWithin);

live.addEventListener('plan', () => {
  heatmap.grid = null;
  showAll();
  header.update();
});
live.addEventListener('rows', ({ detail }) => {
  planPaint();
  if (detail.grid === grid() && concernsShownPair(detail.source)) planRefresh();
});
darkness.addEventListener('change', () => {
  palette = new Palette(darkness.matches);
  showAll();
});
window.addEventListener('resize', () => grid() && heatmap.resize());
window.addEventListener('hashchange', () => {
  readHash();
  showAll();
});

readHash();
showAll();

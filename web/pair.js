// The panel that explains one pair: its latest row, how the round trip splits up, and the same for
// the way back.

import { byId, element } from './dom.js';
import { humanCount, humanNanos } from './format.js';
import { meaningOf } from './states.js';

const PARTS = [['network_ns', 'network'], ['responder_ns', 'responder'], ['prober_ns', 'prober'],
  ['rtt_ns', 'rtt']];
const STATISTICS = ['min', 'mean', 'p50', 'p95', 'p99', 'max'];
const COUNTS = ['sent', 'received', 'lost', 'refused', 'unreachable', 'ack_lost', 'duplicate',
  'late'];

async function fetchRow(probe, source, destination, signal) {
  const path = [probe, source, destination].map(encodeURIComponent).join('/');
  const answer = await fetch(`api/v1/pairs/${path}`, { signal });
  const body = await answer.json();
  return answer.ok ? body : { missing: body.error?.reason ?? `HTTP ${answer.status}` };
}

function splitBar(row) {
  const parts = PARTS.slice(0, 3).filter(([key]) => row[key]);
  if (parts.length < 2) return null;
  const total = parts.reduce((sum, [key]) => sum + row[key].p50, 0) || 1;
  const bar = element('div', { class: 'split', role: 'img',
    'aria-label': 'How the median round trip splits up' });
  for (const [key, name] of parts) {
    const share = element('i', { class: name, title: `${name} ${humanNanos(row[key].p50)}` });
    share.style.flexGrow = row[key].p50 / total;
    bar.append(share);
  }
  const names = element('p', { class: 'split-names' }, ...parts.map(([key, name]) => element('span',
    { class: name }, `${name} ${Math.round((100 * row[key].p50) / total)} %`)));
  return element('div', {}, bar, names);
}

function timesTable(row) {
  const measured = PARTS.filter(([key]) => row[key]);
  if (measured.length === 0) return null;
  return element('table', { class: 'times' },
    element('thead', {}, element('tr', {}, element('th', {}),
      ...measured.map(([, name]) => element('th', { scope: 'col' }, name)))),
    element('tbody', {}, ...STATISTICS.map((statistic) => element('tr', {},
      element('th', { scope: 'row' }, statistic),
      ...measured.map(([key]) => element('td', {}, humanNanos(row[key][statistic])))))));
}

function countList(row) {
  if (row.sent === undefined) return null;
  const entries = COUNTS.filter((name) => row[name] > 0 || ['sent', 'received', 'lost']
    .includes(name)).map((name) => [name.replace('_', ' '), row[name]]);
  for (const [reason, count] of Object.entries(row.anomalous ?? {})) {
    entries.push([`anomalous ${reason.replace('_', ' ')}`, count]);
  }
  return element('dl', { class: 'counts' }, ...entries.flatMap(([name, count]) => [
    element('dt', {}, name), element('dd', {}, humanCount(count))]));
}

function origin(row) {
  const facts = [];
  if (row.start) facts.push(`${row.start.slice(11, 19)} – ${row.end.slice(11, 19)} UTC`);
  if (row.jitter_ns !== undefined && row.jitter_ns !== null) {
    facts.push(`jitter ${humanNanos(row.jitter_ns)}`);
  }
  if (row.clock) facts.push(`${row.clock} clock`);
  if (row.device) facts.push(row.device);
  return facts.length === 0 ? null : element('p', { class: 'origin' }, facts.join(' · '));
}

function direction(title, row) {
  if (row.missing) {
    return element('section', { class: 'way' }, element('h3', {}, title),
      element('p', { class: 'meaning' }, row.missing));
  }
  return element('section', { class: 'way' },
    element('h3', {}, title, element('span', { class: 'chip', 'data-state': row.state }, row.state)),
    row.state === 'ok' ? null : element('p', { class: 'meaning' }, meaningOf(row.state)),
    splitBar(row), timesTable(row), countList(row), origin(row));
}

export class PairPanel {
  constructor(model) {
    this.model = model;
    this.panel = byId('pair');
    this.clear();
  }

  clear() {
    this.abort?.abort();
    delete this.panel.dataset.pair;
    this.panel.replaceChildren(element('p', { class: 'hint' },
      'Point at a cell to see its latest window, both ways.'));
  }

  // Fetches both ways and shows them; a newer call wins.
  async show(probe, source, destination, held) {
    this.abort?.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    try {
      const [there, back] = await Promise.all([
        fetchRow(probe, source, destination, signal),
        source === destination ? null : fetchRow(probe, destination, source, signal)]);
      if (signal.aborted) return;
      this.render(source, destination, there, back, held);
    } catch (failure) {
      if (failure.name !== 'AbortError') this.fail(source, destination);
    }
  }

  render(source, destination, there, back, held) {
    const [from, to] = [this.model.nameOf(source), this.model.nameOf(destination)];
    const addresses = from === source && to === destination ? null
      : element('p', { class: 'addresses' }, `${source} → ${destination}`);
    this.panel.dataset.pair = `${source} ${destination}`;
    this.panel.replaceChildren(
      element('h2', {}, `${from} → ${to}`, held ? element('span', { class: 'held' }, 'held') : null),
      addresses ?? '',
      direction('there', there),
      back ? direction('back', back) : '');
  }

  fail(source, destination) {
    this.panel.replaceChildren(
      element('h2', {}, `${this.model.nameOf(source)} → ${this.model.nameOf(destination)}`),
      element('p', { class: 'meaning' }, 'The controller does not answer.'));
  }
}

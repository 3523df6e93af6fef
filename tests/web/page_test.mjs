// The page over synthetic rows: it has to show the board's contents, in states and sizes that a
// real mesh on one machine cannot have.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { shot, until } from './browser.mjs';
import { pointAt } from './heatmap.mjs';
import { assertQuiet, board, page, press, start } from './synthetic.mjs';

// Returns the colour of a cell from the painted pixels, and its state from the model.
function cell(row, column) {
  return page.evaluate(([at, of]) => {
    const map = document.querySelector('#heatmap').heatmap;
    const index = at * map.grid.columns + of;
    const { x, y } = map.middleOf(index);
    const corner = [x - map.view.cellWidth / 2 + 2, y - map.view.cellHeight / 2 + 2];
    const pixel = map.context.getImageData(...corner.map((place) => place * window.devicePixelRatio), 1, 1).data;
    return { state: map.grid.stateName(index), colour: [...pixel] };
  }, [row, column]);
}

// Returns the number of pixels that a cell's mark has: those that differ from its background.
function markOf(row, column) {
  return page.evaluate(([at, of]) => {
    const map = document.querySelector('#heatmap').heatmap;
    const { x, y } = map.middleOf(at * map.grid.columns + of);
    const [width, height] = [map.view.cellWidth - 4, map.view.cellHeight - 4];
    const box = [x - width / 2, y - height / 2, width, height].map((part) => Math.round(part * window.devicePixelRatio));
    const pixels = new Uint32Array(map.context.getImageData(...box).data.buffer);
    return pixels.filter((pixel) => pixel !== pixels[0]).length;
  }, [row, column]);
}

// Waits until the panel shows this pair, and returns its text.
function panel(source, destination) {
  return until(page, (pair) => {
    const shown = document.querySelector('#pair');
    return shown.dataset.pair === pair && shown.innerText;
  }, `${source} ${destination}`);
}

const legend = (state, count) => until(page, ([name, text]) => document.querySelector(`.legend [data-state="${name}"] b`)
  ?.textContent === text, [state, String(count)]);
const focusMap = () => page.focus('#heatmap');

test('a cell per pair', async () => {
  await start(8);
  for (let row = 0; row < 8; ++row) {
    for (let column = 0; column < 8; ++column) {
      const { state, colour } = await cell(row, column);
      assert.deepEqual([state, colour[3]], row === column ? ['', 0] : ['ok', 255]);
    }
  }
  await page.click('[data-probe=gpu-to-storage]');
  await page.waitForSelector('#heatmap[data-columns="2"][data-pairs="16"]');
  assertQuiet();
});

test('pointing shows the row both ways', async () => {
  await start(4);
  await pointAt(page, 0, 1);
  const text = await panel('10.0.0.1', '10.0.0.2');
  for (const part of ['gpu-001 → gpu-002', 'there', 'back', 'network', 'responder', 'prober', 'rtt', 'p99', 'sent', 'kernel clock']) {
    assert.ok(text.includes(part), part);
  }
  assert.equal(await page.locator('#pair .split').count(), 2);
  assertQuiet();
});

test('a change arrives without a reload', async () => {
  await start(8);
  await page.evaluate(() => { window.sameDocument = 1; });
  const before_ = await cell(2, 5);
  await board.say('pair 0 2 5 loss');
  await until(page, () => document.querySelector('#heatmap').heatmap.grid.stateName(21) === 'loss');
  await legend('loss', 1);
  await until(page, () => document.querySelector('#heatmap').heatmap.rankOf(21) >> 8 === 13); // the source of the painting
  const [red, green, blue] = (await cell(2, 5)).colour;
  assert.notDeepEqual([red, green, blue], before_.colour.slice(0, 3));
  assert.ok(red > 1.3 * Math.max(green, blue));
  assert.equal(await page.evaluate(() => window.sameDocument), 1);
  assertQuiet();
});

test('the shown pair follows', async () => {
  await start(4);
  await pointAt(page, 0, 1);
  await page.mouse.down();
  await page.mouse.up();
  await panel('10.0.0.1', '10.0.0.2');
  await board.say('pair 0 0 1 unreachable');
  await until(page, () => document.querySelector('#pair .way').innerText.includes('unreachable'));
});

test('the states look different', async () => {
  const names = ['loss', 'unreachable', 'refused', 'agent-down', 'stale', 'anomalous', 'pending', 'ok'];
  await start(12);
  for (const [column, name] of names.entries()) await board.say(`pair 0 11 ${column} ${name}`);
  await legend('stale', 1);
  await until(page, (all) => all.every((name) => document.querySelector('#heatmap').heatmap.grid.countOf(name) > 0), names);
  for (const colorScheme of ['dark', 'light']) {
    await page.emulateMedia({ colorScheme });
    await page.waitForSelector(`html[data-theme=${colorScheme}]`);
    const colours = new Set();
    for (const column of names.keys()) colours.add(String((await cell(11, column)).colour));
    assert.equal(colours.size, names.length, colorScheme);
    for (const column of names.keys()) assert.ok(await markOf(11, column) > 0, `${names[column]}, ${colorScheme}`);
  }
  assertQuiet();
});

test('pairs without the figure have a mark and a place in the legend', async () => {
  await start(8, '#probe=gpu-to-storage');
  await legend('ok', 16);
  const measured = (await cell(0, 0)).colour;
  await page.click('[data-metric=responder_p50]'); // TCP has no responder time
  await legend('not measured', 16);
  await legend('ok', 0);
  assert.ok(await markOf(0, 0) > 0);
  const { state, colour } = await cell(0, 0);
  assert.equal(state, 'ok');
  assert.notDeepEqual(colour, measured);
  assertQuiet();
});

test('keys reach every cell', async () => {
  await start(4);
  await focusMap();
  await press('ArrowRight', 'ArrowDown');
  const text = await until(page, () => document.querySelector('#readout').textContent);
  assert.match(text, /gpu-003 to gpu-002: ok, network p50.*; back: ok, network p50/);
  await press('Space');
  await page.waitForSelector('#pair .held');
  await panel('10.0.0.3', '10.0.0.2');
  await press('Escape', 'ArrowRight');
  await panel('10.0.0.3', '10.0.0.4');
  await press('Enter');
  await page.waitForSelector('#pair-page[data-pair="10.0.0.3 10.0.0.4"]');
  await press('Escape');
  await page.waitForSelector('#heatmap');
  await press('?');
  await page.waitForSelector('.help');
  await press('Escape');
  await page.waitForSelector('.help', { state: 'detached' });
  assertQuiet();
});

test('a link leads to the view', async () => {
  await start(4, '#probe=gpu-to-storage&metric=loss');
  assert.equal(await page.getAttribute('#probes [aria-selected=true]', 'data-probe'), 'gpu-to-storage');
  assert.equal(await page.getAttribute('#metrics [aria-checked=true]', 'data-metric'), 'loss');
  await page.click('[data-probe=udp]');
  await page.click('[data-metric=network_p99]');
  assert.ok(page.url().endsWith('#probe=udp&metric=network_p99'));
  await page.goBack();
  await page.goBack();
  await page.waitForSelector('[data-probe=gpu-to-storage][aria-selected=true]');
  assertQuiet();
});

test('every metric can be shown', async () => {
  await start(4);
  const metrics = await page.$$eval('#metrics button', (buttons) => buttons.map(({ dataset }) => dataset.metric));
  assert.equal(metrics.length, 10);
  for (const metric of metrics) {
    await page.click(`[data-metric=${metric}]`);
    await until(page, (id) => {
      const map = document.querySelector('#heatmap').heatmap;
      return map.scene.metric.id === id && map.grid.values[1] > 0;
    }, metric);
  }
  assertQuiet();
});

test('a slow host is a cross', async () => {
  await start(40, '#order=rack');
  await board.say('slow 7');
  await legend('very slow', 78);
  const said = await page.locator('.bar .summary [data-state="very slow"]').innerText();
  assert.equal(said, '78 of them very slow (network p50)');
  assert.deepEqual(await page.evaluate(() => {
    const { rowLines, columnLines } = document.querySelector('#heatmap').heatmap.scene.ranks;
    const bad = (lines) => [...Array(40).keys()].filter((line) => lines.rank(line) >> 8 !== 3);
    return [bad(rowLines), bad(columnLines)];
  }), [[7], [7]]);
  const colours = [];
  for (const at of [[7, 0], [39, 7], [1, 2]]) colours.push(String((await cell(...at)).colour));
  assert.equal(colours[0], colours[1]);
  assert.notEqual(colours[0], colours[2]);
  assertQuiet();
});

test('zooming reaches single cells and is in the URL', async () => {
  const zoom = () => page.evaluate(() => document.querySelector('#heatmap').heatmap.view.sight().zoom);
  await start(300);
  await pointAt(page, 150, 200, false);
  await focusMap();
  await press(...Array(12).fill('+'));
  await until(page, () => document.querySelector('#heatmap').heatmap.view.cellWidth >= 50);
  assert.equal(await page.evaluate(() => document.querySelector('#heatmap').heatmap.view.level), 0);
  await until(page, () => location.hash.includes('at='));
  const before_ = await zoom();
  await page.reload();
  await until(page, () => Number(document.querySelector('#heatmap')?.dataset.pairs) > 0);
  assert.ok(Math.abs(await zoom() - before_) < 0.1);
  await focusMap();
  await press('0');
  await until(page, () => !location.hash.includes('at='));
  assertQuiet();
});

test('the worst list', async () => {
  await start(12);
  await board.say('pair 0 3 5 unreachable');
  await board.say('pair 0 4 6 loss');
  await page.click('[data-page=worst]');
  await until(page, () => document.querySelectorAll('.pairs tbody tr').length === 132
    && document.querySelector('.pairs tbody td').innerText === 'gpu-004');
  const rows = await page.$$eval('.pairs tbody tr', (all) => all.slice(0, 2).map((row) => row.innerText.split('\t').slice(0, 3)));
  assert.deepEqual(rows, [['gpu-004', 'gpu-006', 'unreachable'], ['gpu-005', 'gpu-007', 'loss']]);
  await page.focus('#filter');
  await page.keyboard.type('gpu-005');
  await until(page, () => document.querySelectorAll('.pairs tbody tr').length === 22);
  assert.ok(page.url().includes('filter=gpu-005'));
  assertQuiet();
});

test('a list that is cut says so, and how to see the rest', async () => {
  await start(320, '#page=host&probe=udp&host=10.0.0.7');
  const lists = () => page.$$eval('.columns section', (all) => all.map((list) => [list.querySelectorAll('tbody tr').length,
    list.querySelector('.cut')?.innerText]));
  const cut = '300 of 319 pairs are listed, those with a problem first. list all';
  await until(page, () => document.querySelectorAll('.columns tbody tr').length === 600);
  assert.deepEqual(await lists(), [[300, cut], [300, cut]]);
  assert.match(await page.innerText('.facts'), /measures udp with\s+kernel clock/);
  await page.locator('.cut button').first().click();
  assert.deepEqual(await lists(), [[319, undefined], [300, cut]]);
  await page.click('[data-page=worst]');
  await until(page, () => document.querySelectorAll('.pairs tbody tr').length === 500);
  assert.match(await page.innerText('.cut'), /^The first 500 of 102,080 pairs are listed.* CSV of all pairs$/s);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.cut a')]);
  const csv = await readFile(await download.path(), 'utf8');
  assert.equal(csv.split('\r\n').length, 1 + 102_080 + 1);
  assert.match(csv, /^source,source_name,destination,destination_name,state,network_p50_ns,severity,window_end\r\n/);
  await page.fill('#search', 'gpu-3');
  assert.match(await page.innerText('#found'), /13 more: type more of the name or address$/);
  assertQuiet();
});

test('racks stand for their pairs, and lead to them', async () => {
  await start(64, '#order=rack');
  await page.click('#roll');
  await page.waitForSelector('#roll-up');
  const rows = await page.locator('#roll-up tbody tr').count();
  assert.equal(await page.locator('#roll-up tbody button').count(), rows * rows);
  assert.match(await page.getAttribute('#roll-up tbody button', 'title'), /^r1 to r1: \d+ of \d+ pairs are bad/);
  await shot(page, 'racks');
  await page.locator('#roll-up tbody tr').nth(1).locator('button').first().click();
  await page.waitForSelector('#heatmap');
  const [top, left] = await page.evaluate(() => { const { view } = document.querySelector('#heatmap').heatmap; return [view.y, view.x]; });
  assert.ok(top > 0 && left === 0, `${top} ${left}`);
  assertQuiet();
});

test('the details of a pair are a sheet on a phone', async () => {
  await start(8, '', { viewport: { width: 390, height: 700 } });
  await page.evaluate(() => document.querySelector('#heatmap').scrollIntoView());
  await pointAt(page, 1, 2);
  await page.mouse.down();
  await page.mouse.up();
  await until(page, () => document.querySelector('.pair[data-pair] .times'));
  const sheet = await page.locator('.pair').boundingBox();
  assert.ok(sheet.y + sheet.height <= 701 && sheet.height <= 0.46 * 700, JSON.stringify(sheet));
  await shot(page, 'phone-sheet');
  await page.click('.pair .close');
  await until(page, () => !document.querySelector('.pair[data-pair]'));
  assertQuiet();
});

test('search leads to a host', async () => {
  await start(8);
  await press('/');
  await page.keyboard.type('gpu-003');
  await press('Enter');
  await until(page, () => document.querySelector('.page h2')?.innerText === 'gpu-003'
    && document.querySelectorAll('.pairs tbody tr').length === 14
    && document.querySelector('.page').innerText.includes('No agent has registered'));
  assert.ok((await page.innerText('.facts')).includes('r1'));
  assertQuiet();
});

test('a pair has a page', async () => {
  await start(4, '#page=pair&probe=udp&metric=network_p50&from=10.0.0.1&to=10.0.0.2');
  await until(page, () => document.querySelectorAll('.uplot canvas').length >= 2
    && document.querySelector('#pair-page .way')?.innerText.includes('p99'));
  assertQuiet();
});

test('a phone has room for it', async () => {
  await start(8, '', { viewport: { width: 390, height: 800 } });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
});

test('another plan', async () => {
  await start(4);
  await board.say('plan 6');
  await page.waitForSelector('#heatmap[data-rows="6"]');
  await until(page, () => document.querySelector('#heatmap').heatmap.grid.countOf('pending') === 30);
  await board.say('all');
  await until(page, () => document.querySelector('#heatmap').heatmap.grid.countOf('ok') === 30);
  assertQuiet();
});

test('large meshes show the worst', async () => {
  await start(300);
  await board.say('pair 0 150 200 loss');
  await until(page, () => {
    const map = document.querySelector('#heatmap').heatmap;
    const lost = 150 * 300 + 200;
    return map.grid.countOf('loss') === 1 && map.view.level > 0 && map.worstAt(map.placeOf(lost)) === lost;
  });
  assertQuiet();
});

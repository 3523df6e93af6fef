// The fabric's page and a pair's paths through it. Routes stand for the controller's answers, because the board has no paths.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shot, until } from './browser.mjs';
import { assertQuiet, board, openPage, page, startBoard } from './synthetic.mjs';

const LEAFS = 4;
const SPINES = 3;
const INCIDENT = '18'; // one of those that the board makes

const node = (name, tier, incident = null) => ({ name, tier, named: true, addresses: ['10.2.0.1'], incident });
function fabricOf(accused) {
  const leafs = Array.from({ length: LEAFS }, (_, at) => `leaf${at}`);
  const spines = Array.from({ length: SPINES }, (_, at) => `spine${at}`);
  const links = leafs.flatMap((leaf) => spines.flatMap((spine) => [[leaf, spine], [spine, leaf]]))
    .map(([from, to]) => ({ from, to, flows: from === 'leaf3' ? 2 : 40, incident: `${from} ${to}` === accused ? INCIDENT : null }));
  return { paths: 480, merged: accused !== 'contradiction',
    switches: [...leafs.map((name) => node(name, 1)), ...spines.map((name) => node(name, 2, name === accused ? INCIDENT : null))], links };
}

const FLOWS = { flows: 230, listed: [{ probe: 'udp', source: '10.0.0.1', source_name: 'gpu-001', destination: '10.0.0.2', destination_name: 'gpu-002', path: 3 },
  { probe: 'gone', source: '10.0.0.1', source_name: 'gpu-001', destination: '10.0.0.2', destination_name: 'gpu-002', path: 0 }] };

// Opens a page whose questions about the fabric are answered; returns the questions about flows.
async function start(hash, fabric, paths) {
  await startBoard(4);
  await openPage();
  const asked = [];
  await page.route((url) => url.pathname === '/api/v1/fabric', (route) => route.fulfill({ json: fabric }));
  await page.route((url) => url.pathname === '/api/v1/fabric/flows', (route) => {
    asked.push(new URL(route.request().url()).search);
    return route.fulfill({ json: FLOWS });
  });
  if (paths) await page.route((url) => url.pathname.startsWith('/api/v1/paths/'), (route) => route.fulfill({ json: paths }));
  await board.say('judge 3');
  await until(page, () => document.querySelector('.pages em')?.innerText === '2');
  await page.evaluate((to) => { window.location.hash = to; }, hash);
  return asked;
}

test('the map has tiers, directions and the accused link by its name', async () => {
  const asked = await start('#page=fabric', fabricOf('spine1 leaf0'));
  await until(page, () => document.querySelectorAll('.switch-node').length === 7);
  assert.equal(await page.getAttribute('[data-page=fabric]', 'aria-current'), 'page');
  assert.equal(await page.locator('.fabric-map line').count(), 2 * LEAFS * SPINES);
  assert.equal(await page.locator('.fabric-map line[data-severity]').getAttribute('data-link'), 'spine1 leaf0');
  assert.equal(await page.locator('.fabric-map line[data-few=true]').count(), SPINES);
  assert.match(await page.innerText('#fabric .page-head'), /7 switches, 24 link directions, 480 traced flows, 3 with fewer than 3 flows/);
  assert.equal(await page.locator('#fabric .incident').count(), 1);
  await page.click('#fabric .incident >> text=flows');
  await until(page, () => document.querySelectorAll('.fabric-flows tbody tr').length === 2);
  assert.deepEqual(asked, ['?from=spine1&to=leaf0']);
  assert.match(await page.innerText('.fabric-flows'), /spine1 → leaf0\s*230 flows[^]*gpu-001[^]*The first 2 are listed/);
  assert.equal(await page.locator('.fabric-flows tbody button').count(), 1, 'a probe that is gone cannot be opened');
  await page.click('.fabric-flows >> text=the other direction');
  await until(page, () => document.querySelector('.fabric-map line[data-chosen=true]')?.dataset.link === 'leaf0 spine1');
  for (const colorScheme of ['dark', 'light']) {
    await page.emulateMedia({ colorScheme });
    await shot(page, `fabric-${colorScheme}`);
  }
  await page.click('#fabric .incident >> text=incident');
  await until(page, () => document.querySelector('[data-page=incidents]').getAttribute('aria-current') === 'page');
  assertQuiet();
});

test('a switch is chosen with the keyboard, and shows its links', async () => {
  const asked = await start('#page=fabric', fabricOf('spine2'));
  await until(page, () => document.querySelector('.switch-node[data-severity]')?.dataset.switch === 'spine2');
  await page.focus('.switch-node[data-switch=leaf1]');
  await page.keyboard.press('Enter');
  await until(page, () => document.querySelectorAll('.fabric-flows .acts button').length === 6
    && document.querySelectorAll('.fabric-flows tbody tr').length === 2);
  assert.deepEqual(asked, ['?switch=leaf1']);
  assertQuiet();
});

test('the page says what is not known', async () => {
  await start('#page=fabric', { paths: 0, merged: true, switches: [], links: [] });
  await until(page, () => /No path through a switch is known/.test(document.querySelector('#fabric')?.innerText ?? ''));
  await page.unroute(() => true);
  await page.context().close();
  await board.end();
  await start('#page=fabric', fabricOf('contradiction'));
  await until(page, () => /answer from addresses of other links/.test(document.querySelector('#fabric')?.innerText ?? ''));
  assertQuiet();
});

const hop = (router, name) => ({ router, ...(name && { name }), ...(router && { rtt_ns: 24_000 }) });
const trace = (...hops) => ({ state: 'traced', end: 'reached', traced: '2026-11-25T03:12:00Z', rtt_ns: 60_000, hops });
const EVIL = '<img src=x onerror=alert(1)>';

test('a pair shows its path, its change and where it is broken', async () => {
  const known = { path: 0, ...trace(hop('10.2.0.1', 'leaf0'), hop('10.2.1.1', EVIL), hop(null), hop('10.2.3.1')), state: 'partial', since: '2026-11-25T03:00:00Z', changes: 1,
    before: [trace(hop('10.2.0.1', 'leaf0'), hop('10.2.1.9', 'spine9'))], broken: { ...trace(hop('10.2.0.1', 'leaf0')), end: 'silent' } };
  const paths = { probe: 'udp', source: '10.0.0.1', source_name: 'gpu-001', destination: '10.0.0.2', destination_name: 'gpu-002', forward: [known], return: [] };
  await start('#page=pair&probe=udp&from=10.0.0.1&to=10.0.0.2', fabricOf(''), paths);
  await until(page, () => document.querySelectorAll('.hops').length === 2);
  const hops = await page.$$eval('.hop-lists > div > .hops:first-of-type > li', (all) => all.map((each) => each.firstChild.data));
  assert.deepEqual(hops, ['gpu-001', 'leaf0', EVIL, '?', '10.2.3.1', 'gpu-002']);
  assert.equal(await page.innerText('.hops [data-changed=true]').then((text) => text.startsWith('<img')), true);
  assert.match(await page.innerText('.hop-lists'), /came only so far[^]*nobody answered behind it[^]*changed once; before: leaf0, spine9/);
  await shot(page, 'pair-hops');
  assertQuiet();
});

test('a TCP pair shows the connections that were traced', async () => {
  const known = { path: 0, ...trace(hop('10.2.0.1', 'leaf0')), state: 'partial', end: 'silent', source_port: 40001, since: '2026-11-25T03:12:00Z', changes: 0,
    before: [{ ...trace(hop('10.2.0.1', 'leaf0'), hop('10.2.1.9', EVIL)), source_port: 40000 }] };
  const paths = { probe: 'udp', source: '10.0.0.1', source_name: 'gpu-001', destination: '10.0.0.2', destination_name: 'gpu-002', forward: [known], return: [] };
  await start('#page=pair&probe=udp&from=10.0.0.1&to=10.0.0.2', fabricOf(''), paths);
  await until(page, () => document.querySelectorAll('.hops').length === 1);
  assert.equal(await page.$('.hops [data-changed=true]'), null);
  const text = await page.innerText('.hop-lists');
  assert.match(text, /nobody answered behind it[^]*a connection from port 40001[^]*from port 40000: leaf0, <img/);
  assertQuiet();
});

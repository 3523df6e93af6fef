// Applications on the dashboard: real agents with metric pages, a collector that registers, and replicas of which one is
// slow.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, open, shot, until } from './browser.mjs';
import { freePort, Mesh } from './mesh.mjs';
import { eventually, Program } from './processes.mjs';
import { anyFailed, step } from './steps.mjs';

const { PINGLOOM_BIN } = process.env;
const HOSTS = 6;
const SLOW = 3; // the host of the slow replica
const NAMED_SECONDS = 150;

let mesh;
let browser;
let page;
let collector;
let begun; // when the slow replica began, milliseconds
const trainers = [];

async function startCollector() {
  const home = `${mesh.subnet}.201`;
  writeFileSync(mesh.path('collector.yaml'), JSON.stringify({ name: 'dpu-1', address: home, device: 'soft', controller: mesh.url,
    interval: '20ms', http: `${home}:${await freePort(home)}`, analytics: { interval: '100ms' } }));
  collector = new Program(mesh.path('collector.log'), join(PINGLOOM_BIN, 'pingloom-collector'), ['--config', mesh.path('collector.yaml')]);
}

function startTrainer(at) {
  trainers.push(new Program(mesh.path(`trainer-${at}.log`), 'env', [`PINGLOOM_PAGES_SOCKET=${mesh.pagesSocket(at)}`,
    `PYTHONPATH=${fileURLToPath(new URL('../../python', import.meta.url))}`,
    `PINGLOOM_PAGES_LIBRARY=${join(PINGLOOM_BIN, '../lib/libpingloom-pages.so.0')}`,
    'python3', '-B', fileURLToPath(new URL('trainer.py', import.meta.url)), at === SLOW ? '15' : '10']));
}

before(async () => {
  mesh = new Mesh({ hosts: HOSTS, protocols: ['rdma'], pages: true });
  await mesh.start();
  browser = await launch();
  page = await open(browser, mesh.url);
});

after(async () => {
  await browser?.close();
  for (const program of [...trainers, collector]) if (program?.running()) await program.kill('SIGTERM');
  await mesh.end(anyFailed());
});

function openHost(at) {
  return page.evaluate((address) => { location.hash = `#page=host&host=${address}`; }, mesh.addresses[at]);
}

step('without a collector the pages say what to configure', async () => {
  await page.waitForSelector('#link[data-state=live]');
  await page.click('[data-page=applications]');
  await until(page, () => document.querySelector('#applications .hint')?.textContent.includes('No collector has registered'));
  await shot(page, 'applications-none');
  await openHost(0);
  await until(page, () => document.querySelector('#no-collector')?.textContent.includes('controller: URL'));
});

step("a host's page shows its applications and their metrics", async () => {
  await startCollector();
  begun = Date.now();
  for (let at = 0; at < HOSTS; ++at) startTrainer(at);
  await until(page, () => document.querySelectorAll('[data-application=trainer] tbody tr').length === 3);
  const value = (name) => page.$$eval('[data-application=trainer] tbody tr', (rows, wanted) =>
    rows.map((row) => [...row.cells].map((cell) => cell.textContent)).find(([metric]) => metric === wanted)[2], name);
  await eventually(async () => /^(9\.\d+|10\.\d+) ms$/.test(await value('step_seconds')), 30, 'the mean of the newest steps');
  assert.ok(Number(await value('samples_total')) > 100, 'a rate per second');
  assert.ok(Number(await value('queue_depth{stage=load}')) >= 0);
  await until(page, () => [...document.querySelectorAll('.spark polyline')].some((line) => line.getAttribute('points').split(' ').length > 8));
  await until(page, () => /^10\.0 ms at [\d:]+ UTC: trace_id=[0-9a-f]{32}$/.test(
    document.querySelector('.exemplar[data-metric=step_seconds]')?.textContent));
  assert.equal((await page.$$('.exemplar')).length, 1, 'the others have none');
  await page.$eval('[data-application=trainer]', (block) => block.scrollIntoView());
  await shot(page, 'applications-host');
  assert.deepEqual(page.complaints.filter((text) => !text.includes('404')), []);
});

step('the slow replica is named with its peers', async () => {
  await openHost(SLOW);
  await page.waitForFunction(() => document.querySelector('[data-application=trainer] .deviations')?.textContent.includes("x its peers'"), null,
    { timeout: NAMED_SECONDS * 1000 });
  const seconds = Math.round((Date.now() - begun) / 1000);
  console.log(`named after ${seconds} s`);
  assert.ok(seconds <= NAMED_SECONDS);
  const text = await page.textContent('[data-application=trainer] .deviations li');
  assert.match(text, /^step_seconds \w+ is 1\d\.\d ms, 1\.\d\dx its peers' \([\d.]+ ms\)$/);
  assert.equal(await page.$$eval('[data-application=trainer] tr[data-unusual=true]', (rows) => rows.length), 1);
  await shot(page, 'applications-slow');
});

step('the grid shows it beside its peers, and leads to its host', async () => {
  await page.click('[data-page=applications]');
  // The agents are applications too; a busy machine may make them unusual.
  const slow = '.application-grid [data-application=trainer] [data-level=unusual]';
  await until(page, (count) => document.querySelectorAll('.application-grid [data-application=trainer] button').length === count, HOSTS);
  await until(page, (one) => document.querySelectorAll(one).length === 1, slow);
  const name = await page.getAttribute(slow, 'aria-label');
  assert.match(name, new RegExp(`^trainer of ${mesh.agentNames[SLOW]}: unusual now: step_seconds`));
  await until(page, () => document.querySelectorAll('.anomalies tbody tr').length > 0);
  await shot(page, 'applications-grid');
  await page.click(slow);
  await until(page, () => document.querySelector('[data-application=trainer] .deviations') !== null);
});

step('the timeline has the anomaly beside the events of the mesh', async () => {
  await page.click('[data-page=mesh]');
  await until(page, () => document.querySelectorAll('.timeline .mark.anomaly').length > 0);
  assert.match(await page.textContent('.anomalies summary'), /anomal/);
  await page.click('.anomalies summary');
  await until(page, (host) => document.querySelector('.anomalies tbody').textContent.includes(host), mesh.agentNames[SLOW]);
  await shot(page, 'applications-timeline');
});

step('an incident of the host has the anomaly as evidence', async () => {
  await mesh.impairAgent(SLOW, [{ delay: '20ms' }]);
  const told = new RegExp(`^${mesh.names[SLOW]}.*, and application trainer's step_seconds \\w+ is 1\\.\\d\\d x its peers'`);
  const incident = await eventually(async () => (await mesh.json('/api/v1/incidents')).open.find(({ sentence }) => told.test(sentence)), 120,
    'the sentence names the application');
  assert.equal(incident.anomalies[0].host, mesh.agentNames[SLOW]);
  await page.click('[data-page=incidents]');
  await until(page, () => document.querySelector('#incidents, main').textContent.includes("application trainer's step_seconds"));
  await shot(page, 'applications-incident');
});

step('a collector that ends is gone after a while', async () => {
  await collector.kill('SIGKILL');
  await page.click('[data-page=applications]');
  await until(page, () => document.querySelector('#applications .hint')?.textContent.includes('No collector has registered'));
});

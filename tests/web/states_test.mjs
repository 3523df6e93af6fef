// The page without data: no probes, no windows yet, or no controller. The test keeps a picture of
// each state.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shot, until } from './browser.mjs';
import { assertQuiet, board, openPage, page, press, start, startBoard } from './synthetic.mjs';

// Runs in the page before its scripts: messages of the live connection wait until `deliver(most)`
// lets them through.
function holdMessages() {
  const held = [];
  let allowed = 0;
  const pass = () => {
    for (; allowed > 0 && held.length > 0; --allowed) held.shift()();
  };
  window.heldMessages = held;
  window.deliver = (most) => {
    allowed += most;
    pass();
  };
  const { prototype } = WebSocket;
  const setter = Object.getOwnPropertyDescriptor(prototype, 'onmessage');
  Object.defineProperty(prototype, 'onmessage', { ...setter, set(handler) {
    setter.set.call(this, (event) => {
      held.push(() => handler(event));
      pass();
    });
  } });
}

const text = (selector) => page.innerText(selector);

test('waiting for the controller, then for the mesh', async () => {
  await startBoard(6);
  await openPage('', { before: holdMessages });
  await until(page, () => document.querySelector('main.empty h2')?.innerText === 'Waiting for the controller');
  assert.match(await text('main.empty'), /retries by itself/);
  await shot(page, 'state-waiting');
  await until(page, () => window.heldMessages.length > 0);
  await page.evaluate(() => window.deliver(1)); // the plan
  await until(page, () => document.querySelector('.blank')?.innerText === 'Loading the mesh…');
  assert.equal(await text('.window'), 'no window yet');
  await shot(page, 'state-loading');
  await page.evaluate(() => window.deliver(Infinity));
  await page.waitForSelector('#heatmap[data-pairs="30"]');
  await page.waitForSelector('.blank', { state: 'detached' });
  assertQuiet();
});

test('the controller does not answer from the beginning', async () => {
  await startBoard(6);
  await openPage('', { before: holdMessages });
  await page.waitForSelector('main.empty');
  await until(page, () => window.heldMessages.length > 0);
  await board.end();
  await until(page, () => document.querySelector('main.empty h2')?.innerText === 'The controller does not answer');
  await page.waitForSelector('#link[data-state=reconnecting]');
  await shot(page, 'state-no-answer');
});

test('no probes, and then some', async () => {
  await startBoard(0);
  await openPage();
  await until(page, () => document.querySelector('main.empty h2')?.innerText === 'Nothing to probe yet');
  assert.match(await text('main.empty'), /names no probes/);
  assert.equal(await page.locator('[role=tab], [role=tablist]').count(), 0);
  await shot(page, 'state-no-probes');
  await press('?');
  await page.waitForSelector('.help');
  await press('Escape');
  await board.say('plan 4');
  await page.waitForSelector('#heatmap[data-rows="4"]');
  assertQuiet(); // after the next command, requests for the probe that has gone get 404
  await board.say('plan 0');
  await page.waitForSelector('main.empty');
});

test('a probe without windows, and one without pairs', async () => {
  await start(6, '#probe=rdma');
  await until(page, () => document.querySelector('.legend [data-state=pending] b').textContent === '30');
  assert.equal(await text('.window'), 'no window yet');
  assert.equal(await page.locator('.blank').count(), 0);
  await shot(page, 'state-no-windows');
  await board.say('plan 1');
  await until(page, () => document.querySelector('.blank')?.innerText === 'rdma has no pairs.');
  await shot(page, 'state-no-pairs');
  assertQuiet();
});

test('the page says that a pinglist was rejected', async () => {
  await start(6);
  await board.say('reject');
  const said = await until(page, () => document.querySelector('[data-kind=pinglist]')?.innerText);
  assert.ok(said.includes('the last good one is in force') && said.includes("unknown protocol 'udb' <b>"));
  assert.equal(await page.getAttribute('.notices', 'role'), 'alert');
  assert.equal(await page.getAttribute('#heatmap', 'data-pairs'), '30');
  await shot(page, 'state-rejected-pinglist');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.waitForSelector('html[data-theme=light]');
  await shot(page, 'state-rejected-pinglist-light');
  assertQuiet();
});

test('the page shows that the controller has gone, and that it is back', async () => {
  await start(6);
  const address = new URL(board.url).host;
  await page.waitForSelector('#link[data-state=live]');
  await board.end();
  await page.waitForSelector('#link[data-state=reconnecting]');
  assert.match(await text('#link'), /ago/);
  assert.match(await text('.notices .lost'), /the page shows the last data that it received/);
  assert.equal(await page.$eval('.stage', (stage) => getComputedStyle(stage).opacity), '0.5');
  await shot(page, 'state-disconnected');
  await startBoard(6, address);
  await page.waitForSelector('#link[data-state=live]');
  await page.waitForSelector('.notices .lost', { state: 'detached' });
});

// Gives each test over synthetic rows a board and a page of its own, which end with the test.

import assert from 'node:assert/strict';
import { after, afterEach, before } from 'node:test';
import { Board } from './board.mjs';
import { launch, open, until } from './browser.mjs';

export let browser;
export let page;
export let board;

before(async () => { browser = await launch(); });
after(() => browser.close());
afterEach(async () => {
  await page?.context().close();
  await board?.end();
});

// `listen` is the address of an earlier board; without it the board picks a free port.
export async function startBoard(hosts, listen) {
  board = await Board.start(hosts, listen);
}

export async function openPage(hash = '', options = {}) {
  page = await open(browser, `${board.url}/${hash}`, options);
}

export async function start(hosts, hash = '', options = {}) {
  await startBoard(hosts);
  await openPage(hash, options);
  await until(page, () => Number(document.querySelector('#heatmap')?.dataset.pairs) > 0 || document.querySelector('.page'));
}

export async function press(...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

// Checks that the console has no errors, which include resources that the security policy refused.
// The board has no history, so 503 is expected, and so is chromium's warning about reading pixels.
export function assertQuiet() {
  assert.deepEqual(page.complaints.filter((text) => !/willReadFrequently|503 \(Service Unavailable\)/.test(text)), []);
}

// For tests over a board of synthetic rows: a board and a page of their own for each, which end with it.

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

// listen: where the board of before was; a free port without.
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

// Neither an error in the console nor anything that the policy refused. This board has no history, and chromium has an
// opinion on tests that read pixels.
export function assertQuiet() {
  assert.deepEqual(page.complaints.filter((text) => !/willReadFrequently|503 \(Service Unavailable\)/.test(text)), []);
}

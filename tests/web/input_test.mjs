// The page by keyboard, for screen readers, and by finger on a phone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shot, until } from './browser.mjs';
import { assertQuiet, page, press, start } from './synthetic.mjs';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

test('tabs say what they choose', async () => {
  await start(4);
  const tabs = () => page.$$eval('[role=tablist] [role=tab]', (all) => all.map((tab) => ({ id: tab.id, probe: tab.dataset.probe,
    selected: tab.ariaSelected, controls: tab.getAttribute('aria-controls'), order: tab.tabIndex })));
  const label = () => page.getAttribute('[role=tabpanel]', 'aria-labelledby');
  for (const [at, probe] of ['udp', 'gpu-to-storage', 'rdma'].entries()) {
    const found = await tabs();
    assert.deepEqual(found.map((tab) => tab.selected), ['true', 'false', 'false'].map((_, tab) => String(tab === at)));
    assert.deepEqual(found.map(({ order }) => order), found.map((_, tab) => (tab === at ? 0 : -1)));
    assert.equal(found[at].probe, probe);
    assert.deepEqual(new Set(found.map(({ controls }) => controls)), new Set([await page.getAttribute('[role=tabpanel]', 'id')]));
    assert.equal(await label(), found[at].id);
    await page.focus('[role=tab][aria-selected=true]');
    await press('ArrowRight');
    await until(page, (before) => document.activeElement.ariaSelected === 'true' && document.activeElement.id !== before, found[at].id);
  }
  assert.equal((await tabs())[0].selected, 'true', 'the first tab follows the last');
  assertQuiet();
});

// Returns 'dialog' where the focus is in the dialog, else the class of the element with the focus.
const focused = () => page.evaluate(() => (document.activeElement.closest('dialog') ? 'dialog' : document.activeElement.className));

test('the help takes the focus, keeps it, and gives it back', async () => {
  await start(4, '#page=worst');
  for (const close of [() => press('Escape'), () => press('Enter'), () => press('?'), () => page.mouse.click(5, 5)]) {
    await page.focus('button.theme');
    await press('?');
    await page.waitForSelector('dialog.help[open]');
    assert.equal(await page.getAttribute('dialog.help', 'aria-labelledby').then((id) => page.innerText(`#${id}`)), 'Keys');
    for (const key of ['', 'Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab', '/']) {
      if (key !== '') await press(key);
      assert.equal(await focused(), 'dialog', key);
    }
    await close();
    await page.waitForSelector('dialog.help', { state: 'detached' });
    assert.equal(await focused(), 'theme');
    assert.match(page.url(), /page=worst/, 'Escape closed the help and nothing else');
  }
  await press('?');
  await shot(page, 'help');
  assertQuiet();
});

test('the help stays when it is opened right after it was closed', async () => {
  await start(4, '#page=worst');
  await press('?');
  await page.waitForSelector('dialog.help[open]');
  await page.evaluate(async () => {
    document.querySelector('dialog.help button').click();
    while (document.querySelector('dialog.help')) await Promise.resolve();
    window.dispatchEvent(new KeyboardEvent('keydown', { key: '?' }));
  });
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 100); }));
  assert.equal(await page.locator('dialog.help[open]').count(), 1);
  assertQuiet();
});

// Moves fingers from their first places to their last.
async function swipe(fingers) {
  const glass = await page.context().newCDPSession(page);
  const at = (part) => fingers.map(([[x, y], [toX, toY]], id) => ({ id, x: x + part * (toX - x), y: y + part * (toY - y) }));
  await glass.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0) });
  for (let step = 1; step <= 10; ++step) {
    await glass.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(step / 10) });
  }
  await glass.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await glass.detach();
}

const MIDDLE = 0.6; // the place of the cells' middle on the canvas
const sight = () => page.evaluate(() => document.querySelector('#heatmap').heatmap.view.sight());
// Returns a place on the screen in the middle of the map's cells.
async function place() {
  const { x, y, width, height } = await page.locator('#heatmap').boundingBox();
  return { x: x + width * MIDDLE, y: y + height * MIDDLE };
}

test('a finger scrolls the page over a map that is fully visible', async () => {
  await start(40, '', PHONE);
  await shot(page, 'phone-synthetic');
  const { x, y } = await place();
  await swipe([[[x, y], [x, y - 150]]]);
  await until(page, () => window.scrollY > 60);
  assert.equal((await sight()).zoom, 1);
  assertQuiet();
});

test('two fingers zoom the map, and then one moves it, not the page', async () => {
  await start(40, '', PHONE);
  await page.evaluate(() => document.querySelector('#heatmap').scrollIntoView({ block: 'center' }));
  const { x, y } = await place();
  await swipe([[[x - 15, y - 15], [x - 90, y - 90]], [[x + 15, y + 15], [x + 90, y + 90]]]);
  await until(page, () => document.querySelector('#heatmap').heatmap.view.zoom > 2);
  assert.deepEqual(await place(), { x, y });
  const { row, column } = await sight();
  await swipe([[[x, y], [x - 60, y - 60]]]);
  await until(page, ([fromRow, fromColumn]) => {
    const now = document.querySelector('#heatmap').heatmap.view.sight();
    return now.row > fromRow + 1 && now.column > fromColumn + 1;
  }, [row, column]);
  assert.deepEqual(await place(), { x, y });
  await shot(page, 'phone-zoomed');
  assertQuiet();
});

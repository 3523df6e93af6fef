// The page by keyboard: what helps those who use neither a mouse nor their eyes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shot, until } from './browser.mjs';
import { assertQuiet, page, press, start } from './synthetic.mjs';

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
  assert.equal((await tabs())[0].selected, 'true', 'behind the last is the first');
  assertQuiet();
});

// Where the focus is: in the dialog, or what else it is in.
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

// Hostile names and labels: markup, quotes, paths, right-to-left letters, and the greatest length
// that a pinglist may have.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shot, until } from './browser.mjs';
import { assertQuiet, board, page, start } from './synthetic.mjs';

const LONGEST = 4096; // bytes
const TEXTS = [
  '<img src=x onerror=hacked()>', '"\'><script>hacked()</script>', '<iframe srcdoc="<script>top.hacked()</script>">',
  '../../a/b?c#d&amp;%2e%2e/', '{{7*7}}${7*7}`', '__proto__',
  '\u202egnp.exe', 'שרת־01 عربي', '👩‍💻é漢z̷̡̛͇̎', 'x'.repeat(LONGEST), '漢'.repeat(LONGEST / 4), '<b>'.repeat(LONGEST / 3),
];
// A page that does not treat the names as text makes one of these elements.
const FOREIGN = 'img, iframe, b:not(.bar b, .legend b), body script, [onerror]';

async function startHostile(hash = '', options = {}) {
  await start(TEXTS.length, '', { ...options, before: () => { window.hacked = () => { window.wasHacked = true; }; } });
  for (const [host, text] of TEXTS.entries()) {
    // Each text is the name of a host, and the name and the value of a label of that host.
    await board.say(`host ${host} ${[text, text, 'mine', 'zone', text, 'name', text].join('\t')}`);
  }
  await page.goto(`${page.url().split('#')[0]}#${hash}`);
  await until(page, (texts) => document.querySelector('#order')?.options.length === 2 + 3 + texts
    || document.querySelector('.page'), TEXTS.length);
}

async function assertHarmless() {
  assert.equal(await page.evaluate(() => window.wasHacked), undefined);
  assert.equal(await page.locator(FOREIGN).count(), 0);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'nothing is wider than the page');
  assertQuiet();
}

const VIEWPORTS = { wide: {}, phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } };
const address = (host) => `10.0.0.${host + 1}`;
// Characters that reorder the text around them are shown as their numbers.
const visible = (text) => text.replace('\u202e', '\\u202e');
// The text as a line shows it: cut to its greatest length.
const shown = (name) => cut(visible(name));
const cut = (text) => (Array.from(text).length <= 120 ? text : `${Array.from(text).slice(0, 119).join('')}…`);

for (const [name, options] of Object.entries(VIEWPORTS)) {
  test(`the mesh, ordered by each label, ${name}`, async () => {
    await startHostile('', options);
    const orders = await page.$$eval('#order option', (all) => all.map(({ value }) => value));
    assert.deepEqual(new Set(orders), new Set(['address', 'name', 'rack', 'zone', 'label:name', ...TEXTS]));
    for (const order of orders) {
      await page.selectOption('#order', order);
      await until(page, (by) => new URLSearchParams(location.hash.slice(1)).get('order') === (by === 'address' ? null : by), order);
      await assertHarmless();
    }
    await page.selectOption('#order', 'zone');
    const groups = await page.evaluate(() => document.querySelector('#heatmap').heatmap.scene.ranks.rowOrder.groups.map((group) => group.name));
    assert.deepEqual(new Set(groups), new Set(TEXTS));
    await shot(page, `hostile-mesh-${name}`);
    await page.focus('#heatmap');
    for (const key of ['ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await until(page, () => document.querySelector('#pair h2') && document.querySelector('#readout').textContent);
    await assertHarmless();
  });

  test(`their incidents, ${name}`, async () => {
    await startHostile('', options);
    for (const host of TEXTS.keys()) {
      await board.say(`judge ${host}`);
      await until(page, (name_) => document.querySelector('.suspect .sentence')?.innerText.includes(name_),
        visible(TEXTS[host]).trim().slice(0, 5));
      await assertHarmless();
    }
    await page.route('**/api/v1/history/incidents?*', (route) => route.fulfill({ json: { incidents: [] } }));
    await page.goto(`${page.url().split('#')[0]}#page=incidents&incident=17`);
    await page.waitForSelector('.incident-details tbody tr');
    await assertHarmless();
    await shot(page, `hostile-incidents-${name}`);
    await page.goto(`${page.url().split('#')[0]}#page=hosts`);
    await page.waitForSelector('.ranking tbody tr');
    await assertHarmless();
  });

  test(`their hosts, pairs and lists, ${name}`, async () => {
    await startHostile('page=worst', options);
    await until(page, (texts) => texts.every((text) => document.querySelector('.pairs tbody')?.textContent.includes(text)), TEXTS.map(shown));
    await assertHarmless();
    await shot(page, `hostile-worst-${name}`);
    for (const [host, text] of TEXTS.entries()) {
      await page.fill('#search', text);
      await until(page, () => document.querySelector('#found button'));
      await assertHarmless();
      await page.press('#search', 'Enter');
      await until(page, ([heading, label]) => document.querySelector('.page h2')?.textContent === heading
        && [...document.querySelectorAll('.facts dt')].some((term) => term.textContent === label), [visible(text), visible(text)]);
      await assertHarmless();
      const other = address((host + 1) % TEXTS.length);
      await page.goto(`${page.url().split('#')[0]}#${new URLSearchParams({ page: 'pair', from: address(host), to: other })}`);
      await until(page, (pair) => document.querySelector('#pair-page')?.dataset.pair === pair
        && document.querySelectorAll('#pair-page .way').length === 2, `${address(host)} ${other}`);
      assert.ok((await page.textContent('#pair-page h2')).includes(shown(text)));
      await assertHarmless();
    }
    await shot(page, `hostile-pair-${name}`);
    await page.goto(`${page.url().split('#')[0]}#${new URLSearchParams({ page: 'host', host: address(9) })}`);
    await until(page, () => document.querySelector('.facts')?.innerText.includes('mine'));
    await shot(page, `hostile-host-${name}`);
  });
}

// The page of telemetry stores, which the collector serves, with a real collector, translator and reporter.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { launch, open, shot, until } from './browser.mjs';
import { eventually } from './processes.mjs';
import { anyFailed, step } from './steps.mjs';
import { Stores } from './stores.mjs';

const HOSTILE = '<img src=x onerror=hacked()><script>hacked()</script>';
const CONTROL = 'hex:1b5b324a0d0a00ff'; // an escape sequence of terminals, a line's end, and more

let stores;
let browser;
let page;

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await stores?.end(anyFailed());
});

const text = (selector) => page.$eval(selector, (element) => element.innerText);
// Waits until the element's text matches.
const says = (selector, pattern) => until(page, ([where, source]) => [...document.querySelectorAll(where)]
  .some((element) => new RegExp(source, 's').test(element.innerText)), [selector, pattern.source]);
const entries = () => page.$$eval('#tail tbody tr', (rows) => rows.map((row) => row.lastElementChild.textContent));
const chosen = () => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const figure = (name) => `[data-figure=${name}] td:nth-child(2)`;

async function appended() {
  return (await (await stores.get('/api/v1/dta/tables')).json()).stores[0].writer.appends;
}

async function assertHarmless(width = 1280) {
  assert.equal(await page.evaluate(() => window.wasHacked), undefined);
  assert.equal(await page.locator('img, iframe, body script, [onerror]').count(), 0);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, 'nothing is wider than the page');
}

step('without a token there is a form, and nothing of the stores', async () => {
  const token = 'r'.repeat(40);
  const locked = await new Stores({ tokens: { read: token } }).start();
  try {
    const visitor = await open(browser, locked.url);
    await visitor.waitForSelector('#sign-in');
    assert.equal(await visitor.$('.store'), null);
    for (const path of ['tables', 'top?table=votes']) {
      assert.equal(await visitor.evaluate((asked) => fetch(`api/v1/dta/${asked}`).then(({ status }) => status), path), 401);
    }
    await visitor.fill('#sign-in input', token);
    await visitor.click('#sign-in button');
    await visitor.waitForSelector('.store');
    assert.equal(await visitor.getAttribute('#who', 'data-role'), 'read');
    await visitor.click('#who button');
    await visitor.waitForSelector('#sign-in');
    await visitor.context().close();
  } finally {
    await locked.end(anyFailed());
  }
});

step('the store and its tables are shown', async () => {
  stores = await new Stores().start();
  page = await open(browser, stores.url, { before: () => { window.hacked = () => { window.wasHacked = true; }; } });
  await page.waitForSelector('#link[data-state=live]');
  await says('.store .state', /^connected$/);
  assert.deepEqual(await page.$$eval('.tables tbody tr', (rows) => rows.map(({ dataset }) => dataset.table)), ['latest', 'events', 'votes', 'paths', 'path-changes']);
  assert.match(await text('[data-table=events]'), /2 lists × 64 blocks, entries of 160 B/);
  assert.match(await text('[data-table=votes]'), /2 rows × 10,000 counters/);
  assert.match(await text('[data-table=paths]'), /slots of up to \d+ hops/);
});

step('what is reported is counted, with rates, and fills the table', async () => {
  const keys = Array.from({ length: 400 }, (_, number) => ['key_write', 1, `db-${number}`, `state ${number}`]);
  await stores.report(...keys);
  await says(figure('key_writes'), /^400$/);
  await says('[data-figure=key_writes] td:nth-child(3)', /^0 .s$/); // it is known again when nothing more arrives
  await says('[data-table=latest] .fill', /^40 %$/);
  const width = await page.$eval('[data-table=latest] .fill b', (bar) => bar.getBoundingClientRect().width / bar.parentElement.getBoundingClientRect().width);
  assert.ok(Math.abs(width - 0.4) < 0.02, `the bar shows ${width}`);
});

step('a rate is that of the writer', async () => {
  let reports = true;
  const reporting = (async () => {
    while (reports) {
      await stores.report(['key_write', 1, 'busy', 'x']);
      await pause(20);
    }
  })();
  try {
    await until(page, () => Number(document.querySelector('[data-figure=key_writes] td:nth-child(3)').innerText.replace(/[^\d.]/g, '')) >= 1);
  } finally {
    reports = false;
    await reporting;
  }
});

step('a key is found by its latest value, and the link keeps it', async () => {
  await page.fill('#get input[name=key]', 'text:db-7');
  await page.click('#get button');
  await says('#get .answer', /state 7.*73746174 652037 and 17 zero bytes.*ago.*rack-7/);
  assert.deepEqual(await chosen(), { table: 'latest', key: 'text:db-7' });
  await stores.report(['key_write', 1, 'db-7', 'hex:0102']);
  await says('#get .answer', /^bytes.*0102 and 22 zero bytes/);
});

step('a key that no store has, and one that is no key, are told apart', async () => {
  await page.fill('#get input[name=key]', 'text:nobody');
  await page.click('#get button');
  await says('#get .answer', /No store has this key/);
  await page.fill('#get input[name=key]', 'nobody');
  await page.click('#get button');
  await says('#get .fault', /refuses.*text:TEXT/);
});

step('what is typed is not undone when the page is drawn again', async () => {
  await page.fill('#get input[name=key]', 'text:half a k');
  await page.fill('#watch input[name=keys]', 'text:half');
  await page.selectOption('#get select', 'votes');
  const sign = await text('.store .page-head');
  await stores.report(['increment', 3, 'nobody', 1]);
  await says(figure('increments'), /^1$/); // later answers have been drawn
  await until(page, (last) => document.querySelector('.store .page-head').innerText !== last, sign);
  assert.deepEqual([await page.inputValue('#get input[name=key]'), await page.inputValue('#watch input[name=keys]'), await page.inputValue('#get select')],
    ['text:half a k', 'text:half', 'votes']);
});

step('a count is shown with its error', async () => {
  await stores.report(['increment', 3, 'link-1', 10], ['increment', 3, 'link-2', 4000], ['increment', 3, 'link, 3', 300]);
  await page.selectOption('#get select', 'votes');
  await page.fill('#get input[name=key]', 'text:link-2');
  await page.click('#get button');
  await says('#get .answer', /4,000.*more than 2 with a probability of at most 14\s%/);
});

step('a path is shown hop by hop', async () => {
  // UDP from 10.0.0.1, port 49152, to 10.0.1.9, port 4791; a hop has an address and nanoseconds.
  const tuple = 'hex:110a0000010a000109c00012b7';
  await stores.report(...[1, 2, 3].map((hop) => ['postcard', 4, tuple, hop - 1, 3, `hex:0a00090${hop}0000${(hop * 10_000).toString(16).padStart(4, '0')}`]));
  await page.selectOption('#get select', 'paths');
  await page.fill('#get input[name=key]', 'tuple:10.0.0.1:49152>10.0.1.9:4791/udp');
  await page.click('#get button');
  await says('#get .answer', /1\s+10\.0\.9\.1\s+10\.0 µs.*3\s+10\.0\.9\.3\s+30\.0 µs.*complete, 3 hops, 0 changes.*rack-7/);
  await page.fill('#get input[name=key]', 'tuple:10.0.0.1:49153>10.0.1.9:4791/udp');
  await page.click('#get button');
  await says('#get .answer', /No store has a path/);
  await page.goBack();
  await page.goBack();
  await says('#get .answer', /4,000/);
});

step('the most counted keys are listed, the greatest first', async () => {
  await until(page, () => document.querySelectorAll('#watch [data-rows^=most] tbody tr').length === 4);
  assert.deepEqual(await page.$$eval('#watch [data-rows^=most] tbody tr', (rows) => rows.map(({ dataset }) => dataset.key)),
    ['text:link-2', 'text:link, 3', 'text:link-1', 'text:nobody']);
  await stores.report(['increment', 3, HOSTILE.slice(0, 36), 5000], ['increment', 3, CONTROL, 2]);
  await until(page, () => document.querySelectorAll('#watch [data-rows^=most] tbody tr').length === 6);
  await says('#watch [data-rows^=most] tbody tr:first-child', /text:<img src=x.*5,000/);
  await says('#watch [data-rows^=most] tbody tr:nth-child(5)', new RegExp(`${CONTROL}\\s+2`));
  await says('#watch [data-rows^=most]', /more than 3 with a probability of at most 14\s%/);
  await assertHarmless();
});

step('several counts are compared, the greatest first', async () => {
  const comma = `hex:${Buffer.from('link, 3').toString('hex')}`;
  await page.fill('#watch input[name=keys]', `text:link-1, text:link-2,${comma}, oops`);
  await page.click('#watch button');
  await until(page, () => document.querySelectorAll('#watch [data-rows=named] tbody tr').length === 4);
  assert.deepEqual(await page.$$eval('#watch [data-rows=named] tbody tr', (rows) => rows.map(({ dataset }) => dataset.key)), ['text:link-2', comma, 'text:link-1', 'oops']);
  await says('#watch [data-rows=named] [data-key=oops]', /refuses/);
  await stores.report(['increment', 3, 'link-1', 9000]);
  await says('#watch [data-rows=named] tbody tr:first-child', /link-1\s+9,010/);
});

step('changes of paths are shown in words', async () => {
  await page.selectOption('#tail select', 'path-changes');
  await page.waitForSelector('#arrived');
  const tuple = 'hex:110a0000020a000109c00012b7';
  let last = 1;
  await eventually(async () => { // the page shows what comes after it has begun to follow the list
    last = 3 - last;
    await stores.report(['postcard', 4, tuple, 0, 1, `hex:0a00080${last}00001000`]);
    return (await entries()).length > 0;
  }, 30, 'a change is shown');
  assert.match((await entries())[0],
    /^20\d\d-\d\d-\d\dT[\d:.]+Z tuple:10\.0\.0\.2:49152>10\.0\.1\.9:4791\/udp hop 1: 10\.0\.8\.([12]) > 10\.0\.8\.(?!\1)[12]$/);
});

step('a list is followed, the newest entry first, and hostile entries are harmless', async () => {
  await page.selectOption('#tail select', 'events');
  await page.waitForSelector('#arrived');
  await eventually(async () => {
    await stores.report(['append', 2, 'first']);
    return (await entries()).length > 0;
  }, 30, 'the page follows the list');
  await stores.report(['append', 2, HOSTILE], ['append', 2, CONTROL]);
  await until(page, () => document.querySelector('#tail tbody tr:nth-child(2)')?.innerText.includes('<img'));
  const shown = await entries();
  assert.equal(shown[1], HOSTILE);
  assert.match(shown[0], /^1b5b324a 0d0a00ff and 152 zero bytes$/, 'control characters are digits');
  await assertHarmless();
  assert.equal((await chosen()).tail, 'events');
});

step('a pause keeps the place', async () => {
  await page.click('#tail button');
  await says('#arrived', /paused/);
  const shown = (await entries()).length;
  const stored = await appended();
  await stores.report(['append', 2, 'while it paused']);
  await eventually(async () => await appended() === stored + 1, 30, 'the entry is stored');
  await says(figure('appends'), new RegExp(`^${stored + 1}$`)); // the page knows of it
  assert.equal((await entries()).length, shown);
  await page.click('#tail button');
  await until(page, () => document.querySelector('#tail tbody tr td:last-child').innerText === 'while it paused');
  assert.equal((await entries()).length, shown + 1);
  await shot(page, 'telemetry');
});

step('more entries than the page reads: at most 500 are shown, and what is missing is said', async () => {
  await page.click('#tail button');
  await says('#arrived', /paused/);
  // The list has room for 384 entries. The translator drops what comes faster than it writes.
  for (let portion = 0; portion < 5; ++portion) {
    const stored = await appended();
    await stores.report(...Array.from({ length: 300 }, (_, number) => ['append', 2, `entry ${portion}-${number}`]));
    await eventually(async () => await appended() >= stored + 300, 30, 'the entries are stored');
  }
  await page.click('#tail button');
  await says('#tail .fault', /were overwritten before they were read/);
  const shown = await entries();
  assert.ok(shown.length <= 500, `${shown.length} entries are shown`);
});

step('another list of the table is followed', async () => {
  await page.fill('#tail input[name=list]', '1');
  await page.dispatchEvent('#tail input[name=list]', 'change');
  await says('#arrived', /^0 arrived/);
  await eventually(async () => {
    await stores.report(['append', 2, 'of list 1', 1]);
    return (await entries()).length > 0;
  }, 30, 'the page follows list 1');
  assert.deepEqual(new Set(await entries()), new Set(['of list 1']));
});

step('refused reports are loud', async () => {
  await stores.report(['key_write', 9, 'k', 'v']);
  await page.waitForSelector('[data-figure=refused][data-loud]');
});

step('a link opens the same choices, also on a phone', async () => {
  await page.setViewportSize({ width: 400, height: 800 });
  await page.reload();
  await says('#get .answer', /4,000/);
  await says('#watch [data-rows=named] tbody tr:first-child', /link-1/);
  assert.equal(await page.inputValue('#tail input[name=list]'), '1');
  await assertHarmless(400);
  await page.screenshot({ path: `${process.env.PINGLOOM_VIEWS ?? '/tmp'}/telemetry-phone.png`, fullPage: true });
});

step('a link to a table that no store has says so', async () => {
  await page.goto(`${stores.url}/#table=gone&key=text:a&tail=lost&counts=never&keys=text:b`);
  await says('#get .fault', /Not found.*gone/);
  await says('#tail .fault', /Not found.*lost/);
  await says('#watch .fault', /Not found.*never/);
  await page.setViewportSize({ width: 1280, height: 800 });
});

step('a translator that ends is loud, and so is a collector', async () => {
  assert.deepEqual(page.complaints.filter((text) => !/status of (400|404)/.test(text)), []);
  await stores.translator.kill('SIGKILL');
  await page.waitForSelector('.store[data-loud=bad]');
  await says('.store .state', /last sign/);
  await stores.collector.kill('SIGKILL');
  await says('.notices', /does not answer.*as they were at/);
  await shot(page, 'telemetry-gone');
  await stores.startCollector();
  await page.waitForSelector('#link[data-state=live]');
  await stores.startTranslator();
  await says('.store .state', /^connected$/);
});

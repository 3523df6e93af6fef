// What the page concludes for the operator: suspects, incidents, the ranking of hosts, and judged
// cells. The board judges synthetic rows; routes stand for the controller's answers to an operator.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shot, until } from './browser.mjs';
import { assertQuiet, board, page, start } from './synthetic.mjs';

const suspect = (id) => page.locator(`.suspect[data-id="${id}"]`);
const classOf = (row, column) => page.evaluate(([at, of]) => {
  const map = document.querySelector('#heatmap').heatmap;
  return map.rankOf(at * map.grid.columns + of) >> 8;
}, [row, column]);

async function startJudged(hosts = 12, hash = '', options = {}) {
  await start(hosts, hash, options);
  await board.say('judge 3');
  await until(page, () => document.querySelector('.pages em')?.innerText === '2');
}

// Answers requests to a path, and keeps their bodies.
async function answer(path, status, body) {
  const asked = [];
  await page.route((url) => url.pathname === path, async (route) => {
    asked.push([route.request().method(), route.request().postDataJSON()]);
    await route.fulfill({ status, json: body });
  });
  return asked;
}

test('without a verdict nothing is judged', async () => {
  await start(4);
  assert.equal(await page.innerText('#suspects .clear'), 'nothing is judged yet');
  assert.match(await page.innerText('.standard'), /not judged yet/);
  assert.equal(await page.title(), 'pingloom');
  assertQuiet();
});

test('the suspects stand first, each as a sentence', async () => {
  await startJudged();
  assert.equal(await page.locator('.side > :first-child').getAttribute('id'), 'suspects');
  const [first, second] = await page.$$eval('.suspect', (all) => all.map((each) => each.innerText));
  for (const part of ['gpu-004 is very slow in both directions', '(12 min)', 'network', '22 of 22 pairs', 'udp', 'Acknowledge', 'Silence']) {
    assert.ok(first.includes(part), part);
  }
  assert.ok(second.includes('acknowledged by alice: the cable is ordered'), second);
  assert.equal(await suspect(18).getAttribute('data-hushed'), 'true');
  assert.equal(await page.title(), '(2) pingloom');
  assert.equal(await page.getAttribute('link[rel=icon]', 'href'), 'icon-2.svg');
  assert.equal(await page.innerText('[data-probe=udp] em'), '2');
  assert.equal(await page.innerText('[data-metric=network_p50] em'), '1', 'the other one is about loss');
  await page.click('[data-probe=rdma]');
  assert.equal(await page.innerText('[data-probe=udp] em'), '2', 'whatever is shown');
  assert.equal(await page.locator('[data-probe=rdma] em').count(), 0);
  for (const colorScheme of ['dark', 'light']) {
    await page.emulateMedia({ colorScheme });
    await page.click('[data-probe=udp]');
    await shot(page, `suspects-${colorScheme}`);
  }
  assertQuiet();
});

test('cells have the class of the verdict, until the user sets thresholds', async () => {
  await startJudged();
  await until(page, () => document.querySelector('.legend [data-state="very slow"] b').textContent === '22');
  const [slow, ok, lossy] = [await classOf(3, 0), await classOf(0, 1), await classOf(4, 5)];
  assert.equal(new Set([slow, ok, lossy]).size, 3);
  assert.match(await page.innerText('.bar .summary'), /1 lossy\s+22 very slow/);
  await page.fill('#warn', '1us');
  await page.press('#warn', 'Enter');
  await until(page, () => document.querySelector('.overlay')?.innerText.includes('your thresholds, not the verdict'));
  assert.match(await page.innerText('.standard'), /not the verdict/);
  await until(page, () => Number(document.querySelector('.legend [data-state=slow] b').textContent) > 80);
  await page.click('.overlay button');
  await until(page, () => document.querySelector('.legend [data-state=lossy] b')?.textContent === '1');
  assertQuiet();
});

test('the evidence is a click away', async () => {
  await startJudged(12, '#metric=loss');
  await suspect(17).locator('.show').click();
  await until(page, () => document.querySelector('#pair')?.dataset.pair === '10.0.0.4 10.0.0.1');
  assert.equal(await page.getAttribute('#metrics [aria-checked=true]', 'data-metric'), 'network_p50');
  await suspect(18).locator('.show').click();
  await until(page, () => document.querySelector('#pair')?.dataset.pair === '10.0.0.5 10.0.0.6');
  assertQuiet();
});

test('an operator acknowledges and silences, and sees a refusal', async () => {
  await startJudged();
  const acknowledged = await answer('/api/v1/incidents/17', 200, {});
  await suspect(17).locator('[data-act=acknowledge]').click();
  await suspect(17).locator('[name=by]').fill('bob');
  await suspect(17).locator('[name=comment]').fill('looking');
  await suspect(17).locator('form button').first().click();
  await suspect(17).locator('form').waitFor({ state: 'detached' });
  assert.deepEqual(acknowledged, [['POST', { acknowledge: true, by: 'bob', comment: 'looking' }]]);
  assertQuiet(); // a refusal is in the console
  const silenced = await answer('/api/v1/silences', 400, { error: { reason: 'there are too many silences' } });
  await suspect(17).locator('[data-act=silence]').click();
  assert.equal(await suspect(17).locator('[name=by]').inputValue(), 'bob');
  await suspect(17).locator('[name=duration]').selectOption('12h');
  await suspect(17).locator('form button').first().click();
  assert.equal(await suspect(17).locator('.fault').innerText(), 'refused: there are too many silences');
  assert.deepEqual(silenced, [['POST', { matchers: { culprit: 'gpu-004' }, duration: '12h', by: 'bob', comment: '' }]]);
  await shot(page, 'suspects-refused');
});

test('the page of incidents has their course and their evidence', async () => {
  await startJudged();
  const past = { id: '9', kind: 'agent', culprit: 'gpu-002', severity: 'down', figure: 'loss', opened: '2026-11-20T10:00:00.000Z',
    updated: '2026-11-20T10:00:00.000Z', closed: '2026-11-20T11:00:00.000Z', flaps: 2, probes: ['udp'], pairs: { bad: 11, judged: 11 },
    sentence: 'the agent of gpu-002 is gone', candidates: [], tell: null, labels: {}, acknowledged: null, silenced_by: null, evidence: [], history: [] };
  await answer('/api/v1/history/incidents', 200, { incidents: [past] });
  await page.click('[data-page=incidents]');
  await until(page, () => document.querySelectorAll('.incident').length === 3);
  assert.match(await page.innerText('.incident[data-id="9"]'), /closed · agent gpu-002 .* for 60 min .* opened again 2 times/s);
  await page.click('.incident[data-id="18"] .incident-head');
  const details = await page.innerText('.incident-details');
  for (const part of ['would explain it as well: host-send gpu-005', 'what would tell: a probe from gpu-005', 'loss 4 %, more than 1 %']) {
    assert.ok(details.includes(part), part);
  }
  assert.match(page.url(), /incident=18/);
  await shot(page, 'incidents');
  await page.selectOption('#severity', 'very slow');
  await until(page, () => document.querySelectorAll('.incident').length === 1);
  await page.selectOption('#severity', '');
  await page.selectOption('#kind', 'agent');
  await until(page, () => document.querySelector('.incident')?.dataset.id === '9');
  await page.selectOption('#kind', '');
  await page.fill('#filter', 'cable');
  await until(page, () => document.querySelectorAll('.incident').length === 0);
  await page.fill('#filter', 'loses');
  await page.click('.incident-details td button');
  await until(page, () => document.querySelector('#pair')?.dataset.pair === '10.0.0.5 10.0.0.6');
  assertQuiet();
});

test('silences and maintenance are listed and can be ended', async () => {
  await startJudged(12, '#page=incidents');
  await answer('/api/v1/history/incidents', 200, { incidents: [] });
  assert.match(await page.innerText('.quiet-list'), /rack=r9\s.*UTC\s+dave\s+new cables/s);
  const ended = await answer('/api/v1/silences/5', 200, {});
  await page.click('.quiet-list button');
  await until(page, () => !document.querySelector('.quiet-list button').disabled);
  assert.deepEqual(ended, [['DELETE', null]]);
  await page.click('[data-page=hosts]');
  assert.match(await page.innerText('.quiet-list'), /gpu-007\s+it is ended\s+carol\s+new NIC/);
  await page.fill('#search', 'gpu-007');
  await page.press('#search', 'Enter');
  assert.match(await page.innerText('.maintained'), /in maintenance by carol: new NIC/);
  await page.fill('#search', 'gpu-004');
  await page.press('#search', 'Enter');
  await until(page, () => document.querySelector('.page-head')?.innerText.includes('very slow'));
  const begun = await answer('/api/v1/maintenance', 201, {});
  await page.click('[data-act=maintenance]');
  await page.fill('[name=by]', 'erin');
  await page.selectOption('[name=duration]', '');
  await page.click('form.act button');
  await page.waitForSelector('form.act', { state: 'detached' });
  assert.deepEqual(begun, [['POST', { host: 'gpu-004', by: 'erin', comment: '' }]]);
  await shot(page, 'host-accused');
});

test('one slow host of many is one line', async () => {
  await startJudged(40, '#page=hosts');
  await until(page, () => document.querySelectorAll('.ranking tbody tr').length === 3
    && document.querySelector('.ranking tbody tr').innerText.includes('100 %'));
  const lines = await page.$$eval('.ranking tbody tr', (all) => all.map((line) => line.innerText.split('\t').slice(0, 3).map((cell) => cell.trim())));
  assert.deepEqual(lines[0], ['gpu-004', 'very slow', '100 % (39 of 39)']);
  assert.deepEqual(lines.slice(1).map(([host]) => host).sort(), ['gpu-005', 'gpu-006']); // the lossy pair's ends
  assert.match(await page.innerText('#hosts .cut'), /^37 other hosts: no bad pairs among them\.$/);
  assertQuiet();
});

test('counts, marks and names lead to what they name', async () => {
  await startJudged();
  await until(page, () => document.querySelector('.legend [data-state=lossy] b')?.textContent === '1');
  await page.click('.legend [data-state=lossy] button');
  await until(page, () => document.querySelectorAll('.pairs tbody tr').length === 1
    && document.querySelector('.pairs tbody tr').innerText.startsWith('gpu-005\tgpu-006\tlossy'));
  await page.click('.only');
  await until(page, () => document.querySelectorAll('.pairs tbody tr').length === 132);
  await page.click('.bar .summary [data-state="very slow"]');
  await until(page, () => document.querySelectorAll('.pairs tbody tr').length === 22);
  await page.click('[data-page=mesh]');
  await page.waitForSelector('#heatmap[data-pairs="132"]');
  const box = await page.locator('#heatmap').boundingBox();
  const { y } = await page.evaluate(() => document.querySelector('#heatmap').heatmap.middleOf(4 * 12));
  await page.mouse.click(box.x + 30, box.y + y);
  await until(page, () => document.querySelector('.page h2')?.innerText === 'gpu-005');
  assertQuiet();
});

test('a link to a probe that is gone says so', async () => {
  await start(4, '#probe=gone');
  assert.match(await page.innerText('[data-kind=unknown-probe]'), /names the probe gone, .* udp is shown/);
  assertQuiet();
});

test('the page is loud about data that stays out, and about the past', async () => {
  const skewed = () => {
    const real = Date.now;
    Date.now = () => real() + (window.skew ?? 0);
  };
  await start(4, '', { before: skewed });
  assert.equal(await page.locator('.panel[data-stale], .notices .lost').count(), 0);
  await page.evaluate(() => { window.skew = 32_000; }); // the board's windows are 10 s long
  await page.waitForSelector('.panel[data-stale=silent]');
  assert.match(await page.innerText('#link'), /no data · last data 3\d s ago/);
  assert.match(await page.innerText('.notices .lost'), /No window has arrived for three windows/);
  assert.equal(await page.$eval('.stage', (stage) => getComputedStyle(stage).opacity), '0.5');
  await shot(page, 'state-silent');
  await board.say('all');
  await page.waitForSelector('.panel[data-stale]', { state: 'detached' });
  await page.goto(`${page.url().split('#')[0]}#time=2026-11-20T03:12:00Z`);
  await page.waitForSelector('.panel[data-past] #heatmap');
  assert.match(await page.innerText('.as-of'), /As of 2026-11-20 03:12:00 UTC.* not live/);
  await shot(page, 'state-past');
});

test('a controller that hangs is noticed within 5 s', async () => {
  await start(4);
  await page.waitForSelector('#link[data-state=live]');
  const { child } = board.program;
  child.kill('SIGSTOP'); // its connections stay open
  try {
    const since = Date.now();
    await page.waitForSelector('.panel[data-stale=lost]');
    assert.ok(Date.now() - since < 7000, 'with room for a busy machine');
    assert.match(await page.innerText('.notices .lost'), /does not answer: .* at \d\d:\d\d:\d\d UTC/);
    assert.match(await page.innerText('#link'), /(no answer|reconnecting) · last data \d+ s ago/);
  } finally {
    child.kill('SIGCONT');
  }
  await page.waitForSelector('.panel[data-stale]', { state: 'detached' });
});

test('a screen on a wall has no controls', async () => {
  await startJudged(12, '?kiosk=1');
  for (const gone of ['.controls', '.search', '.acts', '.theme']) assert.equal(await page.isVisible(gone), false, gone);
  for (const kept of ['.suspect .sentence', '#heatmap', '.legend', '#link']) assert.equal(await page.isVisible(kept), true, kept);
  await shot(page, 'kiosk');
  assertQuiet();
});

test('a phone shows the suspects first', async () => {
  await startJudged(12, '', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  assert.ok(await page.evaluate((width) => document.documentElement.scrollWidth <= width, 390));
  assert.ok(await page.evaluate(() => document.querySelector('#suspects').getBoundingClientRect().bottom
    <= document.querySelector('.map').getBoundingClientRect().top));
  await shot(page, 'phone-suspects');
  await answer('/api/v1/history/incidents', 200, { incidents: [] });
  for (const [where, shown] of [['page=incidents&incident=18', '.incident-details'], ['page=hosts', '.ranking'], ['page=host&host=10.0.0.4', '.facts']]) {
    await page.goto(`${page.url().split('#')[0]}#${where}`);
    await page.waitForSelector(shown);
    assert.ok(await page.evaluate((width) => document.documentElement.scrollWidth <= width, 390), where); // innerWidth would grow with it
    await shot(page, `phone-${where.split('&')[0].slice(5)}`);
  }
  assertQuiet();
});

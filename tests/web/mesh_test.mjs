// The page over a real mesh: an operator's actions from the first look to the end of an outage, in
// this order.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { launch, open, shot, until } from './browser.mjs';
import { pointAt } from './heatmap.mjs';
import { Mesh } from './mesh.mjs';
import { eventually } from './processes.mjs';
import { anyFailed, step } from './steps.mjs';

const HOSTS = 5;
const PAIRS = HOSTS * (HOSTS - 1);
const SLOW = 2; // the host that becomes slow
const HOSTILE = ['<img src=x onerror=hacked()>', '"\'><script>hacked()</script>', '../../a/b?c#d&amp;', `${'é漢🙂'.repeat(28)}`];

let mesh;
let browser;
let page;
let wellAt; // a time before the fault, ISO 8601

before(async () => {
  mesh = new Mesh({ hosts: HOSTS, agentNames: { 0: '<b>agent</b>"\'/1' },
    more: ([first, second, ...others]) => [{ name: 'to-others', protocol: 'udp', from: [first, second], to: others }] });
  await mesh.start();
  await mesh.waitUntilWell('rdma');
  browser = await launch();
  page = await open(browser, mesh.url);
});

after(async () => {
  await browser?.close();
  await mesh.end(anyFailed());
});

// Returns the rows of the table of pairs, each [source, destination, state].
async function worstPairs() {
  return page.$$eval('.pairs tbody tr', (rows) => rows.map((row) => [...row.cells].slice(0, 3).map((cell) => cell.innerText)));
}

function legendCount(state) {
  return page.$eval(`.legend [data-state="${state}"] b`, (count) => Number(count.textContent));
}

// Checks that the console has no errors, which include resources and scripts that the security
// policy refused.
function assertQuiet() {
  assert.deepEqual(page.complaints, []);
}

step('the mesh appears', async () => {
  await until(page, (pairs) => Number(document.querySelector('#heatmap')?.dataset.pairs) === pairs, PAIRS);
  await page.waitForSelector('#link[data-state=live]');
  await until(page, () => document.querySelectorAll('.legend li:not(.none)').length > 0);
  const marks = await page.$$eval('.legend li', (items) => items.map((item) => Number(item.querySelector('b').textContent)));
  assert.equal(marks.reduce((sum, count) => sum + count), PAIRS);
  assert.match(await page.getAttribute('#heatmap', 'aria-label'), new RegExp(`${HOSTS} sources by ${HOSTS} destinations`));
  assert.equal(await page.getAttribute('[data-probe=rdma]', 'aria-selected'), 'true');
  await shot(page, 'mesh');
  assertQuiet();
});

step('a slow host is a cross', async () => {
  wellAt = await page.evaluate(() => new Date(document.querySelector('#heatmap').heatmap.grid.windowEnd - 500).toISOString());
  await mesh.impairAgent(SLOW, [{ delay: '20ms' }]);
  const address = mesh.addresses[SLOW];
  await until(page, ([slow, hosts]) => {
    const { grid, scene } = document.querySelector('#heatmap').heatmap;
    const { sources } = grid.probe;
    // The strips show its row and its column as slow, and no others.
    const lines = [scene.ranks.rowLines, scene.ranks.columnLines];
    return lines.every((line) => sources.every((name, at) => (line.rank(at) >> 8 === 10) === (name === slow)))
      && document.querySelector('.legend [data-state="very slow"] b').textContent === String(2 * (hosts - 1));
  }, [address, HOSTS]);
  await shot(page, 'mesh-slow-host');
  await page.click('[data-page=worst]');
  await until(page, ([name, hosts]) => {
    const rows = [...document.querySelectorAll('.pairs tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText));
    const slow = rows.filter(([, , state]) => state === 'very slow');
    return slow.length === 2 * (hosts - 1) && slow.every(([from, to]) => from === name || to === name);
  }, [mesh.names[SLOW], HOSTS]);
  assert.equal((await worstPairs()).length, PAIRS);
  await shot(page, 'worst');
  await page.goBack();
  await page.waitForSelector('#heatmap');
  assertQuiet();
});

step('a pair with loss is a dot, and its other direction another', async () => {
  const [one, other] = [mesh.addresses[0], mesh.addresses[HOSTS - 1]];
  const lossy = (pairs) => until(page, ([wanted, all]) => {
    const { grid } = document.querySelector('#heatmap').heatmap;
    const [lost, well] = [wanted.map(([from, to]) => grid.cellOf(from, to)), grid.countOf('ok')];
    return lost.every((cell) => grid.stateName(cell) === 'loss') && well === all - lost.length;
  }, [pairs, PAIRS]);
  await mesh.impairAgent(0, [{ to: other, loss: '100%' }]); // its PINGs to that host, and its answers
  await lossy([[one, other], [other, one]]);
  // Until the pairs are judged the bar counts their states.
  await until(page, () => ['2 loss', '2 lossy', '2 down'].some((text) => document.querySelector('.bar .summary').innerText.includes(text)));
  await shot(page, 'mesh-lossy-pair');
  await mesh.impairAgent(0, []);
  await lossy([]);
  assertQuiet();
});

step('the worst of the last hour shows a pair that is well again', async () => {
  const [one, other] = [mesh.addresses[0], mesh.addresses[HOSTS - 1]];
  await page.selectOption('#what', 'worst 1h');
  await until(page, ([from, to, well]) => {
    const map = document.querySelector('#heatmap')?.heatmap;
    const of = (source, destination) => map.rankOf(map.grid.cellOf(source, destination)) >> 8;
    return map && [of(from, to), of(to, from)].every((each) => each > of(from, well));
  }, [one, other, mesh.addresses[1]]);
  assert.match(await page.innerText('.as-of'), /^The worst that was judged in the 1h up to now.*, not live/);
  await pointAt(page, 0, HOSTS - 1);
  await until(page, () => /: (lossy|down|loss), /.test(document.querySelector('#readout').textContent));
  await shot(page, 'worst-of-an-hour');
  await page.click('.as-of button');
  await until(page, (pairs) => {
    const { grid } = document.querySelector('#heatmap').heatmap;
    return document.querySelector('.as-of') === null && grid.countOf('ok') === pairs;
  }, PAIRS);
  assertQuiet();
});

step('from a cell to its pair and its host', async () => {
  const [source, destination] = [mesh.addresses[0], mesh.addresses[SLOW]];
  await pointAt(page, 0, SLOW);
  await page.waitForSelector(`#pair[data-pair="${source} ${destination}"]`);
  await until(page, () => document.querySelectorAll('#pair .split').length === 2);
  await page.keyboard.press('Escape');
  await page.focus('#heatmap');
  await page.keyboard.press('Enter');
  await page.waitForSelector(`#pair-page[data-pair="${source} ${destination}"]`);
  await until(page, () => document.querySelectorAll('.uplot canvas').length === 6 // three parts, both ways
    && document.querySelector('#pair-page .times') !== null);
  assert.match(await page.innerText('#ends'), /soft[^]*kernel clock/);
  await shot(page, 'pair');
  assert.match(await page.getAttribute('#burst button', 'title'), /pings this pair at once/);
  await page.selectOption('#burst select', '50');
  await page.click('#burst button');
  await page.waitForSelector('#burst [role=status][data-state=running]');
  await page.waitForSelector('#burst [role=status][data-state=done]');
  assert.match(await page.innerText('#burst [role=status]'), /^50 of 50 received; network p50 2\d.\d ms/);
  assert.equal(await page.$$eval('#burst tr[data-result=received]', (rows) => rows.length), 50);
  await shot(page, 'burst');
  await page.click('#pair-page .page-head button:text-is("source")');
  await until(page, (name) => document.querySelector('.page h2')?.innerText === name, mesh.names[0]);
  await until(page, () => document.querySelector('.facts')?.innerText.includes('<b>agent</b>"\'/1, alive'));
  await until(page, () => /plan\s+[0-9a-f]{16}, in force/.test(document.querySelector('.facts').innerText)
    && /measures rdma with\s+kernel clock, soft/.test(document.querySelector('.facts').innerText));
  assert.equal(await page.$$eval('.pairs tbody tr', (rows) => rows.length), 2 * (HOSTS - 1));
  await shot(page, 'host');
  await page.goBack();
  await page.waitForSelector('#pair-page');
  await page.goBack();
  await page.waitForSelector('#heatmap');
  assertQuiet();
});

step('the page asks only for the pairs that a one-way probe has', async () => {
  const [source, destination] = [mesh.addresses[0], mesh.addresses[HOSTS - 1]];
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  const at = (fields) => page.goto(`${mesh.url}/#${new URLSearchParams({ probe: 'to-others', ...fields })}`);
  await at({});
  await page.waitForSelector(`#heatmap[data-rows="2"][data-columns="${HOSTS - 2}"][data-pairs="${2 * (HOSTS - 2)}"]`);
  await pointAt(page, 0, HOSTS - 3);
  await until(page, (pair) => document.querySelector(`#pair[data-pair="${pair}"] .way`), `${source} ${destination}`);
  assert.equal(await page.locator('#pair .way').count(), 1);
  await shot(page, 'one-way');
  await at({ page: 'worst' });
  await until(page, (pairs) => document.querySelectorAll('.pairs tbody tr').length === pairs, 2 * (HOSTS - 2));
  for (const host of [source, destination]) {
    await at({ page: 'host', host });
    await until(page, (address) => document.querySelector('.page-head')?.innerText.includes(address)
      && document.querySelector('.facts').innerText.includes('alive'), host);
  }
  await at({ page: 'pair', from: source, to: destination });
  await until(page, () => Number(document.querySelector('#pair-page [data-part=network]')?.dataset.points) > 1);
  assert.equal(await page.locator('#pair-page .way').count(), 1);
  await shot(page, 'one-way-pair');
  await at({ page: 'pair', from: destination, to: source });
  await page.waitForSelector('#no-pair');
  await page.click('#no-pair button');
  await page.waitForSelector(`#pair-page[data-pair="${source} ${destination}"]`);
  assert.deepEqual(asked.filter((url) => url.includes(`/${destination}/${source}`)), []);
  await at({ probe: 'rdma' });
  await until(page, (pairs) => document.querySelector('#heatmap')?.dataset.pairs === String(pairs), PAIRS);
  assertQuiet();
});

step('the slider goes back to before the fault', async () => {
  await page.waitForSelector('#time');
  await page.$eval('#time', (slider, at) => {
    slider.value = String(Date.parse(at));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  }, wellAt);
  await until(page, (pairs) => {
    const { grid } = document.querySelector('#heatmap').heatmap;
    return document.querySelector('.legend [data-state="very slow"] b').textContent === '0' && grid.countOf('ok') === pairs;
  }, PAIRS);
  assert.match(page.url(), /time=2/);
  await shot(page, 'past');
  // An arrow key steps by one window, whatever the slider's length is; and a time can be typed.
  const shown = (wanted) => until(page, (at) => {
    const time = Date.parse(new URLSearchParams(location.hash.slice(1)).get('time'));
    return at === null || time === at ? time : 0;
  }, wanted ?? null);
  const before = await shown();
  await page.press('#time', 'ArrowLeft');
  await shown(before - 1000);
  await page.fill('#when', wellAt.slice(11, 19));
  await page.waitForTimeout(1200); // the page's clock has ticked meanwhile
  assert.equal(await page.inputValue('#when'), wellAt.slice(11, 19));
  await page.press('#when', 'Tab');
  await shown(Date.parse(`${wellAt.slice(0, 19)}Z`));
  // The other pages say that they show the past, and lead back.
  await page.click('[data-page=worst]');
  await until(page, (said) => document.querySelector('.as-of')?.innerText.includes(said), `As of ${wellAt.slice(0, 19).replace('T', ' ')} UTC`);
  await page.goBack();
  await page.waitForSelector('#live');
  await page.click('#live');
  await until(page, () => document.querySelector('.legend [data-state="very slow"] b').textContent !== '0');
  assert.doesNotMatch(page.url(), /time=/);
  assertQuiet();
});

step('changes of state are on the timeline, and in a list that leads to their time', async () => {
  // The slow host's agent was restarted, so its pairs were stale or unanswered for a while.
  await page.waitForSelector('.timeline .mark:not([data-state=ok])', { state: 'attached' });
  await page.click('#events summary');
  const row = '#events tbody tr:has(td:nth-child(3) [data-state=stale])';
  await page.waitForSelector(row);
  await shot(page, 'events');
  const at = await page.innerText(`${row} button`);
  await page.click(`${row} button`);
  await until(page, () => location.hash.includes('time='));
  const time = new URLSearchParams(new URL(page.url()).hash.slice(1)).get('time');
  assert.equal(time.slice(0, 19).replace('T', ' '), at);
  await until(page, (text) => document.querySelector('#when')?.value === text
    && document.querySelector('.timeline [role=status]').innerText === '', at);
  await until(page, () => document.querySelector('#pair .held') !== null); // the change was of one pair
  await page.click('#live');
  await page.focus('#heatmap');
  await page.keyboard.press('Escape');
  await until(page, () => !location.hash.includes('from='));
  assertQuiet();
});

step('dark and light', async () => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.click('.theme'); // always dark
  assert.equal(await ground(), dark);
  await page.click('.theme');
  assert.notEqual(await ground(), dark);
  await page.reload();
  await until(page, (pairs) => Number(document.querySelector('#heatmap')?.dataset.pairs) === pairs, PAIRS);
  assert.notEqual(await ground(), dark, 'the choice is remembered');
  await shot(page, 'mesh-light');
  await page.click('.theme'); // like the system, which is dark
  assert.equal(await ground(), dark);
  assertQuiet();
});

step('a phone', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await until(page, () => document.documentElement.scrollWidth <= window.innerWidth);
  await shot(page, 'phone');
  await page.setViewportSize({ width: 1280, height: 800 });
});

step('the page says that a pinglist was rejected', async () => {
  for (const [text, reason] of [['version: 1\nprobes: [{ name: a, protocol: "<b>udb</b>", mesh: [] }]\n', '<b>udb</b>'],
    [mesh.pinglistText().replace('"r1"', `"${'x'.repeat(5000)}"`), 'is longer than'],
    [mesh.pinglistText().replace('"host-1"', `"${'x'.repeat(4096)}"`), 'pinglist.yaml:']]) {
    mesh.savePinglist(text);
    await until(page, (part) => {
      const notice = document.querySelector('[data-kind=pinglist]')?.innerText ?? '';
      return notice.includes('the last good one is in force') && notice.includes(part);
    }, reason);
  }
  await shot(page, 'rejected-pinglist');
  mesh.savePinglist();
  await until(page, () => document.querySelector('[data-kind=pinglist]') === null);
  assertQuiet();
});

step('names are text', async () => {
  mesh.names = mesh.names.map((name, at) => HOSTILE[at] ?? name);
  await page.evaluate(() => { window.hacked = () => { window.wasHacked = true; }; });
  mesh.savePinglist();
  for (let at = 0; at < HOSTILE.length; ++at) {
    await until(page, ([place, name]) => document.querySelector('#heatmap')?.heatmap?.scene.labels.rows[place] === name
      || name.length > 40, [at, HOSTILE[at]]);
    await pointAt(page, at, HOSTS - 1);
    await until(page, (name) => document.querySelector('#pair h2')?.textContent.includes(name)
      && document.querySelector('#readout').textContent.includes(name), HOSTILE[at]);
    await page.fill('#search', HOSTILE[at]);
    await page.keyboard.press('Enter');
    await until(page, (name) => document.querySelector('.page h2')?.textContent === name, HOSTILE[at]);
    await page.goBack();
  }
  await page.click('[data-page=worst]');
  await until(page, (names) => names.every((name) => document.querySelector('.pairs tbody').textContent.includes(name)), HOSTILE);
  await shot(page, 'hostile-names');
  await page.goBack();
  assert.equal(await page.evaluate(() => document.images.length + document.querySelectorAll('body script').length), 0);
  assert.equal(await page.evaluate(() => window.wasHacked), undefined);
  assertQuiet();
});

step('a controller that was killed comes back', async () => {
  await page.evaluate(() => { window.sameDocument = true; });
  await mesh.controller.kill('SIGKILL');
  await page.waitForSelector('#link[data-state=reconnecting]');
  await page.waitForSelector('.notices .lost');
  await shot(page, 'disconnected');
  const killed = Date.now();
  await mesh.startController();
  await page.waitForSelector('#link[data-state=live]');
  await until(page, ([at, pairs]) => {
    const { grid } = document.querySelector('#heatmap').heatmap;
    return grid.windowEnd > at && grid.countOf('ok') === pairs;
  }, [killed, PAIRS]);
  assert.equal(await page.evaluate(() => window.sameDocument), true);
  // The slow host is judged anew, which takes three windows.
  await eventually(async () => await legendCount('very slow') > 0, 20, 'the slow host is very slow again');
});

// Signing in: what the page shows without a token, with a token of either role, and after the token
// is removed.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { launch, open, shot, until } from './browser.mjs';
import { Mesh } from './mesh.mjs';
import { eventually } from './processes.mjs';
import { anyFailed, step } from './steps.mjs';

const TOKENS = { read: 'r'.repeat(40), operate: 'o'.repeat(40) };
const PAIRS = 2;

let mesh;
let browser;
let page;

before(async () => {
  mesh = new Mesh({ hosts: 2, protocols: ['tcp'], tokens: { ...TOKENS } });
  await mesh.start();
  await mesh.waitUntilWell('tcp');
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await mesh.end(anyFailed());
});

async function signIn(token) {
  await page.fill('#sign-in input', token);
  await page.click('#sign-in button');
}

async function showsTheMesh() {
  await until(page, (pairs) => Number(document.querySelector('#heatmap')?.dataset.pairs) === pairs, PAIRS);
  await page.waitForSelector('#link[data-state=live]');
}

async function openPair() {
  await page.click('[data-page=worst]');
  await page.click('.pairs tbody tr:first-child button');
  await page.waitForSelector('#burst');
}

step('without a token there is a form, and nothing of the mesh', async () => {
  page = await open(browser, mesh.url);
  await page.waitForSelector('#sign-in');
  assert.equal(await page.$('#heatmap'), null);
  const border = await page.$eval('#sign-in button', (button) => getComputedStyle(button).borderTopWidth);
  assert.equal(border, '1px', 'the button looks like one');
  assert.equal(await page.evaluate(() => fetch('api/v1/status').then(({ status }) => status)), 401);
  await shot(page, 'sign-in');
});

step('a wrong token is refused, with the reason', async () => {
  await signIn('x'.repeat(40));
  await until(page, () => document.querySelector('#sign-in .fault').innerText.includes('not known'));
});

step('a token with the role read shows everything and starts no burst', async () => {
  await signIn(TOKENS.read);
  await showsTheMesh();
  assert.equal(await page.getAttribute('#who', 'data-role'), 'read');
  assert.equal(await page.evaluate(() => document.cookie), '', 'no script sees the session');
  assert.ok(!(await page.content()).includes(TOKENS.read));
  await openPair();
  assert.equal(await page.isDisabled('#burst button'), true);
  assert.match(await page.innerText('#burst .barred'), /operate/);
  await shot(page, 'pair-read-only');
});

step('a session survives a reload of the page and ends by signing out', async () => {
  await page.reload();
  await page.waitForSelector('#who');
  await page.click('#who button');
  await page.waitForSelector('#sign-in');
  assert.equal(await page.evaluate(() => fetch('api/v1/status').then(({ status }) => status)), 401);
});

step('a token with the role operate starts a burst', async () => {
  await signIn(TOKENS.operate);
  await page.waitForSelector('#burst'); // the link led to the pair's page
  assert.equal(await page.getAttribute('#who', 'data-role'), 'operate');
  await page.click('#burst button');
  await page.waitForSelector('#burst [data-state=done]');
});

step('removing a token ends its sessions', async () => {
  mesh.tokens = { read: TOKENS.read };
  mesh.saveTokens();
  mesh.controller.child.kill('SIGHUP');
  await page.waitForSelector('#sign-in');
  await eventually(() => mesh.read('controller.log').includes('read again'), 5, 'the log says so');
});

// A headless chromium, driven by playwright-core.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from './packages.mjs';

const { default: { chromium } } = await npm('playwright-core');
const { CHROMIUM = '/usr/bin/chromium', PINGLOOM_VIEWS = '/tmp' } = process.env;
const PATIENCE = 30_000; // milliseconds; a busy machine is slow, a condition that holds ends the wait

export function launch() {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-quic',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
}

// Opens a page in a profile of its own; `before` runs ahead of the page's scripts. The page's
// `complaints` are the errors and warnings of its console, refused resources included.
export async function open(browser, url, { before, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark', ...options });
  if (before) await context.addInitScript(before);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.complaints = [];
  page.on('console', (message) => {
    const { url } = message.location();
    if (['error', 'warning'].includes(message.type())) page.complaints.push(`${message.text()} (${url})`);
  });
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  await page.goto(url);
  return page;
}

// Keeps a picture under the build folder for people to look at.
export async function shot(page, name) {
  mkdirSync(PINGLOOM_VIEWS, { recursive: true });
  await page.screenshot({ path: join(PINGLOOM_VIEWS, `${name}.png`) });
}

// Waits until `reached`, which runs in the page with an argument, returns a true value, and returns
// that value.
export async function until(page, reached, argument) {
  return (await page.waitForFunction(reached, argument, { polling: 50 })).jsonValue();
}

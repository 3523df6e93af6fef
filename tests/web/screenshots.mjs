// Makes the pictures of the docs from a running demo: scripts/demo.sh --hosts 12 --fault slow=3 --dta, then
//
//     node tests/web/screenshots.mjs http://127.0.0.1:8080 COLLECTOR_URL

import { fileURLToPath } from 'node:url';
import { launch, open, until } from './browser.mjs';

const docs = (name) => fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));
const [url, collector] = process.argv.slice(2).map((text) => text.replace(/\/$/, ''));
if (!url || !collector) {
  console.error('usage: node tests/web/screenshots.mjs URL COLLECTOR_URL');
  process.exit(2);
}

// Waits for the next window, so that all data on the page has arrived.
const nextWindow = (page) => page.evaluate(() => new Promise((resolve) => {
  const last = document.querySelector('.window')?.textContent;
  const timer = setInterval(() => {
    if (document.querySelector('.window')?.textContent === last) return;
    clearInterval(timer);
    requestAnimationFrame(() => setTimeout(resolve, 300));
  }, 50);
}));

const browser = await launch();
const page = await open(browser, url, { viewport: { width: 1280, height: 760 } });
await until(page, () => document.querySelectorAll('.legend li[data-state="very slow"]:not(.none)').length === 1);
await nextWindow(page);
await page.screenshot({ path: docs('heatmap.png') });
const [source, destination] = await page.evaluate(() => {
  const { probe } = document.querySelector('#heatmap').heatmap.grid;
  return [probe.sources[0], probe.destinations[2]];
});
await page.goto(`${url}/#page=pair&from=${source}&to=${destination}&span=5m`);
await until(page, () => document.querySelectorAll('.uplot canvas').length >= 2
  && document.querySelectorAll('#pair-page .times').length === 2);
await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 3000); })); // two windows of the demo
await page.screenshot({ path: docs('pair.png') });
await page.goto(`${collector}/#${new URLSearchParams({ key: 'text:queue-7', counts: 'counts', tail: 'events' })}`);
await until(page, () => document.querySelectorAll('#tail tbody tr').length >= 12 && document.querySelector('#get code')
  && [...document.querySelectorAll('#watch tbody td:last-child')].filter(({ innerText }) => /\d/.test(innerText)).length === 8);
await page.screenshot({ path: docs('telemetry.png') });
await browser.close();

// How quick the page is with a large mesh, in headless chromium without a GPU:
//
//     PINGLOOM_BIN=build/release/bin PINGLOOM_WEB=build/release/web node bench/dashboard/page.mjs [HOSTS] [URL]
//
// Without a URL the real dashboard serves a board of synthetic rows.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Board } from '../../tests/web/board.mjs';
import { launch, open, until } from '../../tests/web/browser.mjs';

const hosts = Number(process.argv[2] ?? 2000);
const RUNS = 5;
const CHANGES = 20;

const show = (name, values, unit) => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part) => sorted[Math.round(part * (sorted.length - 1))].toFixed(1);
  console.log(`${name}: median ${at(0.5)} ${unit} (${at(0)} .. ${at(1)}, ${values.length} runs)`);
};

// In the page, before anything else: when messages came and when the map was painted.
function watchMessages() {
  const seen = { plan: 0, first: 0, last: 0, sync: 0, messages: 0 };
  window.seen = seen;
  const { prototype } = WebSocket;
  const setter = Object.getOwnPropertyDescriptor(prototype, 'onmessage');
  Object.defineProperty(prototype, 'onmessage', { ...setter, set(handler) {
    setter.set.call(this, (event) => {
      const type = typeof event.data === 'string' ? 0 : new Uint8Array(event.data, 1, 1)[0];
      if (type === 0) seen.plan = performance.now();
      if (type === 1) seen.last = performance.now();
      if (type === 1 && seen.messages++ === 0) seen.first = seen.last;
      if (type === 2) seen.sync = performance.now();
      handler(event);
    });
  } });
}

// The pixels are there with the frame after the painting.
const paintedPairs = (pairs) => new Promise((resolve) => {
  const look = () => {
    if (!(Number(document.querySelector('#heatmap')?.dataset.pairs) >= pairs)) return requestAnimationFrame(look);
    return requestAnimationFrame(() => resolve({ ...window.seen, painted: performance.now() }));
  };
  look();
});

async function firstPaint(browser, url, pairs) {
  const page = await open(browser, `${url}/#probe=udp&metric=network_p50`, { before: watchMessages });
  const at = await page.evaluate(paintedPairs, pairs);
  return { page, at };
}

// From the last rows of a whole window to their pixels: `paints` has when each painting of all that had come began and when
// it was on the screen. The sync that ends a window has nothing to paint.
async function liveUpdate(page, board) {
  await page.evaluate(() => {
    const { heatmap } = document.querySelector('#heatmap');
    const { paint } = Object.getPrototypeOf(heatmap);
    window.paints = [];
    heatmap.paint = () => {
      const began = performance.now();
      paint.call(heatmap);
      if (heatmap.grid.changed.size === 0) requestAnimationFrame(() => window.paints.push({ began, seen: performance.now() }));
    };
    Object.assign(window.seen, { messages: 0, sync: 0 });
  });
  await board.say('all');
  return until(page, () => {
    const { seen, paints } = window;
    if (seen.messages === 0 || seen.sync < seen.last) return false;
    const painting = paints.find(({ began }) => began >= seen.last);
    return painting && { wire: seen.last - seen.first, pixels: painting.seen - seen.last };
  });
}

// Both processes have the same clock.
const wallClock = () => performance.timeOrigin + performance.now();

// From the moment at which the board is told of one pair's other state to the frame that shows it.
async function stateChange(page, board, source) {
  const destination = (source + 1) % hosts;
  await page.evaluate((cell) => {
    const { heatmap } = document.querySelector('#heatmap');
    const { paint } = Object.getPrototypeOf(heatmap);
    window.shownAt = new Promise((resolve) => {
      heatmap.paint = () => {
        paint.call(heatmap);
        if (heatmap.grid.stateName(cell) !== 'loss' || heatmap.grid.changed.size > 0) return;
        requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
      };
    });
  }, source * hosts + destination);
  await pause(1000 * Math.random()); // whatever the page is about to do
  const known = wallClock();
  await board.say(`pair 0 ${source} ${destination} loss`);
  return await page.evaluate(() => window.shownAt) - known;
}

// From a click to another metric of all pairs: as many bytes as a whole window, as fast as they can be sent.
const switchMetric = (page, metric) => page.evaluate((id) => new Promise((resolve) => {
  const { heatmap } = document.querySelector('#heatmap');
  const begin = performance.now();
  const [{ seen }, pairs] = [window, heatmap.scene.ranks.pairs()];
  seen.sync = 0;
  document.querySelector(`[data-metric=${id}]`).click();
  const look = () => {
    if (seen.sync === 0 || heatmap.grid.changed.size > 0 || heatmap.scene.ranks.pairs() < pairs) return requestAnimationFrame(look);
    return requestAnimationFrame(() => resolve(performance.now() - begin));
  };
  look();
}), metric);

const frames = (page, move) => page.evaluate((how) => new Promise((resolve) => {
  const map = document.querySelector('#heatmap').heatmap;
  const step = { pan: (at) => map.view.moveBy(at % 80 < 40 ? 7 : -7, at % 160 < 80 ? 5 : -5),
    zoom: (at) => map.view.zoomAt(at % 60 < 30 ? 1.12 : 1 / 1.12, 500, 400) }[how];
  if (how === 'pan') map.view.look(map.view.zoomAt(3, 500, 400));
  const [begin, costs] = [performance.now(), []];
  let at = 0;
  const frame = () => {
    const before = performance.now();
    map.view.look(step(at));
    map.paint();
    costs.push(performance.now() - before);
    at += 1;
    if (performance.now() - begin < 3000) return requestAnimationFrame(frame);
    costs.sort((a, b) => a - b);
    return resolve({ perSecond: (1000 * at) / (performance.now() - begin), median: costs[costs.length >> 1], most: costs[costs.length - 1] });
  };
  requestAnimationFrame(frame);
}), move);

// The machine's own limit: the same pixels, painted by nothing but the canvas.
const bareCanvas = (page) => page.evaluate(() => {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [1000, 800];
  const context = canvas.getContext('2d');
  const image = new ImageData(1000, 800);
  const costs = Array.from({ length: 20 }, () => {
    const before = performance.now();
    new Uint32Array(image.data.buffer).fill(Math.random() * 2 ** 32);
    context.putImageData(image, 0, 0);
    context.getImageData(0, 0, 1, 1);
    return performance.now() - before;
  });
  return costs.sort((a, b) => a - b)[10];
});

// Proportional set size of the renderer with the most memory, bytes.
function rendererMemory() {
  const sizes = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer')) return [];
      return [1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1])];
    } catch {
      return []; // it has ended
    }
  });
  return Math.max(...sizes);
}

const given = process.argv[3];
const board = given ? null : await Board.start(hosts);
const url = given ?? board.url;
const pairs = hosts * (hosts - 1);
const browser = await launch();
try {
  const firsts = [];
  for (let run = 0; run < RUNS; ++run) {
    const { page, at } = await firstPaint(browser, url, pairs);
    firsts.push(at);
    await page.context().close();
  }
  show('navigation to plan', firsts.map(({ plan }) => plan), 'ms');
  show('navigation to the first row', firsts.map(({ first }) => first), 'ms');
  show('navigation to the last row', firsts.map(({ sync }) => sync), 'ms');
  show(`navigation to ${pairs} pairs painted`, firsts.map(({ painted }) => painted), 'ms');

  const { page } = await firstPaint(browser, url, pairs);
  if (board) {
    const updates = [];
    for (let run = 0; run < RUNS; ++run) updates.push(await liveUpdate(page, board));
    show('a whole window, first to last rows', updates.map(({ wire }) => wire), 'ms');
    show('a whole window, last rows to pixels', updates.map(({ pixels }) => pixels), 'ms');
    const changes = [];
    for (let run = 0; run < CHANGES; ++run) changes.push(await stateChange(page, board, Math.floor((run * hosts) / CHANGES)));
    show('one pair in another state, known to pixels', changes, 'ms');
  }
  const switches = [];
  for (const metric of ['rtt_p50', 'network_p99', 'responder_p50', 'network_p50']) switches.push(await switchMetric(page, metric));
  show('another metric of all pairs, click to pixels', switches, 'ms');
  for (const move of ['pan', 'zoom']) {
    const { perSecond, median, most } = await frames(page, move);
    console.log(`${move}: ${perSecond.toFixed(0)} frames/s, painting ${median.toFixed(1)} ms, at most ${most.toFixed(1)} ms`);
  }
  console.log(`bare canvas, 1,000 x 800 pixels: ${(await bareCanvas(page)).toFixed(1)} ms`);
  const { usedJSHeapSize } = await page.evaluate(() => ({ usedJSHeapSize: performance.memory.usedJSHeapSize }));
  console.log(`memory: heap ${(usedJSHeapSize / 1e6).toFixed(0)} MB, renderer ${(rendererMemory() / 1e6).toFixed(0)} MB`);
} finally {
  await browser.close();
  await board?.end();
}

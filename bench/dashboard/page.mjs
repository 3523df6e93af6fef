// How quick the page is with a large mesh, in headless chromium without a GPU. --help names the options.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Board } from '../../tests/web/board.mjs';
import { launch, open, until } from '../../tests/web/browser.mjs';
import { bounded, options, printFigure } from '../shared/bench.mjs';

const { hosts, runs, url: given } = options({ hosts: 2000, runs: 5, url: '' },
  `Usage: PINGLOOM_BIN=build/release/bin PINGLOOM_WEB=build/release/web node bench/dashboard/page.mjs [OPTIONS]
  --hosts N   how many hosts the mesh has (default 2000)
  --runs N    how many runs to make (default 5)
  --url URL   measure the page of a controller that runs already, instead of a board of synthetic rows`);
const CHANGES = 20;
const METRICS = ['rtt_p50', 'network_p99', 'responder_p50', 'network_p50'];

// Runs in the page before anything else, and notes when messages came and when the map was painted.
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
  const at = await bounded('all pairs painted', page.evaluate(paintedPairs, pairs));
  return { page, at };
}

// The time from the last rows of a whole window to their pixels. `paints` holds when each painting of all that had come
// began, and when it was on the screen. The sync that ends a window has nothing to paint.
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
  await bounded('a whole window', board.say('all'));
  return until(page, () => {
    const { seen, paints } = window;
    if (seen.messages === 0 || seen.sync < seen.last) return false;
    const painting = paints.find(({ began }) => began >= seen.last);
    return painting && { wire: seen.last - seen.first, pixels: painting.seen - seen.last };
  });
}

// Both processes have the same clock.
const wallClock = () => performance.timeOrigin + performance.now();

// The time from when the board is told of one pair's other state to the frame that shows it.
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
  await bounded('one pair', board.say(`pair 0 ${source} ${destination} loss`));
  return await bounded('the pixels of one pair', page.evaluate(() => window.shownAt)) - known;
}

// The time from a click to another metric of all pairs: as many bytes as a whole window, sent as fast as possible.
const switchMetric = (page, metric) => bounded('another metric', page.evaluate((id) => new Promise((resolve) => {
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
}), metric));

const frames = (page, move) => bounded('frames', page.evaluate((how) => new Promise((resolve) => {
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
}), move));

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

async function measure(browser, url, board) {
  const pairs = hosts * (hosts - 1);
  const firsts = [];
  for (let run = 0; run < runs; ++run) {
    const { page, at } = await firstPaint(browser, url, pairs);
    firsts.push(at);
    await page.context().close();
  }
  printFigure('navigation to the first row', 'ms', firsts.map(({ first }) => first));
  printFigure('navigation to the last row', 'ms', firsts.map(({ sync }) => sync));
  printFigure('navigation to all pairs painted', 'ms', firsts.map(({ painted }) => painted));

  const { page } = await firstPaint(browser, url, pairs);
  if (board) {
    const updates = [];
    for (let run = 0; run < runs; ++run) updates.push(await liveUpdate(page, board));
    printFigure('a whole window, first rows to last rows', 'ms', updates.map(({ wire }) => wire));
    printFigure('a whole window, last rows to their pixels', 'ms', updates.map(({ pixels }) => pixels));
    const changes = [];
    for (let run = 0; run < CHANGES; ++run) changes.push(await stateChange(page, board, Math.floor((run * hosts) / CHANGES)));
    printFigure('one pair in another state, known to its pixels', 'ms', changes);
  }
  const switches = [];
  for (let run = 0; run < runs; ++run) switches.push(await switchMetric(page, METRICS[run % METRICS.length]));
  printFigure('another metric of all pairs, click to pixels', 'ms', switches);
  for (const move of ['pan', 'zoom']) {
    const { perSecond, median } = await frames(page, move);
    printFigure(move, 'frames/s', [perSecond]);
    printFigure(`a painting of ${move}`, 'ms', [median]);
  }
  printFigure('limit: bare canvas of 1,000 x 800 pixels', 'ms', [await bareCanvas(page)]);
  const { usedJSHeapSize } = await page.evaluate(() => ({ usedJSHeapSize: performance.memory.usedJSHeapSize }));
  printFigure('memory of the heap', 'MB', [usedJSHeapSize / 1e6]);
  printFigure('memory of the renderer', 'MB', [rendererMemory() / 1e6]);
}

const board = given ? null : await bounded('the board', Board.start(hosts));
const browser = await launch();
try {
  await measure(browser, given || board.url, board);
} finally {
  await browser.close();
  await board?.end();
}

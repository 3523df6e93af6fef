// The states with their marks and counts, and the colour scale.

import { byId, element } from './dom.js';
import { humanCount } from './format.js';
import { drawMark } from './marks.js';
import { css, inkOn } from './palette.js';
import { STATES } from './states.js';

const SWATCH = 18;

function swatch(state, palette) {
  const ratio = window.devicePixelRatio || 1;
  const canvas = element('canvas', { width: SWATCH * ratio, height: SWATCH * ratio,
    class: 'swatch', 'aria-hidden': 'true' });
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  const colour = state === 'ok' ? palette.data[110] : state === 'loss' ? palette.lossColour(0.1)
    : palette.states[state];
  context.fillStyle = css(colour);
  context.fillRect(0, 0, SWATCH, SWATCH);
  drawMark(context, state, 0, 0, SWATCH, SWATCH, palette.theme, inkOn(colour));
  return canvas;
}

export class Legend {
  constructor() {
    this.counts = new Map();
  }

  // Anew for a theme.
  build(palette) {
    const entries = STATES.map(({ name, text }) => {
      const count = element('b', {}, '0');
      this.counts.set(name, count);
      return element('li', { title: text, 'data-state': name }, swatch(name, palette),
        element('span', {}, name), count);
    });
    byId('legend').replaceChildren(element('h2', {}, 'Pairs'), element('ul', {}, ...entries));
  }

  update(grid) {
    for (const [name, count] of this.counts) {
      const pairs = grid ? grid.countOf(name) : 0;
      count.textContent = humanCount(pairs);
      count.parentElement.classList.toggle('none', pairs === 0);
    }
  }
}

// The bar above the map: from quick to slow, or from little loss to all.
export function buildScale(heatmap) {
  const { scale, palette } = heatmap;
  const canvas = element('canvas', { width: 256, height: 1, 'aria-hidden': 'true' });
  const context = canvas.getContext('2d');
  for (let i = 0; i < 256; ++i) {
    context.fillStyle = css(scale.isLoss ? palette.loss[i] : palette.data[i]);
    context.fillRect(i, 0, 1, 1);
  }
  const text = (nanos) => {
    const { name, size } = heatmap.unit();
    return `${Number((nanos / size).toPrecision(3))} ${name}`;
  };
  const [low, high] = scale.isLoss ? ['0.1 %', '100 %'] : [text(scale.low), text(scale.high)];
  byId('scale').replaceChildren(element('span', {}, low), canvas, element('span', {}, high));
}

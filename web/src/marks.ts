// Draws the mark of each state: shapes that differ without their colours. Cells that are too small
// for a shape have only a colour.

import type { Theme } from './palette';

type Context = CanvasRenderingContext2D;

const SMALLEST = 7; // pixels

const strokes: Record<string, (path: Context, x: number, y: number, size: number) => void> = {
  loss(path, x, y, size) { // a cross
    path.moveTo(x - size, y - size);
    path.lineTo(x + size, y + size);
    path.moveTo(x + size, y - size);
    path.lineTo(x - size, y + size);
  },
  down(path, x, y, size) { // a cross in a frame
    strokes.loss(path, x, y, size * 0.7);
    path.rect(x - size * 1.15, y - size * 1.15, size * 2.3, size * 2.3);
  },
  lossy(path, x, y, size) {
    strokes.loss(path, x, y, size);
  },
  unjudged(path, x, y, size) { // a ring
    path.moveTo(x + size * 0.55, y);
    path.arc(x, y, size * 0.55, 0, 2 * Math.PI);
  },
  unreachable(path, x, y, size) { // a line that ends at a wall
    path.moveTo(x - size * 1.1, y);
    path.lineTo(x + size * 0.3, y);
    path.moveTo(x + size * 0.7, y - size);
    path.lineTo(x + size * 0.7, y + size);
  },
  refused(path, x, y, size) { // a barred circle
    path.moveTo(x + size, y);
    path.arc(x, y, size, 0, 2 * Math.PI);
    path.moveTo(x - size * 0.7, y + size * 0.7);
    path.lineTo(x + size * 0.7, y - size * 0.7);
  },
  'agent-down'(path, x, y, size) { // an arrow down
    path.moveTo(x, y - size);
    path.lineTo(x, y + size);
    path.moveTo(x - size * 0.7, y + size * 0.25);
    path.lineTo(x, y + size);
    path.lineTo(x + size * 0.7, y + size * 0.25);
  },
  slow(path, x, y, size) { // one bar
    path.moveTo(x, y - size * 0.8);
    path.lineTo(x, y + size * 0.8);
  },
  'not measured'(path, x, y, size) { // a dash, as in the tables
    path.moveTo(x - size * 0.6, y);
    path.lineTo(x + size * 0.6, y);
  },
  misfit(path, x, y, size) { // a line that is longer than the gap between two walls
    path.moveTo(x - size * 1.2, y);
    path.lineTo(x + size * 1.2, y);
    for (const at of [-0.6, 0.6]) {
      path.moveTo(x + size * at, y - size * 0.8);
      path.lineTo(x + size * at, y + size * 0.8);
    }
  },
  'very slow'(path, x, y, size) { // three bars
    for (const at of [-0.8, 0, 0.8]) {
      path.moveTo(x + size * at, y - size);
      path.lineTo(x + size * at, y + size);
    }
  },
  anomalous(path, x, y, size) { // a wave
    path.moveTo(x - size * 1.2, y + size * 0.2);
    path.bezierCurveTo(x - size * 0.4, y - size * 1.2, x + size * 0.4, y + size * 1.2,
      x + size * 1.2, y - size * 0.2);
  },
};

// Draws diagonals, for stale pairs.
function hatch(context: Context, x: number, y: number, width: number, height: number) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.beginPath();
  for (let at = -height; at < width; at += 5) {
    context.moveTo(x + at, y + height);
    context.lineTo(x + at + height, y);
  }
  context.lineWidth = 1;
  context.stroke();
  context.restore();
}

export function drawMark(context: Context, state: string, x: number, y: number, width: number,
  height: number, theme: Theme, ink: string) {
  if (Math.min(width, height) < SMALLEST) return;
  context.strokeStyle = ink;
  context.lineCap = 'round';
  if (state === 'stale') {
    context.strokeStyle = theme.quietMark;
    hatch(context, x, y, width, height);
    return;
  }
  if (state === 'pending') {
    context.fillStyle = theme.quietMark;
    context.beginPath();
    context.arc(x + width / 2, y + height / 2, Math.min(1.5, width / 8), 0, 2 * Math.PI);
    context.fill();
    return;
  }
  const stroke = strokes[state];
  if (!stroke) return;
  const size = Math.min(6, Math.min(width, height) * 0.27);
  context.lineWidth = Math.max(1.2, size / 3);
  context.beginPath();
  stroke(context, x + width / 2, y + height / 2, size);
  context.stroke();
}

// Handles pointers on the heatmap: pointing, holding, opening, dragging, the wheel, and two
// fingers.

import { labelledAt } from './axes';
import type { Heatmap } from './heatmap';
import { choose, hold, openPair, pointed } from './store';
import type { Sight } from './viewport';

const STILL = 4; // pixels by which a click may move

interface Point { x: number; y: number }

export class Gestures {
  private readonly down = new Map<number, Point>(); // by pointer
  private moved = 0;
  private readonly close_ = new AbortController();

  constructor(private readonly canvas: HTMLCanvasElement, private readonly map: Heatmap,
    private readonly look: (sight: Sight) => void) {
    const on = <K extends keyof HTMLElementEventMap>(type: K, listener: (event: HTMLElementEventMap[K]) => void) =>
      canvas.addEventListener(type, listener, { signal: this.close_.signal, passive: false });
    on('pointerdown', (event) => this.pressed(event));
    on('pointermove', (event) => this.movedTo(event));
    on('pointerup', (event) => this.released(event));
    on('pointercancel', (event) => this.down.delete(event.pointerId));
    on('pointerleave', () => { pointed.value = null; });
    on('dblclick', (event) => openPair(map.cellAt(event.offsetX, event.offsetY)));
    on('wheel', (event) => this.turned(event));
  }

  close() {
    this.close_.abort();
  }

  private pressed(event: PointerEvent) {
    if (this.down.size === 0) this.moved = 0;
    this.down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  }

  private movedTo(event: PointerEvent) {
    const before = this.down.get(event.pointerId);
    const at = { x: event.offsetX, y: event.offsetY };
    if (!before) {
      pointed.value = this.map.cellAt(at.x, at.y);
      this.canvas.style.cursor = labelledAt(this.map.view, this.map.scene, at.x, at.y) === null ? '' : 'pointer';
      return;
    }
    const other = [...this.down].find(([id]) => id !== event.pointerId)?.[1];
    this.moved += Math.hypot(at.x - before.x, at.y - before.y);
    if (this.moved > STILL) this.canvas.setPointerCapture(event.pointerId);
    if (other) {
      const factor = distance(at, other) / Math.max(1, distance(before, other));
      this.look(this.map.view.zoomAt(factor, (at.x + other.x) / 2, (at.y + other.y) / 2));
    } else if (this.moved > STILL) {
      this.look(this.map.view.moveBy(before.x - at.x, before.y - at.y));
    }
    this.down.set(event.pointerId, at);
  }

  private released(event: PointerEvent) {
    if (!this.down.delete(event.pointerId) || this.moved > STILL) return;
    const host = labelledAt(this.map.view, this.map.scene, event.offsetX, event.offsetY);
    if (host !== null) return choose({ page: 'host', host });
    const cell = this.map.cellAt(event.offsetX, event.offsetY);
    pointed.value = cell;
    hold(cell);
  }

  private turned(event: WheelEvent) {
    const inside = this.map.view.at(event.offsetX, event.offsetY) !== null;
    const outAgain = event.deltaY > 0 && this.map.view.zoom === 1;
    if (!inside || outAgain || this.map.view.largestZoom === 1) return; // the page scrolls
    event.preventDefault();
    this.look(this.map.view.zoomAt(1.0018 ** -event.deltaY, event.offsetX, event.offsetY));
  }
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

// Marks in a time series: a dashed line at each change, coloured by whether the pair is well after it, and a
// solid line at the time that is looked at.

import type uPlot from 'uplot';
import { classOf, type StateChange } from './events';

export interface ChartMark { at: number; well: boolean; looked?: boolean } // seconds UTC

export function chartMarksOf(changes: StateChange[], looked: number | null = null): ChartMark[] {
  const marks: ChartMark[] = changes.map(({ at, to, severity }) => ({ at: Date.parse(at) / 1000, well: classOf(to, severity) === 'ok' }));
  return looked === null ? marks : [...marks, { at: looked / 1000, well: true, looked: true }];
}

// Calls `marks` at every drawing.
export function markChanges(marks: () => ChartMark[], good: string, bad: string): uPlot.Plugin {
  return { hooks: { draw: (plot: uPlot) => {
    const { ctx: context, bbox: { left, top, width, height } } = plot;
    context.save();
    context.lineWidth = 1;
    for (const { at, well, looked } of marks()) {
      const x = Math.round(plot.valToPos(at, 'x', true));
      if (x < left || x > left + width) continue;
      context.strokeStyle = well ? good : bad;
      context.setLineDash(looked ? [] : [3, 3]);
      context.beginPath();
      context.moveTo(x, top);
      context.lineTo(x, top + height);
      context.stroke();
    }
    context.restore();
  } } };
}

// State changes in a time series: a line at each, in the colour of what the pair came to.

import type uPlot from 'uplot';
import type { StateChange } from './events';

export interface ChartMark { at: number; well: boolean } // seconds UTC

export function chartMarksOf(changes: StateChange[]): ChartMark[] {
  return changes.map(({ at, to }) => ({ at: Date.parse(at) / 1000, well: to === 'ok' }));
}

// `marks` is asked for at every drawing.
export function markChanges(marks: () => ChartMark[], good: string, bad: string): uPlot.Plugin {
  return { hooks: { draw: (plot: uPlot) => {
    const { ctx: context, bbox: { left, top, width, height } } = plot;
    context.save();
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    for (const { at, well } of marks()) {
      const x = Math.round(plot.valToPos(at, 'x', true));
      if (x < left || x > left + width) continue;
      context.strokeStyle = well ? good : bad;
      context.beginPath();
      context.moveTo(x, top);
      context.lineTo(x, top + height);
      context.stroke();
    }
    context.restore();
  } } };
}

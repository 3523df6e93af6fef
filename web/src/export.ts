// Saves the shown mesh as a file.

import { type Metric, valueOf } from './metrics';
import { type Grid, pairOf } from './model';
import type { Theme } from './palette';
import { model } from './store';

function save(blob: Blob, name: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const CAPTION = 26; // CSS pixels

function timeOf({ windowEnd }: Grid): string {
  return Number.isNaN(windowEnd) ? '' : new Date(windowEnd).toISOString();
}

// Saves the map as a picture with a caption, because a picture in a ticket has no page around it.
export function exportPng(grid: Grid, metric: Metric, theme: Theme) {
  const map = document.getElementById('heatmap') as HTMLCanvasElement | null;
  if (!map) return;
  const ratio = window.devicePixelRatio || 1;
  const picture = document.createElement('canvas');
  [picture.width, picture.height] = [map.width, map.height + CAPTION * ratio];
  const context = picture.getContext('2d')!;
  context.fillStyle = theme.page;
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(map, 0, CAPTION * ratio);
  context.font = `${13 * ratio}px system-ui, sans-serif`;
  context.fillStyle = theme.quietInk;
  context.fillText(`${grid.probe.name}, ${metric.label}, ${timeOf(grid)}`, 8 * ratio, 18 * ratio, picture.width - 16 * ratio);
  picture.toBlob((blob) => blob && save(blob, `${grid.probe.name}-${metric.id}.png`), 'image/png');
}

// Spreadsheets evaluate text that begins like a formula, so such text gets a quote in front.
export function csvField(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replace(/"/g, '""')}"` : harmless;
}

export const CSV_HEAD = 'probe,source,source_name,destination,destination_name,state,severity,metric,value,unit,window_end\n';

export function csvLine(grid: Grid, metric: Metric, cell: number): string {
  const [source, destination] = pairOf(grid, cell);
  const value = valueOf(metric, grid.values[cell]);
  return `${[grid.probe.name, source, model.nameOf(source), destination, model.nameOf(destination), grid.stateName(cell),
    grid.severityName(cell), metric.id, Number.isNaN(value) ? '' : String(Number(value.toPrecision(2))), metric.unit,
    timeOf(grid)].map(csvField).join(',')}\n`;
}

// Saves the given cells.
export function exportCsv(grid: Grid, metric: Metric, cells: number[]) {
  const parts = [CSV_HEAD, ...cells.map((cell) => csvLine(grid, metric, cell))];
  save(new Blob(parts, { type: 'text/csv' }), `${grid.probe.name}-${metric.id}.csv`);
}

// Returns the address of a CSV file with all pairs, which the controller sends while it makes it: as text in the page, a mesh of
// 2,000 hosts would be hundreds of megabytes.
export function csvOfAll(probe: string, metric: string, past: URLSearchParams | null): string {
  const fields = new URLSearchParams({ probe, metric });
  past?.forEach((value, name) => fields.set(name, value));
  return `api/v1/${past ? 'history/' : ''}grid?${fields}&format=csv`;
}

// The user's choices and their form in the URL, so that a view can be sent to a colleague and the
// back button works.

import { againstText, SPANS, WORST } from './past';
import type { Sight } from './viewport';

export type Page = 'mesh' | 'worst' | 'incidents' | 'hosts' | 'applications' | 'fabric' | 'host' | 'pair';
const PAGES: Page[] = ['mesh', 'worst', 'incidents', 'hosts', 'applications', 'fabric', 'host', 'pair'];

export interface View {
  page: Page;
  probe: string | null;
  metric: string;
  order: string; // see order.ts
  warn: string | null; // thresholds, see severity.ts; null: those of the pinglist
  crit: string | null;
  sight: Sight | null; // null: everything
  held: [string, string] | null; // source and destination of the chosen pair
  host: string | null; // address
  filter: string; // of the lists of pairs, incidents and hosts
  only: string; // the class of the pairs in the worst list; '' lists all
  sort: string; // the list's column, with a leading '-' for descending order
  time: number | null; // the time shown, in milliseconds UTC; null: live
  worst: string; // the worst for so long is shown, see past.ts; '' shows one time
  against: string; // the difference to another time is shown, see past.ts; '' shows the figure itself
  roll: string; // 'on': the groups of the order's label are shown instead of the pairs
  axis: string; // of the charts' times: 'log', or '' for a linear one
  path: number; // the chosen path of the pair; 0: all together
  incident: string | null; // the id of the incident whose details are shown
  severity: string; // of the incidents listed; '' lists all
  kind: string; // likewise
  span: string; // the length of the timelines, see past.ts
}

export const DEFAULT: View = { page: 'mesh', probe: null, metric: 'network_p50', order: 'address', warn: null,
  crit: null, sight: null, held: null, host: null, filter: '', only: '', sort: '-state', time: null, worst: '', against: '', roll: '', axis: '',
  path: 0, incident: null, severity: '', kind: '', span: '1h' };

export function parseView(hash: string): View {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const text = (name: keyof View) => fields.get(name) ?? (DEFAULT[name] as string);
  const at = (fields.get('at') ?? '').split(',').map(Number);
  const time = Date.parse(fields.get('time') ?? '');
  const path = Number(fields.get('path') ?? 0);
  const [from, to] = [fields.get('from'), fields.get('to')];
  return { page: PAGES.find((page) => page === fields.get('page')) ?? 'mesh', probe: fields.get('probe'),
    metric: text('metric'), order: text('order'), warn: fields.get('warn'), crit: fields.get('crit'),
    sight: at.length === 3 && at.every(Number.isFinite) ? { zoom: at[0], row: at[1], column: at[2] } : null,
    held: from !== null && to !== null ? [from, to] : null, host: fields.get('host'), filter: text('filter'), only: text('only'), sort: text('sort'),
    worst: WORST.find((name) => name === fields.get('worst')) ?? '', against: againstText(fields.get('against')),
    roll: fields.get('roll') === 'on' ? 'on' : '', axis: fields.get('axis') === 'log' ? 'log' : '',
    incident: fields.get('incident'), severity: text('severity'), kind: text('kind'),
    path: Number.isInteger(path) && path > 0 ? path : 0, time: Number.isNaN(time) ? null : time, span: SPANS[text('span')] ? text('span') : DEFAULT.span };
}

// Leaves out choices that are the default.
export function formatView(view: View): string {
  const fields = new URLSearchParams();
  if (view.page !== DEFAULT.page) fields.set('page', view.page);
  if (view.probe !== null) fields.set('probe', view.probe);
  fields.set('metric', view.metric);
  for (const name of ['order', 'warn', 'crit', 'filter', 'only', 'sort', 'incident', 'severity', 'kind', 'span', 'worst', 'against', 'roll', 'axis'] as const) {
    const chosen = view[name];
    if (chosen !== null && chosen !== DEFAULT[name]) fields.set(name, chosen);
  }
  if (view.sight && view.sight.zoom > 1) {
    const { zoom, row, column } = view.sight;
    fields.set('at', [zoom.toFixed(2), row.toFixed(1), column.toFixed(1)].join(','));
  }
  if (view.held) {
    fields.set('from', view.held[0]);
    fields.set('to', view.held[1]);
  }
  if (view.path > 0) fields.set('path', String(view.path));
  if (view.host !== null) fields.set('host', view.host);
  if (view.time !== null) fields.set('time', new Date(view.time).toISOString());
  return `#${fields}`;
}

// What collectors say about applications that have metric pages: docs/http-api.md has the forms.

import { type Deviation, deviationText, humanValue } from './deviation';
import { inLine } from './format';
import { ask } from './past';

export interface Application {
  host: string;
  application: string;
  pid: number;
  owner: number;
  pages: number;
  metrics: number;
  state: string;
  anomalous: boolean;
  score: number | null; // null: not watched, or still being learned
  deviation: Deviation | null; // the largest
}

export interface Applications { collectors: number; left_out: number; applications: Application[] }

export interface PageEvent {
  time: string;
  kind: string; // 'anomaly', or 'limit'
  began: boolean;
  host: string;
  application: string;
  pid: number;
  owner: number;
  statistic: string | null;
  metric: string | null;
  value: number | null;
  limit: number | null;
  deviations: Deviation[];
}

export interface PageEvents { collectors: number; left_out: number; events: PageEvent[] }

export function fetchEvents({ from, to }: { from: number; to: number }, host: string | null, signal: AbortSignal): Promise<PageEvents> {
  const iso = (milliseconds: number) => new Date(milliseconds).toISOString();
  const fields = new URLSearchParams({ from: iso(from), to: iso(to) });
  if (host !== null) fields.set('host', host);
  return ask(`api/v1/anomalies?${fields}`, signal);
}

// Says what began or ended.
export function eventText({ kind, began, metric, value, limit, deviations }: PageEvent): string {
  if (kind === 'limit') {
    const name = inLine(metric ?? 'a metric');
    return began ? `${name} is ${humanValue(value)}, beyond its limit ${humanValue(limit)}` : `${name} is within its limit ${humanValue(limit)}`;
  }
  if (!began) return 'as usual again';
  if (deviations.length === 0) return `unusual${metric === null ? '' : `, mostly ${inLine(metric)}`}`;
  return deviationText(deviations[0]) + (deviations.length > 1 ? `, and ${deviations.length - 1} more` : '');
}

// How far an application is from what is usual, for its colour.
export type Level = 'learning' | 'usual' | 'near' | 'unusual';

export function levelOf(applications: Application[]): Level {
  if (applications.some(({ anomalous }) => anomalous)) return 'unusual';
  const scores = applications.flatMap(({ score }) => (score === null ? [] : [score]));
  if (scores.length === 0) return 'learning';
  return Math.max(...scores) > 0.7 ? 'near' : 'usual';
}

export interface GridCell { host: string; processes: Application[]; level: Level }
export interface ApplicationRow { application: string; cells: (GridCell | null)[] }
export interface ApplicationGrid { hosts: string[]; rows: ApplicationRow[]; moreHosts: number; moreApplications: number }

const RANK: Record<Level, number> = { unusual: 3, near: 2, usual: 1, learning: 0 };

function worstFirst(worst: Map<string, number>): string[] {
  return [...worst.keys()].sort((a, b) => worst.get(b)! - worst.get(a)! || a.localeCompare(b, undefined, { numeric: true }));
}

// Returns applications by hosts, those with something unusual first.
export function gridOf(applications: Application[], mostHosts: number, mostApplications: number): ApplicationGrid {
  const cells = new Map<string, Map<string, Application[]>>();
  for (const each of applications) {
    const row = cells.get(each.application) ?? new Map<string, Application[]>();
    row.set(each.host, [...(row.get(each.host) ?? []), each]);
    cells.set(each.application, row);
  }
  const [rows, columns] = [new Map<string, number>(), new Map<string, number>()];
  for (const [application, row] of cells) {
    for (const [host, processes] of row) {
      const rank = RANK[levelOf(processes)];
      rows.set(application, Math.max(rank, rows.get(application) ?? 0));
      columns.set(host, Math.max(rank, columns.get(host) ?? 0));
    }
  }
  const [names, hosts] = [worstFirst(rows), worstFirst(columns)];
  return {
    hosts: hosts.slice(0, mostHosts),
    rows: names.slice(0, mostApplications).map((application) => ({ application, cells: hosts.slice(0, mostHosts).map((host) => {
      const processes = cells.get(application)!.get(host);
      return processes === undefined ? null : { host, processes, level: levelOf(processes) };
    }) })),
    moreHosts: Math.max(0, hosts.length - mostHosts),
    moreApplications: Math.max(0, names.length - mostApplications),
  };
}

// What the controller concludes from the judged pairs, in the form of /api/v1/incidents.

import type { Deviation } from './deviation';
import { dayAndTime, humanAge, humanCount, inText } from './format';

export interface Culprit { kind: string; culprit: string }

export interface Evidence {
  probe: string;
  source: string;
  source_name: string;
  destination: string;
  destination_name: string;
  state: string;
  severity: string;
  because: string;
}

export interface MovedCounter { host: string; device: string; port: number | null; counter: string; kind: string; moved: number; since: string }

export interface Incident extends Culprit {
  id: string;
  severity: string;
  figure: string;
  opened: string;
  updated: string;
  closed: string | null; // null while it is open
  flaps: number;
  probes: string[];
  pairs: { bad: number; judged: number };
  sentence: string;
  candidates: Culprit[];
  tell: string | null;
  labels: Record<string, string>;
  acknowledged: { by: string; comment: string; at: string } | null;
  silenced_by: string | null;
  evidence: Evidence[];
  counters?: MovedCounter[]; // those of the accused hosts that moved around the opening; earlier versions kept none
  anomalies?: (Deviation & { host: string; application: string })[]; // of applications of the accused hosts, likewise
  history: { at: string; severity: string; sentence: string }[];
}

export interface Silence { id: string; matchers: Record<string, string>; created: string; until: string; by: string; comment: string }
export interface Maintenance { host: string; created: string; until: string | null; by: string; comment: string; in_pinglist: boolean }

export interface Verdict {
  open: Incident[]; // the worst first
  recent: Incident[]; // those that closed lately
  silences: Silence[];
  maintenance: Maintenance[];
  judged_pairs: number;
  oldest_window: string | null;
}

export const NO_VERDICT: Verdict = { open: [], recent: [], silences: [], maintenance: [], judged_pairs: 0, oldest_window: null };

// Puts incidents from several sources together: an earlier list knows an incident better. The open
// ones come first, then the newest.
export function together(...lists: Incident[][]): Incident[] {
  const byId = new Map<string, Incident>();
  for (const incident of lists.flat()) if (!byId.has(incident.id)) byId.set(incident.id, incident);
  return [...byId.values()].sort((a, b) => Number(a.closed !== null) - Number(b.closed !== null)
    || (a.closed === null ? 0 : Date.parse(b.opened) - Date.parse(a.opened)));
}

export interface Wanted { severity: string; kind: string; text: string } // '' wants all

export function isWanted(incident: Incident, { severity, kind, text }: Wanted): boolean {
  const words = [incident.culprit, incident.sentence, ...incident.probes, ...Object.values(incident.labels)];
  return (severity === '' || incident.severity === severity) && (kind === '' || incident.kind === kind)
    && (text === '' || words.some((word) => word.toLowerCase().includes(text.toLowerCase())));
}

// Returns the hosts that an incident accuses: "gpu-7/rail0" is an address of gpu-7, and a pair has
// two ends.
export function hostsOf({ kind, culprit }: Culprit): string[] {
  if (kind === 'pair') return culprit.split(' -> ');
  if (kind.startsWith('address')) return [culprit.split('/')[0]];
  return kind === 'agent' || kind.startsWith('host') ? [culprit] : [];
}

// Returns the metric of the map that shows a figure.
export function metricOf(figure: string): string {
  return ['network', 'rtt', 'responder', 'prober'].includes(figure) ? `${figure}_p50` : figure;
}

// Says what an incident is about besides its sentence, and for how long at a time.
export function factsOf(incident: Incident, now: number): string {
  const { opened, closed, figure, pairs, flaps, probes } = incident;
  const began = Date.parse(opened);
  const span = closed === null ? `since ${dayAndTime(began, now)} (${humanAge(now - began)})`
    : `${dayAndTime(began, now)}, for ${humanAge(Date.parse(closed) - began)}`;
  return [span, figure, `${humanCount(pairs.bad)} of ${humanCount(pairs.judged)} pairs`, inText(probes.join(', ')),
    ...(flaps > 0 ? [`opened again ${flaps === 1 ? 'once' : `${flaps} times`}`] : [])].join(' · ');
}

// Says that there are no suspects, and how much that is worth.
export function allClear({ judged_pairs: pairs, oldest_window: oldest }: Verdict, now: number): string {
  if (pairs === 0) return 'nothing is judged yet';
  return `no suspects; ${humanCount(pairs)} pairs judged${oldest === null ? '' : `, oldest window ${humanAge(now - Date.parse(oldest))}`}`;
}

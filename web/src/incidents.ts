// What the controller concludes from the judged pairs, in the form of /api/v1/incidents, and what
// an operator may do about it.

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

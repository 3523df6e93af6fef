// The latest row of one pair in full precision, in the format of /api/v1/pairs.

// Minutes of the past have neither a minimum nor a mean.
export interface Times { min?: number; mean?: number; p50: number; p95: number; p99: number; max: number }

export interface PairRow {
  missing?: string; // the reason why there is no row; all other fields are unset then
  state: string;
  severity?: string | null;
  because?: string[]; // why it is not ok
  start?: string;
  end?: string;
  sent?: number;
  received?: number;
  lost?: number;
  refused?: number;
  unreachable?: number;
  ack_lost?: number;
  duplicate?: number;
  late?: number;
  anomalous?: Record<string, number>;
  network_ns?: Times;
  responder_ns?: Times;
  prober_ns?: Times;
  rtt_ns?: Times;
  jitter_ns?: number | null;
  clock?: string;
  device?: string;
  path?: number; // its number, where the probe has several
  paths?: PairRow[]; // the rows of the paths that were measured
}

export const PARTS = ['network', 'responder', 'prober', 'rtt'] as const;
export type Part = typeof PARTS[number];

export function part(row: PairRow, name: Part): Times | undefined {
  return row[`${name}_ns`];
}

const STATISTICS = ['min', 'mean', 'p50', 'p95', 'p99', 'max'] as const;
type Statistic = typeof STATISTICS[number];

// Of ten samples, the 95th and the 99th percentile are the largest one: what is the same in all parts is one line.
export function statisticsOf(parts: Times[]): { of: Statistic; label: string }[] {
  const lines: { of: Statistic; label: string }[] = [];
  for (const of of STATISTICS) {
    if (parts.every((times) => times[of] === undefined)) continue; // of minutes
    const last = lines[lines.length - 1];
    const upper = last && ['p95', 'p99'].includes(last.of) && parts.every((times) => times[of] === times[last.of]);
    if (upper) last.label += ` = ${of}`;
    else lines.push({ of, label: of });
  }
  return lines;
}

export async function fetchRow(probe: string, source: string, destination: string,
  signal: AbortSignal): Promise<PairRow> {
  const path = [probe, source, destination].map(encodeURIComponent).join('/');
  const answer = await fetch(`api/v1/pairs/${path}`, { signal });
  const body = await answer.json();
  return answer.ok ? body : { missing: body.error?.reason ?? `HTTP ${answer.status}`, state: '' };
}

// Ranks the hosts of a mesh by what accuses them: open incidents, then the share of bad pairs.

import { hostsOf, type Incident } from './incident';
import type { Ranks } from './ranks';
import { UNJUDGED } from './severity';

// A host with fewer of its pairs bad is not listed: they are single pairs, or those of another host.
const LEAST_SHARE = 0.1;

export interface Way { bad: number; pairs: number }
export interface HostRank {
  address: string;
  incidents: Incident[];
  sends: Way; // its pairs as a source
  receives: Way; // as a destination
  own: number; // the bad pairs that no host above it explains
}
export interface HostRanking { hosts: HostRank[]; others: number; otherBad: number } // otherBad: bad pairs of no listed host

interface Line extends HostRank { row: number; column: number } // places; -1: it has none

function linesOf({ grid: { probe }, rowOrder, columnOrder, rowLines, columnLines }: Ranks): Line[] {
  const lines = new Map<string, Line>();
  const lineOf = (address: string) => {
    const none = { address, incidents: [], sends: { bad: 0, pairs: 0 }, receives: { bad: 0, pairs: 0 }, own: 0, row: -1, column: -1 };
    return lines.get(address) ?? lines.set(address, none).get(address)!;
  };
  probe.sources.forEach((address, index) => {
    const [line, row] = [lineOf(address), rowOrder.placeOf[index]];
    Object.assign(line, { row, sends: { bad: rowLines.bad(row), pairs: rowLines.pairs(row) } });
  });
  probe.destinations.forEach((address, index) => {
    const [line, column] = [lineOf(address), columnOrder.placeOf[index]];
    Object.assign(line, { column, receives: { bad: columnLines.bad(column), pairs: columnLines.pairs(column) } });
  });
  for (const line of lines.values()) line.own = line.sends.bad + line.receives.bad;
  return [...lines.values()];
}

// Takes the bad pairs of a host away from its partners: one bad host of 2,000 gives each of the
// others two bad pairs, which say nothing about them.
function explain({ row, column }: Line, byRow: (Line | undefined)[], byColumn: (Line | undefined)[], { levels: [{ ranks, columns }] }: Ranks) {
  const isBad = (at: number) => ranks[at] >> 8 > UNJUDGED;
  if (row >= 0) byColumn.forEach((peer, at) => { if (peer && isBad(row * columns + at)) peer.own -= 1; });
  if (column >= 0) byRow.forEach((peer, at) => { if (peer && isBad(at * columns + column)) peer.own -= 1; });
}

export function rankHosts(ranks: Ranks, open: Incident[], nameOf: (address: string) => string): HostRanking {
  const lines = linesOf(ranks);
  const byRow: (Line | undefined)[] = [];
  const byColumn: (Line | undefined)[] = [];
  for (const line of lines) {
    line.incidents = open.filter((incident) => hostsOf(incident).some((host) => host === nameOf(line.address).split('/')[0]));
    if (line.row >= 0) byRow[line.row] = line;
    if (line.column >= 0) byColumn[line.column] = line;
  }
  const shareOf = ({ own, sends, receives }: Line) => own / Math.max(1, sends.pairs + receives.pairs);
  const left = new Set(lines);
  const listed: { line: Line; share: number }[] = [];
  while (left.size > 0) {
    const worst = [...left].reduce((a, b) => (b.own > a.own ? b : a));
    if (shareOf(worst) < LEAST_SHARE) break;
    left.delete(worst);
    if (worst.row >= 0) byRow[worst.row] = undefined;
    if (worst.column >= 0) byColumn[worst.column] = undefined;
    listed.push({ line: worst, share: shareOf(worst) });
    explain(worst, byRow, byColumn, ranks);
  }
  for (const line of left) if (line.incidents.length > 0) listed.push({ line, share: shareOf(line) });
  const others = [...left].filter(({ incidents }) => incidents.length === 0);
  listed.sort((a, b) => b.line.incidents.length - a.line.incidents.length || b.share - a.share);
  return { hosts: listed.map(({ line }) => line), others: others.length,
    otherBad: Math.ceil(others.reduce((sum, { own }) => sum + own, 0) / 2) };
}

// The switches and links of the fabric, in the form of /api/v1/fabric, and where they are drawn.

export interface Switch { name: string; tier: number; named: boolean; addresses: string[]; incident: string | null }
export interface Direction { from: string; to: string; flows: number; incident: string | null }
export interface Fabric { paths: number; merged: boolean; switches: Switch[]; links: Direction[] }

export interface Flow { probe: string; source: string; source_name: string; destination: string; destination_name: string; path: number }
export interface Flows { flows: number; listed: Flow[] }

export const NO_FABRIC: Fabric = { paths: 0, merged: true, switches: [], links: [] };

// Switches of a tier stand above each other, and tiers beside each other, hosts' neighbours first.
export interface Spot { x: number; y: number }
export const WIDTH = 1000;
const SPACING = 34;
const MARGIN = 90; // for the names
const LEAST_HEIGHT = 440;

export interface Drawing { spots: Map<string, Spot>; height: number }

export function draw(switches: Switch[]): Drawing {
  const tiers = [...new Set(switches.map(({ tier }) => tier))].sort((a, b) => a - b);
  const most = Math.max(1, ...tiers.map((tier) => switches.filter((each) => each.tier === tier).length));
  const height = Math.max(LEAST_HEIGHT, (most + 1) * SPACING);
  const spots = new Map<string, Spot>();
  tiers.forEach((tier, column) => {
    const here = switches.filter((each) => each.tier === tier);
    const x = tiers.length === 1 ? WIDTH / 2 : MARGIN + (column * (WIDTH - 2 * MARGIN)) / (tiers.length - 1);
    here.forEach(({ name }, row) => spots.set(name, { x, y: ((row + 1) * height) / (here.length + 1) }));
  });
  return { spots, height };
}

// A direction is drawn as the half of the line at its sender; so both directions of a cable can be told apart.
export function halfLine({ spots }: Drawing, { from, to }: Direction): [Spot, Spot] | null {
  const [a, b] = [spots.get(from), spots.get(to)];
  return a && b ? [a, { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }] : null;
}

// What the user has chosen: a switch, or a link in one direction.
export interface Part { from: string; to: string } // both the same: a switch

export const isSame = (a: Part | null, b: Part) => a !== null && a.from === b.from && a.to === b.to;

export function titleOf({ from, to }: Part): string {
  return from === to ? from : `${from} → ${to}`;
}

export function flowsPath({ from, to }: Part): string {
  const fields = from === to ? new URLSearchParams({ switch: from }) : new URLSearchParams({ from, to });
  return `api/v1/fabric/flows?${fields}`;
}

// The directions with fewer flows than a fault needs to be told from chance.
export const FEW_FLOWS = 3;

// Says how large the fabric is, and what is not known of it.
export function summaryOf({ paths, switches, links }: Fabric): string {
  const few = links.filter(({ flows }) => flows < FEW_FLOWS).length;
  const count = (number: number, one: string) => `${number.toLocaleString('en')} ${one}${number === 1 ? '' : one.endsWith('ch') ? 'es' : 's'}`;
  return [count(switches.length, 'switch'), count(links.length, 'link direction'), count(paths, 'traced flow'),
    ...(few > 0 ? [`${few.toLocaleString('en')} with fewer than ${FEW_FLOWS} flows`] : [])].join(', ');
}

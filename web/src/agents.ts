// Asks the controller every few seconds what it knows about the agents of some addresses.

import { usePolled } from './polled';
import { model } from './store';

export interface Endpoint { address: string; device: string; clock: string; gid: string; qpn: number }

export interface PageOwner { application: string; pid: number; uid: number; pages: number; metrics: number }
export interface PageOwners { owners: PageOwner[]; left_out: number }

export interface Agent {
  host: string;
  alive: boolean;
  addresses: { address: string; name: string }[] | string[];
  endpoints: Endpoint[];
  version: string;
  pages: string | null;
  page_owners: PageOwners;
  first_seen: string;
  last_seen: string;
  plan: string | null; // the hash of the plan that the agent runs; null: it has none yet
  plan_in_force: string | null;
  plan_current: boolean;
  [counter: string]: unknown;
}

const REFRESH = 5000; // milliseconds

export function addressesOf({ addresses }: Agent): string[] {
  return addresses.map((each) => (typeof each === 'string' ? each : each.address));
}

// Returns all agents; undefined before the first answer.
export function useAllAgents(): Agent[] | undefined {
  return usePolled<{ hosts: Agent[] }>('api/v1/hosts', REFRESH)?.hosts;
}

// Returns the agent of each address; undefined: not known yet; null: no agent has registered for
// it.
export function useAgents(addresses: string[]): (Agent | null | undefined)[] {
  const agents = useAllAgents();
  return addresses.map((address) => agents && (agents.find((each) => addressesOf(each).includes(address)) ?? null));
}

// Says which plan the agent runs, and whether that plan is in force.
export function planOf({ plan, plan_in_force: wanted, plan_current: current }: Agent): string {
  if (plan === null) return 'none yet';
  if (current) return `${plan}, in force`;
  return wanted ? `${plan}, outdated: ${wanted} is in force` : `${plan}, outdated`;
}

// Returns the labels that the pinglist gives an address.
export function labelsOf(address: string): [string, string][] {
  return Object.entries(model.labels).flatMap(([label, of]): [string, string][] =>
    (of[address] === undefined ? [] : [[label, of[address]]]));
}

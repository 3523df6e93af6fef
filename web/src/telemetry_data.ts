// What the collector says about its stores: the document of /api/v1/dta/tables (docs/dta.md).

export interface Table {
  table: string;
  id: number;
  kind: string; // keyed, lists, counters, paths, or a kind that this page does not know yet
  bytes: number;
  value_bytes?: number;
  hops?: number; // of a path, at most
  slots?: number;
  copies?: number; // of each key
  lists?: number;
  blocks?: number;
  counters?: number;
  used?: number; // slots
  placed?: number;
  increments?: number;
}

export const ACCEPTED = { key_writes: 'key-writes', appends: 'appends', increments: 'increments', postcards: 'postcards' } as const;

// What did not end well, each with its meaning.
export const LOSSES = {
  lost: 'reports that never arrived',
  skipped: 'reports that reporters themselves have dropped',
  refused: 'malformed reports, and those for no table of this store',
  evicted: 'keys that made room for others',
  dropped: 'list entries without room',
} as const;

export type Figure = keyof typeof ACCEPTED | keyof typeof LOSSES;

export type Writer = Record<Figure, number> & {
  incarnation: string; // another one after each start of the translator
  age_seconds: number; // since it last said how it is
  stale: boolean;
};

export interface Store {
  translator: string;
  file: string;
  store: string; // its id
  epoch: number | null;
  serving: boolean;
  connected: boolean | null; // null: not known
  bytes: number;
  shared?: boolean; // several translators add to it, and none says what it accepted or lost
  writer: Writer | null; // null: none has written yet
  tables: Table[];
}

// Returns the names of the tables of this kind in all stores, each once.
export function tablesOf(stores: Store[], wanted: string): string[] {
  const names = stores.flatMap(({ tables }) => tables.filter(({ kind }) => kind === wanted).map(({ table }) => table));
  return [...new Set(names)].sort();
}

// Returns the kind of a table; undefined where no store has it.
export function kindOf(stores: Store[], name: string): string | undefined {
  return stores.flatMap(({ tables }) => tables).find(({ table }) => table === name)?.kind;
}

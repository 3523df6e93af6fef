// What the user has chosen, and its form in the URL's fragment.

export interface Chosen {
  table: string; // of the key that is looked up
  key: string;
  counts: string; // the table whose keys are watched
  keys: string; // separated by commas
  tail: string; // the table whose list is followed; '' follows none
  list: number;
}

const NOTHING: Chosen = { table: '', key: '', counts: '', keys: '', tail: '', list: 0 };
const LAST_LIST = 65_535;

export function parseChosen(hash: string): Chosen {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const text = (name: keyof Chosen) => fields.get(name) ?? '';
  return { table: text('table'), key: text('key'), counts: text('counts'), keys: text('keys'), tail: text('tail'), list: listOf(text('list')) };
}

// Returns 0 where the text is no list's number.
export function listOf(text: string): number {
  const list = Number(text);
  return Number.isInteger(list) && list >= 0 && list <= LAST_LIST ? list : 0;
}

// Leaves out what is not chosen.
export function formatChosen(chosen: Chosen): string {
  const fields = new URLSearchParams();
  for (const name of Object.keys(NOTHING) as (keyof Chosen)[]) {
    if (chosen[name] !== NOTHING[name]) fields.set(name, String(chosen[name]));
  }
  return `#${fields}`;
}

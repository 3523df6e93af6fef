// Puts rows and columns into an order and finds their groups.

export interface Group { name: string; from: number; to: number } // places; `to` is excluded
export interface Order {
  at: Uint32Array; // place -> index in the plan
  placeOf: Uint32Array; // index in the plan -> place
  groups: Group[]; // empty unless the order is by a label
}

const natural = new Intl.Collator('en', { numeric: true });

const OWN = ['address', 'name'];
const PREFIX = 'label:'; // marks a label whose name would otherwise be ambiguous

export interface Choice { by: string; text: string }

// Returns all orders. A label may have the name of a built-in order.
export function ordersOf(labels: string[]): Choice[] {
  return [...OWN.map((name) => ({ by: name, text: name })), ...labels.map((name) => (
    OWN.includes(name) || name.startsWith(PREFIX) ? { by: PREFIX + name, text: `${name} (label)` } : { by: name, text: name }))];
}

// `by` is 'address' (the plan's order), 'name', or a label in the notation of ordersOf().
export function orderOf(addresses: string[], by: string, nameOf: (address: string) => string,
  labels: Record<string, Record<string, string>>): Order {
  const indices = addresses.map((_, index) => index);
  const label = OWN.includes(by) ? undefined : labels[by.startsWith(PREFIX) ? by.slice(PREFIX.length) : by];
  const groupOf = (index: number) => label?.[addresses[index]] ?? '';
  if (by === 'name') {
    const names = addresses.map(nameOf);
    indices.sort((a, b) => natural.compare(names[a], names[b]) || a - b);
  } else if (label) {
    // Hosts without the label come last.
    indices.sort((a, b) => Number(groupOf(a) === '') - Number(groupOf(b) === '')
      || natural.compare(groupOf(a), groupOf(b)) || a - b);
  }
  const at = Uint32Array.from(indices);
  const placeOf = new Uint32Array(at.length);
  at.forEach((index, place) => { placeOf[index] = place; });
  return { at, placeOf, groups: label ? groupsOf(at, groupOf) : [] };
}

function groupsOf(at: Uint32Array, groupOf: (index: number) => string): Group[] {
  const groups: Group[] = [];
  at.forEach((index, place) => {
    const name = groupOf(index);
    const last = groups[groups.length - 1];
    if (last?.name === name) last.to = place + 1;
    else groups.push({ name, from: place, to: place + 1 });
  });
  return groups;
}

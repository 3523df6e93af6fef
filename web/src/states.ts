// What a pair's state is called, how bad it is, and what it means. The words are the controller's.

export const NOT_A_PAIR = 255;

// Ordered from what an operator wants to see first.
export const STATES = [
  { name: 'loss', severity: 7, text: 'some pings had no answer' },
  { name: 'unreachable', severity: 8, text: 'the network says there is no way' },
  { name: 'refused', severity: 6, text: 'the host is there, nothing listens' },
  { name: 'agent-down', severity: 5, text: "the destination's agent is not there" },
  { name: 'stale', severity: 4, text: 'the source has stopped reporting' },
  { name: 'anomalous', severity: 3, text: 'answered, but the times cannot be trusted' },
  { name: 'pending', severity: 2, text: 'no window yet' },
  { name: 'ok', severity: 1, text: 'every ping answered' },
];

const byName = new Map(STATES.map((state) => [state.name, state]));

export function severityOf(name: string): number {
  return byName.get(name)?.severity ?? 0;
}

export function meaningOf(name: string): string {
  return byName.get(name)?.text ?? '';
}

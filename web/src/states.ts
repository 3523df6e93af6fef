// What a pair's state is called, how bad it is, and what it means. The words are the controller's.

export const NOT_A_PAIR = 255;

// Ordered from what an operator wants to see first.
export const STATES = [
  { name: 'loss', text: 'some pings had no answer' },
  { name: 'unreachable', text: 'the network says there is no way' },
  { name: 'refused', text: 'the host is there, nothing listens' },
  { name: 'agent-down', text: "the destination's agent is not there" },
  { name: 'stale', text: 'the source has stopped reporting' },
  { name: 'anomalous', text: 'answered, but the times cannot be trusted' },
  { name: 'pending', text: 'no window yet' },
  { name: 'ok', text: 'every ping answered' },
];

const byName = new Map(STATES.map((state) => [state.name, state]));

// What the page makes of pairs that are ok: the thresholds say which, or there is no such figure, as TCP has no responder's time.
export const SLOW_STATES = [
  { name: 'very slow', text: 'answered, beyond the upper threshold' },
  { name: 'slow', text: 'answered, beyond the lower threshold' },
];
export const NOT_MEASURED_STATE = { name: 'not measured', text: 'ok, but without this figure' };

export function meaningOf(name: string): string {
  return byName.get(name)?.text ?? '';
}

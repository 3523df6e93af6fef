// The states of a pair with their meanings. The names are the controller's.

export const NOT_A_PAIR = 255;

// Ordered by urgency: an operator wants to see the first one first.
export const STATES = [
  { name: 'loss', text: 'some pings were not answered' },
  { name: 'unreachable', text: 'the network reports that it has no route' },
  { name: 'refused', text: 'the host answers, but nothing listens there' },
  { name: 'agent-down', text: "the destination's agent is down" },
  { name: 'stale', text: 'the source has stopped reporting' },
  { name: 'anomalous', text: 'the pings were answered, but their times cannot be trusted' },
  { name: 'pending', text: 'no window has closed yet' },
  { name: 'ok', text: 'every ping was answered' },
];

const byName = new Map(STATES.map((state) => [state.name, state]));

// The page divides the pairs that are ok: by the thresholds, and by whether they have the figure;
// TCP has no responder time.
export const SLOW_STATES = [
  { name: 'very slow', text: 'every ping was answered; the value exceeds the upper threshold' },
  { name: 'slow', text: 'every ping was answered; the value exceeds the lower threshold' },
];
export const NOT_MEASURED_STATE = { name: 'not measured', text: 'every ping was answered; this figure was not measured' };

export function meaningOf(name: string): string {
  return byName.get(name)?.text ?? '';
}

// The states of a pair with their meanings. The names are the controller's.

export const NOT_A_PAIR = 255;

// Ordered by urgency: an operator wants to see the first one first.
export const STATES = [
  { name: 'loss', text: 'some pings were not answered' },
  { name: 'unreachable', text: 'the network reports that it has no route' },
  { name: 'refused', text: 'the host answers, but nothing listens there' },
  { name: 'agent-down', text: "the destination's agent is down" },
  { name: 'stale', text: 'the source has stopped reporting' },
  { name: 'misfit', text: 'the pings are longer than the path MTU and never left' },
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

// The controller's judgement of a pair over several windows, the worst first. It stands for the
// states ok, loss and anomalous, which say only what the newest window was like.
export const JUDGED_STATES = [
  { name: 'down', text: 'judged: in several windows more is lost than the upper threshold' },
  { name: 'lossy', text: 'judged: in several windows more is lost than the lower threshold' },
  { name: 'very slow', text: 'judged: in several windows a time is beyond the upper threshold' },
  { name: 'slow', text: 'judged: in several windows a time is beyond the lower threshold' },
];
export const UNJUDGED_STATE = { name: 'unjudged', text: 'the pair is measured but not judged: its first windows, or maintenance' };
export const JUDGED_OK = { name: 'ok', text: 'judged: within all thresholds' };
const REPLACED = ['loss', 'anomalous', 'ok'];
export const UNJUDGEABLE_STATES = STATES.filter(({ name }) => !REPLACED.includes(name));

// Returns what the legend explains, the most urgent first.
export function entriesOf(judged: boolean): { name: string; text: string }[] {
  if (judged) return [...JUDGED_STATES, ...UNJUDGEABLE_STATES, UNJUDGED_STATE, NOT_MEASURED_STATE, JUDGED_OK];
  return [...STATES.slice(0, -1), ...SLOW_STATES, NOT_MEASURED_STATE, STATES[STATES.length - 1]];
}

export function meaningOf(name: string): string {
  return (byName.get(name) ?? JUDGED_STATES.find((each) => each.name === name))?.text ?? '';
}

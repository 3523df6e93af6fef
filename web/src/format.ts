// Writes numbers, times and names for people.

type Maybe = number | null | undefined;

// Writes three significant digits: "812 ns", "4.07 µs", "1.20 ms".
export function humanNanos(nanos: Maybe): string {
  if (nanos === null || nanos === undefined || Number.isNaN(nanos)) return '–';
  for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]] as const) {
    if (nanos >= size * 0.9995) return `${threeDigits(nanos / size)} ${unit}`;
  }
  return `${Math.round(nanos)} ns`;
}

// Writes a number without a unit, for cells: the legend names the unit.
export function threeDigits(value: number): string {
  if (value >= 99.95) return value.toFixed(0);
  return value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

export function humanRatio(ratio: Maybe): string {
  if (ratio === null || ratio === undefined || Number.isNaN(ratio)) return '–';
  const percent = ratio * 100;
  if (percent === 0) return '0 %';
  return percent < 1 ? `${percent.toFixed(2)} %` : `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

export function humanAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

// Cuts a text to at most `most` characters.
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = Array.from(text.slice(0, 2 * most + 2)); // never cuts within a character
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

const LONGEST_IN_LINE = 120;
const BIDIRECTIONAL = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/;

// These reorder the text around them, so that a name could pose as another one.
const REORDERING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// Makes the characters visible that reorder text.
export function inText(text: string): string {
  return text.replace(REORDERING, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// Makes a name fit to stand in a line of text. Names may have thousands of characters (the host's
// page shows all of them), and right-to-left letters would reorder the text around them unless they
// are isolated.
export function inLine(name: string): string {
  const short = shortened(inText(name), LONGEST_IN_LINE);
  return BIDIRECTIONAL.test(short) ? `\u2068${short}\u2069` : short;
}

export function clockTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(11, 19)} UTC`;
}

// Writes a time of today without its day.
export function dayAndTime(milliseconds: number, now: number): string {
  const [at, today] = [milliseconds, now].map((each) => new Date(each).toISOString());
  return `${at.slice(0, 10) === today.slice(0, 10) ? '' : `${at.slice(5, 10)} `}${at.slice(11, 19)} UTC`;
}

const counts = new Intl.NumberFormat('en');

export function humanCount(count: number): string {
  return counts.format(count);
}

// Parses a time in UTC. A time of day alone means its most recent occurrence, as in "the job
// stalled at 03:12". Returns null for other text.
export function timeTyped(text: string, now: number): number | null {
  const [, day, clock] = /^\s*(?:(\d{4}-\d{2}-\d{2})[T ])?(\d{2}:\d{2}(?::\d{2})?)\s*Z?\s*$/.exec(text) ?? [];
  if (clock === undefined) return null;
  const at = Date.parse(`${day ?? new Date(now).toISOString().slice(0, 10)}T${clock}Z`);
  if (Number.isNaN(at)) return null;
  return day === undefined && at > now ? at - 86_400_000 : at;
}

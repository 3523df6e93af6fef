// Numbers for people.

type Maybe = number | null | undefined;

// Three significant digits: "812 ns", "4.07 µs", "1.20 ms".
export function humanNanos(nanos: Maybe): string {
  if (nanos === null || nanos === undefined || Number.isNaN(nanos)) return '–';
  for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]] as const) {
    if (nanos >= size * 0.9995) return `${threeDigits(nanos / size)} ${unit}`;
  }
  return `${Math.round(nanos)} ns`;
}

// Without its unit, for cells: the legend says which one it is.
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
  return `${Math.round(seconds / 3600)} h`;
}

export function clockTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(11, 19)} UTC`;
}

const counts = new Intl.NumberFormat('en');

export function humanCount(count: number): string {
  return counts.format(count);
}

// A time of day is the last one that was: a job stalls "at 03:12". null: it is no time. UTC, as everything in the page.
export function timeTyped(text: string, now: number): number | null {
  const [, day, clock] = /^\s*(?:(\d{4}-\d{2}-\d{2})[T ])?(\d{2}:\d{2}(?::\d{2})?)\s*Z?\s*$/.exec(text) ?? [];
  if (clock === undefined) return null;
  const at = Date.parse(`${day ?? new Date(now).toISOString().slice(0, 10)}T${clock}Z`);
  if (Number.isNaN(at)) return null;
  return day === undefined && at > now ? at - 86_400_000 : at;
}

// What the benchmarks of the dashboard share: their command line, figures, and a limit for every wait.

import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const PATIENCE = 60_000; // milliseconds

// The line that bench/shared/figures.h describes.
export function printFigure(name, unit, samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const [low, high] = [Math.floor((sorted.length - 1) / 2), Math.ceil((sorted.length - 1) / 2)];
  const text = (value) => String(Number(value.toPrecision(5)));
  const median = text((sorted[low] + sorted[high]) / 2);
  console.log(`${name.padEnd(60)}  ${median.padStart(9)} (${text(sorted[0])} .. ${text(sorted.at(-1))}) `
    + `${unit}${unit && ' '}[${samples.map(text).join(' ')}]`);
}

// What a promise resolves to; an error that names it if that takes too long.
export async function bounded(what, promise) {
  const timer = new AbortController();
  const late = pause(PATIENCE, undefined, { signal: timer.signal })
    .then(() => { throw new Error(`${what}: not reached within ${PATIENCE / 1000} s`); });
  late.catch(() => {}); // aborted
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.abort();
  }
}

// Options that take a value, with their defaults: numbers where the default is one. Answers --help.
export function options(defaults, help) {
  const described = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' }]));
  const { values } = parseArgs({ options: { ...described, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(help);
    process.exit(0);
  }
  return Object.fromEntries(Object.entries(defaults).map(([name, fallback]) =>
    [name, typeof fallback === 'number' ? Number(values[name] ?? fallback) : values[name] ?? fallback]));
}

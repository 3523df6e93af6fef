// The verdict that the live connection brings.

import { computed, signal } from '@preact/signals';
import { type Incident, NO_VERDICT, type Verdict, metricOf } from './incident';
import { live } from './store';

export const verdict = signal<Verdict>(NO_VERDICT);
export const suspects = computed(() => verdict.value.open);

export function followVerdict() {
  live.addEventListener('verdict', (event) => { verdict.value = (event as CustomEvent<Verdict>).detail; });
}

export function suspectsOf(probe: string): Incident[] {
  return suspects.value.filter(({ probes }) => probes.includes(probe));
}

// Returns the open incidents that a metric's button counts: each under the metric that shows its figure.
export function accusedBy(probe: string, metric: string): Incident[] {
  return suspectsOf(probe).filter(({ figure }) => metricOf(figure) === metric);
}

export function isHushed({ acknowledged, silenced_by: silenced }: Incident): boolean {
  return acknowledged !== null || silenced !== null;
}

// The page's colours: those of the system until the user has chosen others.

import { computed, effect, signal } from '@preact/signals';

const darkness = window.matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(darkness.matches);
export type Theme = 'auto' | 'dark' | 'light';
export const theme = signal<Theme>((localStorage.getItem('pingloom.theme') as Theme | null) ?? 'auto');
export const dark = computed(() => (theme.value === 'auto' ? systemDark.value : theme.value === 'dark'));

export function chooseTheme(next: Theme) {
  theme.value = next;
  localStorage.setItem('pingloom.theme', next);
}

// Keeps the document in these colours from now on.
export function followTheme() {
  darkness.addEventListener('change', () => { systemDark.value = darkness.matches; });
  effect(() => { document.documentElement.dataset.theme = dark.value ? 'dark' : 'light'; });
}

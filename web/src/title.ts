// The page's title and icon carry the number of open incidents, so that a tab in the background
// tells it too. build.mjs makes the icons.

import { effect } from '@preact/signals';
import { suspects } from './verdict';

const MOST = 9;

export function titleOf(open: number): string {
  return open === 0 ? 'pingloom' : `(${open}) pingloom`;
}

export function iconOf(open: number): string {
  return open === 0 ? 'icon.svg' : `icon-${open > MOST ? 'more' : open}.svg`;
}

export function keepTitle() {
  effect(() => {
    const open = suspects.value.length;
    document.title = titleOf(open);
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    if (icon) icon.href = iconOf(open);
  });
}

// The button in the bar that changes the page's colours.

import { chooseTheme, theme, type Theme } from './theme';

const NEXT: Record<Theme, Theme> = { auto: 'dark', dark: 'light', light: 'auto' };

export function ThemeButton() {
  return <button class="theme" onClick={() => chooseTheme(NEXT[theme.value])}
    aria-label={`Colours: ${theme.value}; change`}>◐ {theme.value}</button>;
}

// The colours of cells. The palette of the data is mako, which is perceptually uniform and readable
// with any kind of colour blindness: the further a colour is from the page's background, the slower
// the pair. Each state has a mark (marks.ts) besides its colour, so no state depends on its colour
// alone.

import { type Metric, valueOf } from './metrics';
import { type Class, CLASSES } from './severity';

export type Rgb = number[];

const MAKO = ['#2e1e3c', '#413d7b', '#37659e', '#348fa7', '#40b7ad', '#8bdab2', '#def5e5'];
const LOSS_DARK = ['#7a2430', '#b3303f', '#e0434f', '#ff7a72'];
const LOSS_LIGHT = ['#f6b3ab', '#ea7a74', '#d13c47', '#97122b'];

export interface Theme {
  data: string[];
  loss: string[];
  none: string;
  noLoss: string;
  states: Record<string, string>;
  mark: string;
  quietMark: string;
  ink: string;
  quietInk: string;
  page: string;
  focus: string;
  band: string;
}

const THEMES: Record<'dark' | 'light', Theme> = {
  dark: {
    data: MAKO,
    loss: LOSS_DARK,
    none: '#39424d', // pairs without this measurement
    noLoss: '#20343a',
    states: {
      'agent-down': '#5c6470', refused: '#a35a12', unreachable: '#9c3aa8',
      pending: '#272e37', stale: '#4a4335', anomalous: '#a98d12', slow: '#e8b45a', 'very slow': '#ff8c1a',
    },
    mark: '#ffffff', quietMark: '#7d8894',
    ink: '#e4e9ee', quietInk: '#8b96a3', page: '#12161b', focus: '#ffffff', band: '#ffffff14',
  },
  light: {
    data: [...MAKO].reverse(),
    loss: LOSS_LIGHT,
    none: '#e3e6e9',
    noLoss: '#e2f0ec',
    states: {
      'agent-down': '#9aa3ad', refused: '#e39a4a', unreachable: '#c77fd0',
      pending: '#f1f3f4', stale: '#d5ccb6', anomalous: '#c9ae3a', slow: '#f0a93c', 'very slow': '#d9590b',
    },
    mark: '#14181d', quietMark: '#8a939c',
    ink: '#1c2329', quietInk: '#66717c', page: '#ffffff', focus: '#000000', band: '#0000000f',
  },
};

function rgbOf(hex: string): Rgb {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// Interpolates 256 steps between the given colours.
function ramp(stops: string[]): Rgb[] {
  const colours = stops.map(rgbOf);
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (colours.length - 1);
    const from = Math.min(Math.floor(at), colours.length - 2);
    const [a, b] = [colours[from], colours[from + 1]];
    return a.map((part, k) => Math.round(part + (b[k] - part) * (at - from)));
  });
}

// Has the colour of every rank (severity.ts), because painting looks one up for every pixel.
export class Palette {
  readonly theme: Theme;
  readonly data: Rgb[];
  readonly loss: Rgb[];
  private readonly colours: Rgb[]; // by class and code
  readonly pixels: Uint32Array; // the same colours in the format of ImageData

  // The colours of the data run from the code `low` to the code `high`.
  constructor(dark: boolean, metric: Metric, low: number, high: number) {
    this.theme = dark ? THEMES.dark : THEMES.light;
    this.data = ramp(this.theme.data);
    this.loss = ramp(this.theme.loss);
    this.colours = CLASSES.flatMap((name) => Array.from({ length: 256 },
      (_, code) => this.colourFor(name, metric, code, (code - low) / Math.max(1, high - low))));
    this.pixels = Uint32Array.from(this.colours,
      ([r, g, b], rank) => (rank < 256 ? 0 : ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0));
  }

  of(rank: number): Rgb {
    return this.colours[rank];
  }

  private colourFor(name: Class, metric: Metric, code: number, position: number): Rgb {
    const value = valueOf(metric, code);
    if (name === 'loss') return this.lossColour(metric.unit === 'ratio' && value > 0 ? value : 0.1);
    if (this.theme.states[name]) return rgbOf(this.theme.states[name]);
    if (name !== 'ok' || Number.isNaN(value)) return rgbOf(this.theme.none);
    if (metric.unit === 'ratio') return value > 0 ? this.lossColour(value) : rgbOf(this.theme.noLoss);
    return this.data[Math.round(255 * Math.min(1, Math.max(0, position)))];
  }

  // The scale is logarithmic, so that small losses differ: 1 % is a third of the way, 10 % two
  // thirds.
  private lossColour(ratio: number): Rgb {
    const at = 1 + Math.log10(Math.max(ratio, 0.001)) / 3;
    return this.loss[Math.round(255 * Math.min(1, at))];
  }
}

export function css(rgb: Rgb): string {
  return `rgb(${rgb[0]} ${rgb[1]} ${rgb[2]})`;
}

// Returns black or white, whichever reads better on the colour.
export function inkOn(rgb: Rgb): string {
  const [r, g, b] = rgb.map((part) => (part / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.22 ? '#0c1116' : '#f4f7f9';
}

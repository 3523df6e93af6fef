// The colours of cells. The palette of the data is mako, which is perceptually uniform and readable
// with any kind of colour blindness: the further a colour is from the page's background, the slower
// the pair. Each class has a mark (marks.ts) besides its colour, so none depends on its colour
// alone; web/test/palette.test.ts has how far apart the colours are for colour-blind people.

import { isChange, type Metric, NO_CHANGE, valueOf } from './metrics';
import { type Class, CLASSES } from './severity';

export type Rgb = number[];

const MAKO = ['#2e1e3c', '#413d7b', '#37659e', '#348fa7', '#40b7ad', '#8bdab2', '#def5e5'];
// A change: shorter or less on the left, longer or more on the right, none in the middle.
const CHANGE_DARK = ['#3fb6ff', '#2b6ea3', '#39424d', '#b06a1f', '#ffb03a'];
const CHANGE_LIGHT = ['#0b63b5', '#7db4e3', '#e9ecef', '#e8a35c', '#b34d00'];
const MUTED = 5; // the part of the data's palette without its extreme end
// Shares of loss, where the thresholds grade them.
const LOSS_DARK = ['#7a2430', '#b3303f', '#e0434f', '#ff7a72'];
const LOSS_LIGHT = ['#f6b3ab', '#ea7a74', '#d13c47', '#97122b'];

export interface Theme {
  data: string[];
  loss: string[];
  change: string[];
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

export const THEMES: Record<'dark' | 'light', Theme> = {
  dark: {
    data: MAKO,
    loss: LOSS_DARK,
    change: CHANGE_DARK,
    none: '#353e4a', // pairs without this measurement
    noLoss: '#20343a',
    states: {
      down: '#ff55e0', lossy: '#e51b5a', 'very slow': '#e26e00', slow: '#f6d881', unjudged: '#83847a',
      unreachable: '#792fd0', refused: '#a0580e', 'agent-down': '#6d5833',
      stale: '#44402f', misfit: '#101858', anomalous: '#c8ab46', pending: '#272e37',
    },
    mark: '#ffffff', quietMark: '#7d8894',
    ink: '#e4e9ee', quietInk: '#8b96a3', page: '#12161b', focus: '#ffffff', band: '#ffffff14',
  },
  light: {
    data: [...MAKO].reverse(),
    loss: LOSS_LIGHT,
    change: CHANGE_LIGHT,
    none: '#e4e7ea',
    noLoss: '#e2f0ec',
    states: {
      down: '#ef52dd', lossy: '#d53a46', 'very slow': '#c65708', slow: '#c8a32b', unjudged: '#95897b',
      unreachable: '#8041d1', refused: '#eaa060', 'agent-down': '#59504f',
      stale: '#c5c3aa', misfit: '#b9d0c8', anomalous: '#f0d14f', pending: '#f1f3f4',
    },
    mark: '#14181d', quietMark: '#8a939c',
    ink: '#1c2329', quietInk: '#66717c', page: '#ffffff', focus: '#000000', band: '#0000000f',
  },
};

export function rgbOf(hex: string): Rgb {
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

  // The colours of the data run from the code `low` to the code `high`. `judged`: a pair that is ok
  // must not outshine one that is not, however slow it is for an ok one.
  constructor(dark: boolean, metric: Metric, low: number, high: number, judged = false) {
    this.theme = dark ? THEMES.dark : THEMES.light;
    this.data = ramp(isChange(metric) ? this.theme.change : judged ? this.theme.data.slice(0, MUTED) : this.theme.data);
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
    if (name === 'loss') return metric.unit === 'ratio' && value > 0 ? this.lossColour(value) : rgbOf(this.theme.states.lossy);
    if (this.theme.states[name]) return rgbOf(this.theme.states[name]);
    if (name !== 'ok' || Number.isNaN(value)) return rgbOf(this.theme.none);
    if (isChange(metric)) return this.data[changeStep(code)];
    if (metric.unit === 'ratio') return value > 0 ? this.data[shareStep(value)] : rgbOf(this.theme.noLoss);
    return this.data[Math.round(255 * Math.min(1, Math.max(0, position)))];
  }

  private lossColour(ratio: number): Rgb {
    return this.loss[shareStep(ratio)];
  }
}

// A factor of ten, or 33 percentage points, has the full colour.
const FULL_CHANGE = 42;

function changeStep(code: number): number {
  return Math.round(127.5 * (1 + Math.max(-1, Math.min(1, (code - NO_CHANGE) / FULL_CHANGE))));
}

// The scale is logarithmic, so that small shares differ: 1 % is a third of the way, 10 % two
// thirds.
function shareStep(ratio: number): number {
  const at = 1 + Math.log10(Math.max(ratio, 0.001)) / 3;
  return Math.round(255 * Math.min(1, at));
}

export function css(rgb: Rgb): string {
  return `rgb(${rgb[0]} ${rgb[1]} ${rgb[2]})`;
}

// Returns black or white, whichever reads better on the colour.
export function inkOn(rgb: Rgb): string {
  const [r, g, b] = rgb.map((part) => (part / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.22 ? '#0c1116' : '#f4f7f9';
}

// The colours of the classes as colour-blind people see them: simulated by the matrices of Machado,
// Oliveira and Fernandes (2009) at full severity, and compared in CIELAB.

import { describe, expect, it } from 'vitest';
import { METRICS, metricNamed } from '../src/metrics';
import { Palette, type Rgb } from '../src/palette';
import { CLASSES, type Class } from '../src/severity';

const LEAST = 15;
const VISIONS: Record<string, number[][]> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
};

function linear(part: number): number {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function labOf(colour: Rgb, vision: number[][]): number[] {
  const light = colour.map(linear);
  const [r, g, b] = vision.map((line) => Math.min(1, Math.max(0, line.reduce((sum, factor, at) => sum + factor * light[at], 0))));
  const [x, y, z] = [(0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047, 0.2126729 * r + 0.7151522 * g + 0.072175 * b,
    (0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883].map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const distance = (one: Rgb, other: Rgb, vision: number[][]) => {
  const [a, b] = [labOf(one, vision), labOf(other, vision)];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
};

// An operator acts on these classes.
const LOUD: Class[] = ['down', 'lossy', 'very slow', 'slow', 'unjudged', 'unreachable', 'refused', 'agent-down'];
// These are meant to recede; they have to differ from the loud ones only.
const QUIET: Class[] = ['stale', 'misfit', 'anomalous', 'pending', 'not measured'];

describe.each([['dark', true], ['light', false]] as const)('the %s palette', (_, dark) => {
  for (const [name, vision] of Object.entries(VISIONS)) {
    it(`keeps the classes apart, ${name}`, () => {
      for (const [metric, judged] of [[METRICS[0], true], [METRICS[0], false], [metricNamed('loss'), true]] as const) {
        const palette = new Palette(dark, metric, 1, 255, judged);
        const colour = (of: Class, code = 0) => palette.of((CLASSES.indexOf(of) << 8) | code);
        const ok = Array.from({ length: 255 }, (__, at) => colour('ok', at + 1));
        LOUD.forEach((loud, at) => {
          const others = [...LOUD.slice(at + 1), ...QUIET].map((other): [string, Rgb] => [other, colour(other)]);
          for (const [other, of] of [...others, ...ok.map((each, code): [string, Rgb] => [`ok ${code + 1}`, each])]) {
            expect(distance(colour(loud), of, vision), `${loud} and ${other}`).toBeGreaterThanOrEqual(LEAST);
          }
        });
      }
    });
  }
});

import { describe, expect, it } from 'vitest';
import { humanCode, METRICS } from '../src/metrics';
import { Model, type Probe } from '../src/model';
import { gridOf } from '../src/past';

const STATES = ['ok', 'loss', 'unreachable', 'refused', 'agent-down', 'pending', 'stale', 'anomalous', 'misfit'];
const SEVERITIES = ['none', 'ok', 'slow', 'very slow', 'lossy', 'down'];
const PROBE: Probe = { name: 'mesh', protocol: 'udp', paths: 1, interval_ns: 1, timeout_ns: 1, window_ns: 1, thresholds: {},
  sources: ['10.0.0.1', '10.0.0.2'], destinations: ['10.0.0.1', '10.0.0.2'] };

// The rows of a mesh of two hosts: one at 4.2 us, as in docs/http-api.md, and one without a window.
const ANSWER = `05 01 00 00  03 00 00 00  00 00 00 00  00 00 00 00
  00 00 71 70 c1 1f 7a 42  00 00 00 00  00 00 00 00  ff 00  00 35
  00 00 00 00 00 00 f8 7f  01 00 00 00  00 00 00 00  06 ff  00 00`;

function answer(): Uint8Array {
  return new Uint8Array(ANSWER.trim().split(/\s+/).map((hex) => parseInt(hex, 16)));
}

function modelOf(generation: number): Model {
  const model = new Model();
  model.setPlan({ type: 'plan', version: 5, epoch: '1', generation, states: STATES, severities: SEVERITIES, probes: [PROBE], names: {}, labels: {} });
  return model;
}

describe('a past grid', () => {
  it('is like a live grid', () => {
    const model = modelOf(2 ** 32 + 3); // the answer has the low 32 bits
    const grid = gridOf(answer().buffer as ArrayBuffer, model, model.grids[0]);
    expect(grid).not.toBe(model.grids[0]);
    expect(grid.windowEnd).toBe(new DataView(answer().buffer).getFloat64(16, true));
    expect([grid.stateName(1), humanCode(METRICS[0], grid.values[1])]).toEqual(['ok', '4.3 µs']);
    expect(grid.stateName(2)).toBe('stale');
    expect([grid.isPair(0), grid.isPair(3)]).toEqual([false, false]);
    expect(grid.pairs()).toBe(2);
  });
  it('is refused where the page has another plan', () => {
    const model = modelOf(4);
    expect(() => gridOf(answer().buffer as ArrayBuffer, model, model.grids[0])).toThrow('pinglist has just changed');
    const [same, other] = [modelOf(3), modelOf(3)];
    expect(() => gridOf(answer().buffer as ArrayBuffer, same, other.grids[0])).toThrow('pinglist has just changed');
    expect(() => gridOf(answer().slice(0, 15).buffer as ArrayBuffer, same, same.grids[0])).toThrow('another version');
  });
});

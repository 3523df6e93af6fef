import { describe, expect, it } from 'vitest';
import { METRICS } from '../src/model';
import { Scale } from '../src/scale';

describe('the scale', () => {
  it('stays within 0 and 1, from quick to slow', () => {
    const scale = Scale.of(METRICS[0], new Float32Array([4000, 9000, 30_000]));
    expect(scale.position(1)).toBe(0);
    expect(scale.position(1e12)).toBe(1);
    expect(scale.position(9000)).toBeGreaterThan(scale.position(4000));
  });
  it('is not stretched by one slow pair of many', () => {
    const values = new Float32Array(1000).fill(5000);
    values[0] = 1e9;
    expect(Scale.of(METRICS[0], values).high).toBeLessThan(1e6);
  });
});

import { describe, expect, it } from 'vitest';
import { formatView, parseView } from '../src/view';

describe('the view in the URL', () => {
  it('comes back as it went', () => {
    const view = { probe: 'a b&c=<d>', metric: 'loss' };
    expect(parseView(formatView(view))).toEqual(view);
  });
  it('has defaults for what is missing', () => {
    expect(parseView('')).toEqual({ probe: null, metric: 'network_p50' });
  });
});

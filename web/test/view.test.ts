import { describe, expect, it } from 'vitest';
import { DEFAULT, formatView, parseView, type View } from '../src/view';

describe('the view in the URL', () => {
  it('survives a round trip', () => {
    const view: View = { page: 'pair', probe: 'a b&c=<d>', metric: 'loss', order: 'rack #1', warn: '', crit: '50us',
      sight: { zoom: 3.5, row: 12.5, column: 99 }, held: ['10.0.0.1', 'fd00::9'], host: '"><script>', filter: 'gpu', only: 'very slow', sort: 'source',
      time: Date.UTC(2026, 10, 21, 3, 12), path: 3, incident: '17', severity: 'very slow', kind: 'host', span: '24h', worst: '24h', against: '1h', roll: 'on', axis: 'log' };
    expect(parseView(formatView(view))).toEqual(view);
  });
  it('has defaults for missing and malformed fields', () => {
    expect(parseView('')).toEqual(DEFAULT);
    expect(parseView('#page=nonsense&at=1,2,x&from=alone&path=-1&worst=2h&against=soon&roll=x&axis=y')).toEqual(DEFAULT);
  });
});

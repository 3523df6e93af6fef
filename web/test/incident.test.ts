import { describe, expect, it } from 'vitest';
import { allClear, factsOf, hostsOf, type Incident, isWanted, metricOf, NO_VERDICT, together } from '../src/incident';
import { inText } from '../src/format';

const NOW = Date.parse('2026-11-24T04:00:00.000Z');
const incident = (change: Partial<Incident> = {}): Incident => ({ id: '1', kind: 'host', culprit: 'gpu-3', severity: 'slow', figure: 'network',
  opened: '2026-11-24T03:48:00.000Z', updated: '2026-11-24T03:48:00.000Z', closed: null, flaps: 0, probes: ['udp'], pairs: { bad: 46, judged: 1046 },
  sentence: 'gpu-3 is slow', candidates: [], tell: null, labels: { rack: 'r7' }, acknowledged: null, silenced_by: null, evidence: [],
  history: [], ...change });

describe('incidents', () => {
  it('are put together once each, the open ones first and then the newest', () => {
    const closed = (id: string, opened: string) => incident({ id, opened, closed: '2026-11-24T03:59:00.000Z' });
    const open = incident({ id: '5' });
    const all = together([open, incident({ id: '4', severity: 'down' })], [closed('3', '2026-11-23T00:00:00.000Z')],
      [closed('5', open.opened), closed('2', '2026-11-24T00:00:00.000Z'), closed('3', '2026-11-23T00:00:00.000Z')]);
    expect(all.map(({ id }) => id)).toEqual(['5', '4', '2', '3']);
    expect(all[0].closed).toBeNull();
  });
  it('are wanted by severity, kind and text', () => {
    const wanted = (severity: string, kind: string, text: string) => isWanted(incident(), { severity, kind, text });
    expect([wanted('', '', ''), wanted('slow', 'host', 'GPU-3'), wanted('', '', 'r7'), wanted('', '', 'udp')]).toEqual([true, true, true, true]);
    expect([wanted('down', '', ''), wanted('', 'pair', ''), wanted('', '', 'gpu-4')]).toEqual([false, false, false]);
  });
  it('say since when, how much, and whether they come back', () => {
    expect(factsOf(incident(), NOW)).toBe('since 03:48:00 UTC (12 min) · network · 46 of 1,046 pairs · udp');
    expect(factsOf(incident({ opened: '2026-11-23T03:00:00.000Z', closed: '2026-11-23T04:00:00.000Z', flaps: 2 }), NOW))
      .toBe('11-23 03:00:00 UTC, for 60 min · network · 46 of 1,046 pairs · udp · opened again 2 times');
  });
  it('name hosts', () => {
    expect(hostsOf({ kind: 'host-cpu', culprit: 'gpu-3' })).toEqual(['gpu-3']);
    expect(hostsOf({ kind: 'address-send', culprit: 'gpu-7/rail0' })).toEqual(['gpu-7']);
    expect(hostsOf({ kind: 'pair', culprit: 'gpu-1 -> gpu-2' })).toEqual(['gpu-1', 'gpu-2']);
    expect(hostsOf({ kind: 'group', culprit: 'rack=r1' })).toEqual([]);
  });
  it('lead to the figure that accuses', () => {
    expect(['network', 'loss', 'jitter', 'prober'].map(metricOf)).toEqual(['network_p50', 'loss', 'jitter', 'prober_p50']);
  });
  it('are absent only where something is judged', () => {
    expect(allClear(NO_VERDICT, NOW)).toBe('nothing is judged yet');
    expect(allClear({ ...NO_VERDICT, judged_pairs: 4032, oldest_window: '2026-11-24T03:59:48.000Z' }, NOW))
      .toBe('no suspects; 4,032 pairs judged, oldest window 12 s');
  });
});

describe('text', () => {
  it('shows the characters that reorder it', () => {
    expect(inText('a\u202eb\u2066c')).toBe('a\\u202eb\\u2066c');
  });
});

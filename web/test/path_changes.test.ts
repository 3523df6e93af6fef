import { describe, expect, it } from 'vitest';
import { flowsOf, type PathChange, pathMarksOf, sidesOfPath } from '../src/path_changes';

const CHANGE: PathChange = {
  at: '2026-11-21T03:12:12.500Z',
  probe: 'rdma',
  flows: 1,
  of: '10.0.0.1',
  of_name: 'gpu-001',
  source: '10.0.0.1',
  source_name: 'gpu-001',
  destination: '10.0.0.2',
  destination_name: 'gpu-002',
  path: 3,
  hop: 2,
  before: [{ router: '10.1.0.1' }, { router: '10.2.0.1', name: 'spine1' }],
  after: [{ router: '10.1.0.1' }, { router: null }]
};
const at = (second: number) => Date.UTC(2026, 10, 21, 3, 12, second);

describe('a change of paths', () => {
  it('says where the flow went before and after', () => {
    expect(sidesOfPath(CHANGE)).toEqual(['spine1', '?']);
    expect(sidesOfPath({ ...CHANGE, after: [{ router: '10.1.0.1' }] })).toEqual(['spine1', 'the end']);
    expect(sidesOfPath({ ...CHANGE, hop: 1 })).toEqual(['10.1.0.1', '10.1.0.1']);
  });
  it('names its flow, or counts them', () => {
    expect(flowsOf(CHANGE)).toBe('gpu-001 → gpu-002, path 3');
    expect(flowsOf({ ...CHANGE, path: 0 })).toBe('gpu-001 → gpu-002');
    expect(flowsOf({ ...CHANGE, flows: 1200 }))
        .toBe('1,200 flows from gpu-001, such as gpu-001 → gpu-002, path 3');
    expect(flowsOf({ ...CHANGE, flows: 7, of: null, of_name: null }))
        .toBe('7 flows, such as gpu-001 → gpu-002, path 3');
  });
  it('is a mark on the timeline, together with those beside it', () => {
    const later = { ...CHANGE, at: '2026-11-21T03:12:12.600Z', flows: 40 };
    expect(pathMarksOf([CHANGE, later], at(10), at(20), 10)).toEqual([
      { place: 0.25, time: at(12) + 500, title: '03:12:12 UTC: 41 flows take another path' }
    ]);
    expect(pathMarksOf([CHANGE], at(20), at(30), 10)).toEqual([]);
    expect(pathMarksOf([CHANGE], at(10), at(10), 10)).toEqual([]);
  });
});

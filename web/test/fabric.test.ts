import { expect, test } from 'vitest';
import { draw, type Fabric, flowsPath, halfLine, isSame, summaryOf, titleOf, WIDTH } from '../src/fabric';
import { endOf, firstChange, type Trace, wordsOf } from '../src/hops';

const node = (name: string, tier: number) => ({ name, tier, named: true, addresses: [], incident: null });
const FABRIC: Fabric = { paths: 1, merged: true, switches: [node('leaf0', 1), node('leaf1', 1), node('spine0', 2)],
  links: [{ from: 'leaf0', to: 'spine0', flows: 40, incident: null }, { from: 'spine0', to: 'leaf0', flows: 2, incident: null }] };

test('tiers stand beside each other, and their switches above each other', () => {
  const { spots, height } = draw(FABRIC.switches);
  const [a, b, c] = ['leaf0', 'leaf1', 'spine0'].map((name) => spots.get(name)!);
  expect(a.x).toBe(b.x);
  expect(a.x).toBeLessThan(c.x);
  expect(c.x).toBeLessThan(WIDTH);
  expect(a.y).toBeLessThan(b.y);
  expect(c.y).toBe(height / 2);
});

test('one tier stands in the middle, and no switch needs no room', () => {
  expect(draw([node('leaf0', 1)]).spots.get('leaf0')!.x).toBe(WIDTH / 2);
  expect(draw([]).height).toBeGreaterThan(0);
});

test('each direction has its half of the line', () => {
  const drawing = draw(FABRIC.switches);
  const [up, down] = FABRIC.links.map((link) => halfLine(drawing, link)!);
  expect(up[0]).toEqual(drawing.spots.get('leaf0'));
  expect(down[0]).toEqual(drawing.spots.get('spine0'));
  expect(up[1]).toEqual(down[1]);
  expect(halfLine(drawing, { from: 'leaf0', to: 'nothing', flows: 1, incident: null })).toBeNull();
});

test('the flows of a switch and of a link are asked for by their names', () => {
  expect(flowsPath({ from: 'spine 1', to: 'spine 1' })).toBe('api/v1/fabric/flows?switch=spine+1');
  expect(flowsPath({ from: 'leaf0', to: 'spine&1' })).toBe('api/v1/fabric/flows?from=leaf0&to=spine%261');
  expect(titleOf({ from: 'leaf0', to: 'leaf0' })).toBe('leaf0');
  expect(titleOf({ from: 'leaf0', to: 'spine1' })).toBe('leaf0 → spine1');
  expect(isSame(null, { from: 'a', to: 'b' })).toBe(false);
  expect(isSame({ from: 'a', to: 'b' }, { from: 'a', to: 'b' })).toBe(true);
});

test('the summary counts what is known and names thin coverage', () => {
  expect(summaryOf(FABRIC)).toBe('3 switches, 2 link directions, 1 traced flow, 1 with fewer than 3 flows');
});

const trace = (...routers: (string | null)[]): Trace => ({ state: 'traced', end: 'reached', traced: '', hops: routers.map((router) => ({ router })) });

test('a trace is told in words', () => {
  expect(wordsOf(trace('10.0.0.1', null))).toBe('10.0.0.1, ?');
  expect(wordsOf(trace())).toBe('no router');
  expect(wordsOf({ ...trace('10.0.0.1'), hops: [{ router: '10.0.0.1', name: 'leaf0' }] })).toBe('leaf0');
  expect(endOf(trace('a'))).toBe('');
  expect(endOf({ ...trace('a'), end: 'silent' })).toBe('nobody answered behind it');
});

test('the first changed hop is found', () => {
  expect(firstChange(trace('a', 'b', 'c'), trace('a', 'x', 'c'))).toBe(1);
  expect(firstChange(trace('a', 'b'), trace('a', 'b', 'c'))).toBe(2);
  expect(firstChange(trace('a'), trace('a'))).toBe(-1);
  expect(firstChange(trace('a'), undefined)).toBe(-1);
});

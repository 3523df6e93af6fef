import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Grid, type Probe } from '../src/model';
import { NOT_A_PAIR } from '../src/states';

const reconnect = vi.hoisted(() => vi.fn());
vi.mock('../src/store', () => ({ live: { reconnect } }));
let status: typeof import('../src/status');
beforeAll(async () => { status = await import('../src/status'); });

const json = (code: number, body: unknown) => new Response(JSON.stringify(body), { status: code });
const HEALTHY = { not_ready: [], pinglist: { path: 'p', error: null }, history: { error: null } };

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  reconnect.mockClear();
});

async function poll(...answers: (Response | Error)[]) {
  const fetched = vi.fn();
  for (const answer of answers) {
    if (answer instanceof Error) fetched.mockRejectedValueOnce(answer);
    else fetched.mockResolvedValueOnce(answer);
  }
  vi.stubGlobal('fetch', fetched);
  await status.pollStatus();
  expect(vi.getTimerCount()).toBe(1); // the next poll is due
  vi.clearAllTimers();
}

describe('polling the controller', () => {
  it('keeps the live connection while the controller answers', async () => {
    await poll(json(200, HEALTHY), json(200, { probes: [{ name: 'tcp', states: { ok: 4 } }] }));
    expect(status.countsOfAll(undefined)).toEqual({ ok: 4 });
    expect(status.probeStates.value).toEqual({ tcp: { ok: 4 } });
    expect(reconnect).not.toHaveBeenCalled();
  });
  it('takes the counts of the shown probe from the live connection', async () => {
    await poll(json(200, HEALTHY), json(200, { probes: [{ name: 'udp', states: { ok: 2 } }, { name: 'tcp', states: { ok: 3, loss: 1 } }] }));
    const probe = { name: 'udp', sources: ['a', 'b'], destinations: ['a', 'b'] } as unknown as Probe;
    const grid = new Grid(probe, ['loss', 'ok']);
    expect(status.countsOfAll(grid)).toEqual({ ok: 5, loss: 1 }); // no rows have arrived yet
    grid.setRow(0, Uint8Array.of(NOT_A_PAIR, 0), Uint8Array.of(0, 0), 0);
    grid.setRow(1, Uint8Array.of(1, NOT_A_PAIR), Uint8Array.of(7, 0), 0);
    expect(status.countsOfAll(grid)).toEqual({ ok: 4, loss: 2 });
  });
  it('keeps the live connection when the controller is busy', async () => {
    await poll(json(503, { error: { reason: 'busy' } }));
    await poll(json(200, HEALTHY), json(429, { error: { reason: 'too many requests' } }));
    await poll(new Response('<html>', { status: 502 }));
    expect(reconnect).not.toHaveBeenCalled();
  });
  it('reconnects when nothing answers', async () => {
    await poll(new TypeError('Failed to fetch'));
    await poll(json(200, HEALTHY), new DOMException('timed out', 'TimeoutError'));
    expect(reconnect).toHaveBeenCalledTimes(2);
  });
  it('throws the reason of a refusal', async () => {
    vi.stubGlobal('fetch', vi.fn().mockResolvedValueOnce(json(503, { error: { reason: 'busy' } }))
      .mockResolvedValueOnce(new Response('<html>', { status: 502 })));
    await expect(status.fetchJson('x')).rejects.toThrow('busy');
    await expect(status.fetchJson('x')).rejects.toThrow('HTTP 502');
  });
});

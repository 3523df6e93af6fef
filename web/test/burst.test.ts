import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Burst, fateOf, followBurst, percentile, pingsOf, startBurst, summaryOf } from '../src/burst';

const burst = (change: Partial<Burst> = {}): Burst => ({ id: 'ab', state: 'running', reason: null, path: 0, count: 4, pings: [
  { sequence: 1, result: 'received', network_ns: 4000, rtt_ns: 9000 },
  { sequence: 3, result: 'lost', late: true }], ...change });

const answers = (...bodies: [number, unknown][]) => {
  const fetched = vi.fn(async (_path: string, _options?: RequestInit) => {
    const [status, body] = bodies.length > 1 ? bodies.shift()! : bodies[0];
    return new Response(JSON.stringify(body), { status });
  });
  vi.stubGlobal('fetch', fetched);
  return fetched;
};

afterEach(() => { vi.unstubAllGlobals(); });

describe('a burst', () => {
  it('shows every ping that was ordered', () => {
    expect(pingsOf(burst()).map((ping) => ping?.result ?? null)).toEqual(['received', null, 'lost', null]);
    expect(pingsOf(burst({ pings: [{ sequence: 99, result: 'lost' }] }))).toEqual([null, null, null, null]);
  });
  it('says what became of a ping', () => {
    expect(pingsOf(burst()).map(fateOf)).toEqual(['received', 'waiting', 'lost (answered too late)', 'waiting']);
    expect(fateOf({ sequence: 1, result: 'received', anomalous: 'no_timestamp', ack_lost: true }))
      .toBe('received (no timestamp, its ACK was lost)');
    expect(fateOf({ sequence: 1, result: 'not_sent' })).toBe('not sent');
  });
  it('is summed up', () => {
    expect(summaryOf(burst())).toBe('1 of 4 received, 2 waiting, 1 lost; network p50 4.00 µs, p99 4.00 µs');
    expect(summaryOf(burst({ state: 'failed', pings: [] }))).toBe('0 of 4 received, 4 unknown');
    expect(summaryOf(burst({ state: 'done', count: 1 }))).toBe('1 of 1 received; network p50 4.00 µs, p99 4.00 µs');
  });
  it('has percentiles by nearest rank', () => {
    const values = [5, 1, 4, 2, 3];
    expect([percentile(values, 0.5), percentile(values, 0.99), percentile(values, 0), percentile([], 0.5)])
      .toEqual([3, 5, 1, null]);
  });
});

describe('starting a burst', () => {
  it('posts JSON and gives its id', async () => {
    const fetched = answers([202, { id: '00ab' }]);
    const order = { probe: 'udp', source: '10.0.0.1', destination: '10.0.0.2', count: 20 };
    expect(await startBurst(order, new AbortController().signal)).toBe('00ab');
    const [path, options] = fetched.mock.calls[0];
    expect([path, options!.method, JSON.parse(options!.body as string)]).toEqual(['api/v1/bursts', 'POST', order]);
    expect((options!.headers as Record<string, string>)['Content-Type']).toBe('application/json');
  });
  it('throws the reason of a refusal', async () => {
    answers([429, { error: { reason: 'agent a is busy with another burst' } }]);
    const order = { probe: 'udp', source: 'a', destination: 'b', count: 1 };
    await expect(startBurst(order, new AbortController().signal)).rejects.toThrow('busy');
  });
});

describe('following a burst', () => {
  it('shows the results until the burst is over, even if a poll fails', async () => {
    answers([200, burst()], [502, {}], [200, burst({ state: 'done' })]);
    const seen: string[] = [];
    await followBurst('ab', ({ state }) => { seen.push(state); }, new AbortController().signal, 1);
    expect(seen).toEqual(['running', 'done']);
  });
  it('gives up when the controller stays away', async () => {
    const fetched = answers([502, {}]);
    await expect(followBurst('ab', () => {}, new AbortController().signal, 1)).rejects.toThrow('HTTP 502');
    expect(fetched).toHaveBeenCalledTimes(8);
  });
  it('stops when the page is left', async () => {
    const fetched = answers([200, burst()]);
    const abort = new AbortController();
    await followBurst('ab', () => { abort.abort(); }, abort.signal, 1);
    expect(fetched).toHaveBeenCalledTimes(1);
  });
});

import { afterEach, describe, expect, it, vi } from 'vitest';
import { session } from '../src/session';
import { ask, Fault } from '../src/telemetry_ask';
import { MOST_ENTRIES, MOST_LINES, NO_LINES, withAnswer } from '../src/telemetry_lines';
import { formatChosen, listOf, parseChosen } from '../src/telemetry_view';

describe('what is chosen', () => {
  it('survives in the URL, also with characters that URLs use themselves', () => {
    const chosen = { table: 'latest', key: 'text:a&b#c%20+ü', counts: 'votes', keys: 'text:x, hex:00ff', tail: 'events', list: 3 };
    expect(parseChosen(formatChosen(chosen))).toEqual(chosen);
  });
  it('leaves out what is not chosen', () => {
    expect(formatChosen(parseChosen(''))).toBe('#');
    expect(formatChosen(parseChosen('#key=u32:1&other=2'))).toBe('#key=u32%3A1');
  });
  it('takes only numbers of lists', () => {
    expect(['0', '7', '65535', '65536', '-1', '1.5', 'x', ''].map(listOf)).toEqual([0, 7, 65535, 0, 0, 0, 0, 0]);
  });
});

describe('the lines of a list', () => {
  const answer = (count: number, lost = 0, from = 0) => ({ lost, cursor: `after ${from + count}`,
    entries: Array.from({ length: count }, (_, at) => ({ translator: 't', entry: String(from + at) })) });
  it('have the newest first, and unique numbers', () => {
    const lines = withAnswer(withAnswer(NO_LINES, answer(2), 5), answer(1, 0, 2), 6);
    expect(lines.lines.map(({ entry, number, seen }) => [entry, number, seen])).toEqual([['2', 2, 6], ['1', 1, 5], ['0', 0, 5]]);
    expect(lines).toMatchObject({ entries: 3, lost: 0, skips: 0, cursor: 'after 3' });
  });
  it('are bounded, and all that arrived are counted', () => {
    const lines = withAnswer(withAnswer(NO_LINES, answer(400), 5), answer(400, 7, 400), 6);
    expect(lines.lines.length).toBe(MOST_LINES);
    expect([lines.lines[0].entry, lines.lines[MOST_LINES - 1].entry]).toEqual(['799', '300']);
    expect(lines).toMatchObject({ entries: 800, lost: 7 });
  });
  it('go on with the newest where more arrive than are read', () => {
    const lines = withAnswer(NO_LINES, answer(MOST_ENTRIES), 5);
    expect(lines).toMatchObject({ cursor: 'end', skips: 1 });
    expect(withAnswer(lines, answer(1), 6)).toMatchObject({ cursor: 'after 1', skips: 1 });
  });
});

describe('a question', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    session.value = null;
  });
  const answers = (answer: Response | Error) => {
    const fetched = vi.fn();
    if (answer instanceof Error) fetched.mockRejectedValueOnce(answer);
    else fetched.mockResolvedValueOnce(answer);
    vi.stubGlobal('fetch', fetched);
    return fetched;
  };
  const refusal = (status: number) => new Response(JSON.stringify({ error: { reason: 'because' } }), { status });
  it('has its parameters encoded', async () => {
    const fetched = answers(new Response('{"count":1}'));
    expect(await ask('count', { table: 't', key: 'text:a&b' })).toEqual({ count: 1 });
    expect(fetched.mock.calls[0][0]).toBe('api/v1/dta/count?table=t&key=text%3Aa%26b');
  });
  it('without an answer says why in words', async () => {
    for (const [answer, words] of [[refusal(403), /may not do this: because/], [refusal(404), /Not found: because/], [refusal(503), /busy: because/],
      [refusal(400), /refuses: because/], [new Response('x', { status: 502 }), /HTTP 502/], [new Error('away'), /does not answer/]] as const) {
      answers(answer);
      await expect(ask('get')).rejects.toThrow(words);
    }
    answers(new Error('away'));
    expect(await ask('get').catch((fault: Fault) => fault.gone)).toBe(true);
    answers(refusal(503));
    expect(await ask('get').catch((fault: Fault) => fault.gone)).toBe(false);
  });
  it('that is answered 401 ends the session', async () => {
    session.value = { role: 'read', tokens: true };
    answers(refusal(401));
    await expect(ask('get')).rejects.toThrow('sign in again');
    expect(session.value).toEqual({ role: null, tokens: true });
  });
  it('can be stopped', async () => {
    vi.stubGlobal('fetch', (_: string, { signal }: { signal: AbortSignal }) => new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    }));
    const stop = new AbortController();
    const asked = ask('tail', {}, 10_000, stop.signal);
    stop.abort();
    await expect(asked).rejects.toThrow('does not answer');
  });
});

import { afterEach, describe, expect, it, vi } from 'vitest';
import { askSession, ended, session, signIn, whyNotOperate } from '../src/session';

const answers = (...all: (object | Error)[]) => {
  const fetched = vi.fn();
  for (const answer of all) {
    if (answer instanceof Error) fetched.mockRejectedValueOnce(answer);
    else fetched.mockResolvedValueOnce(answer);
  }
  vi.stubGlobal('fetch', fetched);
  return fetched;
};
const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

afterEach(() => {
  vi.unstubAllGlobals();
  session.value = null;
});

describe('the session', () => {
  it('is asked for until the controller answers', async () => {
    const fetched = answers(new Error('away'), json(503, {}), json(200, { role: 'read', tokens: true }));
    expect(await askSession(0)).toEqual({ role: 'read', tokens: true });
    expect(fetched).toHaveBeenCalledTimes(3);
    expect(session.value?.role).toBe('read');
  });
  it('has no role after an answer of 401', () => {
    ended();
    expect(session.value).toBeNull();
    session.value = { role: 'operate', tokens: true };
    ended();
    expect(session.value).toEqual({ role: null, tokens: true });
  });
  it('may not send bursts with the role read', () => {
    expect(whyNotOperate({ role: 'read', tokens: true })).toContain('operate');
    expect(whyNotOperate({ role: 'operate', tokens: true })).toBe('');
    expect(whyNotOperate({ role: 'operate', tokens: false })).toBe('');
  });
});

describe('signing in', () => {
  it('sends the token once', async () => {
    const fetched = answers(json(200, { role: 'read', tokens: true }));
    await signIn('secret');
    expect(fetched.mock.calls[0][1]).toMatchObject({ method: 'POST', body: '{"token":"secret"}' });
  });
  it('throws the reason of a refusal', async () => {
    answers(json(401, { error: { reason: 'this token is not known here' } }), new Response('no', { status: 502 }));
    await expect(signIn('x')).rejects.toThrow('not known');
    await expect(signIn('x')).rejects.toThrow('HTTP 502');
  });
});

// The browser's session, where the server (a controller or a collector) requires tokens. The page sends the token once;
// afterwards a cookie that no script can read stands for it.

import { signal } from '@preact/signals';

export type Role = 'read' | 'collect' | 'operate';
export interface Session { role: Role | null; tokens: boolean } // null: not signed in; tokens: the controller requires them

const PATH = 'api/v1/session';
const RETRY = 2000; // milliseconds
const PATIENCE = 4000;

export const session = signal<Session | null>(null); // null: not known yet

const pause = (milliseconds: number) => new Promise((done) => { setTimeout(done, milliseconds); });

// Asks until the controller answers.
export async function askSession(every = RETRY): Promise<Session> {
  for (;;) {
    try {
      const answer = await fetch(PATH, { signal: AbortSignal.timeout(PATIENCE) });
      if (answer.ok) {
        session.value = await answer.json() as Session;
        return session.value;
      }
    } catch {
      // The controller cannot be reached; the next attempt follows.
    }
    await pause(every);
  }
}

// Throws an error with the controller's reason where the sign-in fails.
export async function signIn(token: string): Promise<void> {
  const answer = await fetch(PATH, { method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }), signal: AbortSignal.timeout(PATIENCE) });
  if (answer.ok) return;
  const body = await answer.json().catch(() => ({}));
  throw new Error(body.error?.reason ?? `HTTP ${answer.status}`);
}

export async function signOut(): Promise<void> {
  await fetch(PATH, { method: 'DELETE', signal: AbortSignal.timeout(PATIENCE) });
}

// Handles an answer of 401: the session has ended, or its token was removed.
export function ended() {
  if (session.value) session.value = { ...session.value, role: null };
}

// Returns why the session may not do something; '' where it may.
export function whyNotOperate(who: Session | null, what = 'a burst'): string {
  return who?.role === 'read' || who?.role === 'collect' ? `Your token may only read; ${what} needs a token with the role operate.` : '';
}

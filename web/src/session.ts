// Who looks at this page, where the controller wants tokens. The token itself is handed over once: a cookie that no script
// sees stands for it from then on.

import { signal } from '@preact/signals';

export type Role = 'read' | 'operate';
export interface Session { role: Role | null; tokens: boolean } // null: nobody yet; tokens: whether they are wanted

const PATH = 'api/v1/session';
const RETRY = 2000; // milliseconds
const PATIENCE = 4000;

export const session = signal<Session | null>(null); // null: not known yet

const pause = (milliseconds: number) => new Promise((done) => { setTimeout(done, milliseconds); });

// As often as it takes until the controller answers.
export async function askSession(every = RETRY): Promise<Session> {
  for (;;) {
    try {
      const answer = await fetch(PATH, { signal: AbortSignal.timeout(PATIENCE) });
      if (answer.ok) {
        session.value = await answer.json() as Session;
        return session.value;
      }
    } catch {
      // it is away
    }
    await pause(every);
  }
}

// The error says why not.
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

// For an answer of 401: the session has ended, or its token was withdrawn.
export function ended() {
  if (session.value) session.value = { ...session.value, role: null };
}

// Why it may not have pairs probed; '' where it may.
export function whyNotOperate(who: Session | null): string {
  return who?.role === 'read' ? 'your token may read only; this needs one of the role operate' : '';
}

// Asks the collector, and says in words why there is no answer.

import { ended } from './session';

const PATIENCE = 4000; // milliseconds

// A fault in words.
export class Fault extends Error {
  constructor(text: string, readonly gone = false) { // gone: the collector cannot be reached
    super(text);
  }
}

function wordsOf(status: number, reason: string): string {
  switch (status) {
    case 401: return 'The session has ended: sign in again.';
    case 403: return `The token may not do this: ${reason}.`;
    case 404: return `Not found: ${reason}.`;
    case 503: return `The collector is busy: ${reason}. The page asks again.`;
    default: return `The collector refuses: ${reason}.`;
  }
}

// `query` has the parameters, and `wait` the milliseconds for which the collector may hold the answer back.
export async function ask<T>(path: string, query: Record<string, string> = {}, wait = 0, stop?: AbortSignal): Promise<T> {
  const control = new AbortController();
  const abort = () => control.abort();
  const timer = setTimeout(abort, PATIENCE + wait);
  stop?.addEventListener('abort', abort);
  try {
    return await asked<T>(`api/v1/dta/${path}?${new URLSearchParams(query)}`, control.signal);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener('abort', abort);
  }
}

async function asked<T>(url: string, signal: AbortSignal): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(url, { signal });
    if (answer.ok) return await answer.json() as T;
  } catch {
    throw new Fault('The collector does not answer.', true);
  }
  if (answer.status === 401) ended();
  const body = await answer.json().catch(() => ({}));
  throw new Fault(wordsOf(answer.status, body.error?.reason ?? `HTTP ${answer.status}`));
}

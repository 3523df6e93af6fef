// Asks the controller for the same thing again and again.

import { useEffect, useState } from 'preact/hooks';
import { fetchJson } from './status';

// Returns the newest answer; `none` before the first one, and again as soon as `key` says that another thing is asked for.
// `ask` is null where there is nothing to ask. Failures are not told here, because the header and the timeline say that the
// controller does not answer.
export function useRepeated<T>(key: string, none: T, ask: ((signal: AbortSignal) => Promise<T>) | null, milliseconds: number): T {
  const [answer, setAnswer] = useState(none);
  useEffect(() => {
    setAnswer(() => none);
    if (ask === null) return undefined;
    const abort = new AbortController();
    const again = () => {
      ask(abort.signal).then((found) => { if (!abort.signal.aborted) setAnswer(() => found); }, () => {});
    };
    again();
    const timer = setInterval(again, milliseconds);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [key]);
  return answer;
}

// The same for a fixed path; null before the first answer. `path` is null where there is nothing to ask.
export function usePolled<T>(path: string | null, milliseconds: number): T | null {
  return useRepeated<T | null>(path ?? '', null, path === null ? null : () => fetchJson<T>(path), milliseconds);
}

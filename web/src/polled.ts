// Asks the controller for the same thing again and again.

import { useEffect, useState } from 'preact/hooks';
import { fetchJson } from './status';

// Returns the newest answer; null before the first one. `path` is null where there is nothing to ask. Failures are not told
// here, because the header says that the controller does not answer.
export function usePolled<T>(path: string | null, milliseconds: number): T | null {
  const [answer, setAnswer] = useState<T | null>(null);
  useEffect(() => {
    let stopped = false;
    setAnswer(null);
    if (path === null) return undefined;
    const ask = () => fetchJson<T>(path).then((found) => { if (!stopped) setAnswer(found); }, () => {});
    void ask();
    const timer = setInterval(ask, milliseconds);
    return () => {
      stopped = true;
      clearInterval(timer);
    };
  }, [path]);
  return answer;
}

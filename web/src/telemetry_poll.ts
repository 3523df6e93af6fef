// Repeats a question for as long as a component shows its answer.

import { useEffect, useState } from 'preact/hooks';
import { POLL } from './telemetry_state';

export interface Polled<T> { answer: T | null; fault: string } // an answer stays while later questions fail

// `ask` runs again when `question` changes; with an empty question nothing is asked.
export function usePoll<T>(question: string, ask: (stop: AbortSignal) => Promise<T>): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({ answer: null, fault: '' });
  useEffect(() => {
    setPolled({ answer: null, fault: '' });
    if (question === '') return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const once = async () => {
      const next = await ask(stop.signal).then((answer) => () => setPolled({ answer, fault: '' }),
        ({ message }: Error) => () => setPolled((last) => ({ ...last, fault: message })));
      if (stop.signal.aborted) return;
      next();
      timer = setTimeout(once, POLL);
    };
    void once();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [question]);
  return polled;
}

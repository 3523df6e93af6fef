// Tests of one file that follow each other and share what they are about.

import { test } from 'node:test';

let failures = 0;

export function step(name, run) {
  test(name, async () => {
    try {
      await run();
    } catch (failure) {
      failures += 1;
      throw failure;
    }
  });
}

// Whether the logs are worth keeping.
export const anyFailed = () => failures > 0;

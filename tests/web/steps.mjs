// Tests of one file that run in order and share their mesh and page.

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

// Whether any step has failed, so that its logs are kept.
export const anyFailed = () => failures > 0;

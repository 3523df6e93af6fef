// Starts the programs under test and makes sure that none outlives the test.

import { spawn } from 'node:child_process';
import { openSync, closeSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const RETRY = 50; // milliseconds
// What a sanitizer writes into a program's log: a thread's race ends nothing, and a leak shows at the end only.
const REPORT = /Sanitizer: |: runtime error: /;

// The first value of `value` that is true; waits for it at most so many seconds.
export async function eventually(value, seconds, what) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await value();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await pause(RETRY);
  }
}

// One program, with its log in a file. It ends when this process does, however that happens.
export class Program {
  constructor(logPath, command, args, stdio = 'ignore') {
    this.logPath = logPath;
    const log = openSync(logPath, 'a');
    this.child = spawn('setpriv', ['--pdeathsig', 'KILL', command, ...args],
      { stdio: [stdio, stdio === 'pipe' ? 'pipe' : log, log] });
    closeSync(log);
    this.ended = new Promise((resolve) => { this.child.once('exit', resolve); });
  }

  running() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  // Fails where a sanitizer has found something in it.
  async kill(signal = 'SIGKILL') {
    this.child.kill(signal);
    await this.ended;
    const log = readFileSync(this.logPath, 'utf8');
    const found = log.search(REPORT);
    if (found >= 0) throw new Error(`${this.logPath}:\n${log.slice(Math.max(0, found - 200)).slice(0, 6000)}`);
  }

  tail(lines = 20) {
    return readFileSync(this.logPath, 'utf8').split('\n').slice(-lines).join('\n');
  }
}

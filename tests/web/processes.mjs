// Starts the programs under test and ensures that none outlives the test.

import { spawn } from 'node:child_process';
import { openSync, closeSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const RETRY = 50; // milliseconds
// Matches a sanitizer's report in a program's log: a race does not end the program, and a leak
// shows only at its end.
const REPORT = /Sanitizer: |: runtime error: /;

// Calls `value` until it returns a true value, for at most `seconds`, and returns that value.
export async function eventually(value, seconds, what) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await value();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await pause(RETRY);
  }
}

// One program, with its log in a file. It ends with this process, even if this process is killed.
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

  // Throws where a sanitizer has reported a fault.
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

// Runs board_server.cpp: the real dashboard over a board of synthetic rows, which takes commands.

import { createInterface } from 'node:readline';
import { Program } from './processes.mjs';

const { PINGLOOM_BIN, PINGLOOM_WEB } = process.env;

export class Board {
  // `listen` is an address with a port; 0 picks a free one.
  static async start(hosts, listen = '127.0.0.1:0') {
    const board = new Board();
    board.program = new Program('/dev/null', `${PINGLOOM_BIN}/board_server`, [listen, PINGLOOM_WEB, String(hosts)], 'pipe');
    board.lines = createInterface({ input: board.program.child.stdout })[Symbol.asyncIterator]();
    board.url = await board.answer();
    return board;
  }

  async answer() {
    const { value, done } = await this.lines.next();
    if (done) throw new Error('the board server ended');
    return value.trim();
  }

  async say(command) {
    this.program.child.stdin.write(`${command}\n`);
    const answer = await this.answer();
    if (answer !== 'done') throw new Error(`${command}: ${answer}`);
  }

  async end() {
    if (this.program.running()) await this.program.kill();
  }
}

// What many viewers of a large mesh cost the controller's HTTP thread. The real dashboard serves synthetic rows. Viewers
// are bare sockets that count frames, and their cost is not the controller's. --help names the options.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Board } from '../../tests/web/board.mjs';
import { bounded, options, printFigure } from '../shared/bench.mjs';

const { viewers, hosts, windows } = options({ viewers: 200, hosts: 1000, windows: 5 },
  `Usage: PINGLOOM_BIN=build/release/bin PINGLOOM_WEB=build/release/web node bench/dashboard/viewers.mjs [OPTIONS]
  --viewers N   how many viewers are connected (default 200)
  --hosts N     how many hosts the mesh has (default 1000)
  --windows N   how many whole windows to send to all of them (default 5)`);
const SYNC = 2;

// Masked, as those of a client must be; shorter than 126 bytes.
function textFrame(text) {
  const [payload, mask] = [Buffer.from(text), randomBytes(4)];
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length]), mask, payload.map((byte, at) => byte ^ mask[at % 4])]);
}

class Viewer {
  rows = 0;
  bytes = 0;
  waiting = null;
  left = Buffer.alloc(0);

  constructor(port) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.write(`GET /api/v1/live HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
      + `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`);
    this.socket.on('data', (data) => this.take(data));
    this.upgraded = false;
  }

  take(data) {
    this.bytes += data.length;
    let buffer = this.left.length ? Buffer.concat([this.left, data]) : data;
    if (!this.upgraded) {
      const end = buffer.indexOf('\r\n\r\n');
      if (end < 0) { this.left = buffer; return; }
      this.upgraded = true;
      buffer = buffer.subarray(end + 4);
    }
    for (;;) {
      if (buffer.length < 2) break;
      const short = buffer[1] & 0x7f;
      const head = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (buffer.length < head) break;
      const length = short === 126 ? buffer.readUInt16BE(2) : short === 127 ? Number(buffer.readBigUInt64BE(2)) : short;
      if (buffer.length < head + length) break;
      this.frame(buffer[0] & 15, buffer.subarray(head, head + length));
      buffer = buffer.subarray(head + length);
    }
    this.left = Buffer.from(buffer);
  }

  frame(opcode, payload) {
    if (opcode === 1) this.socket.write(textFrame('watch udp network_p50'));
    if (opcode === 9) this.socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0])); // pong
    if (opcode !== 2) return;
    if (payload[1] !== SYNC) this.rows += (payload.length - 16) / (16 + 2 * hosts);
    if (this.rows >= hosts && this.waiting) this.waiting();
  }

  // Resolves when every source has come once more.
  window() {
    this.rows = 0;
    return new Promise((resolve) => { this.waiting = resolve; });
  }
}

// Gives the milliseconds of CPU that the process has used.
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const board = await bounded('the board', Board.start(hosts));
const { pid } = board.program.child;
const port = Number(new URL(board.url).port);
const [begin, before] = [performance.now(), cpuOf(pid)];
const all = Array.from({ length: viewers }, () => new Viewer(port));
await bounded('the whole mesh at all viewers', Promise.all(all.map((viewer) => viewer.window())));
printFigure('the whole mesh to all viewers', 'ms', [performance.now() - begin]);
printFigure('the whole mesh to all viewers, CPU', 'ms', [cpuOf(pid) - before]);
const [took, cpu] = [[], []];
for (let at = 0; at < windows; ++at) {
  const done = Promise.all(all.map((viewer) => viewer.window()));
  const [from, cpuFrom] = [performance.now(), cpuOf(pid)];
  await bounded('a whole window', board.say('all'));
  await bounded('a whole window at all viewers', done);
  took.push(performance.now() - from);
  cpu.push(cpuOf(pid) - cpuFrom);
}
const bytes = all.reduce((sum, viewer) => sum + viewer.bytes, 0);
for (const viewer of all) viewer.socket.destroy();
await board.end();
// The same windows without viewers: what it costs to make the synthetic rows.
const alone = await bounded('the board', Board.start(hosts));
const cpuFrom = cpuOf(alone.program.child.pid);
for (let at = 0; at < windows; ++at) await bounded('a whole window', alone.say('all'));
const making = (cpuOf(alone.program.child.pid) - cpuFrom) / windows;
await alone.end();
printFigure('a whole window to all of them', 'ms', took);
printFigure('a whole window to all of them, CPU', 'ms', cpu);
printFigure('a whole window to all of them, processors used', '', cpu.map((spent, at) => spent / took[at]));
printFigure('the part of that CPU that makes synthetic rows', 'ms', [making]);
printFigure('bytes of a whole window to all of them', 'MB', [bytes / (windows + 1) / 1e6]);

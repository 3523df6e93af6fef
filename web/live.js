// The live connection: decodes what the controller pushes into the model and comes back by itself
// when it breaks. docs/http-api.md has the layout of the messages.

import { METRICS } from './model.js';

const HEADER_BYTES = 24;
const VERSION = 1;
const ROW = 1;
const SHORTEST_WAIT = 500;
const LONGEST_WAIT = 8000;

// -> {generation, probe, source, states, columns, windowEnd}, or null where it is not a row.
export function decodeRow(buffer) {
  if (buffer.byteLength < HEADER_BYTES) return null;
  const header = new DataView(buffer);
  if (header.getUint8(0) !== VERSION || header.getUint8(1) !== ROW) return null;
  const count = header.getUint32(12, true);
  if (buffer.byteLength !== HEADER_BYTES + count * (4 * METRICS.length + 1)) return null;
  const columns = {};
  METRICS.forEach(({ id }, i) => {
    columns[id] = new Float32Array(buffer, HEADER_BYTES + 4 * count * i, count);
  });
  return {
    probe: header.getUint16(2, true),
    generation: header.getUint32(4, true),
    source: header.getUint32(8, true),
    windowEnd: header.getFloat64(16, true),
    columns,
    states: new Uint8Array(buffer, HEADER_BYTES + 4 * METRICS.length * count, count),
  };
}

export class Live extends EventTarget {
  // Events: "plan", "rows" (detail: {grid, source}), "link" (state changed).
  constructor(model) {
    super();
    this.model = model;
    this.state = 'connecting'; // live | reconnecting
    this.lastMessage = null; // milliseconds
    this.wait = SHORTEST_WAIT;
    this.connect();
  }

  connect() {
    const url = new URL('api/v1/live', location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    url.hash = '';
    this.socket = new WebSocket(url);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onmessage = ({ data }) => this.message(data);
    this.socket.onclose = () => this.closed();
  }

  // For when the controller does not answer although the connection looks open.
  reconnect() {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.close();
  }

  closed() {
    this.setState('reconnecting');
    setTimeout(() => this.connect(), this.wait * (0.75 + Math.random() / 2));
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  setState(state) {
    if (this.state === state) return;
    this.state = state;
    this.dispatchEvent(new Event('link'));
  }

  message(data) {
    this.lastMessage = Date.now();
    this.wait = SHORTEST_WAIT;
    this.setState('live');
    if (typeof data === 'string') {
      const message = JSON.parse(data);
      if (message.type !== 'plan' || message.version !== VERSION) return;
      this.model.setPlan(message);
      this.dispatchEvent(new Event('plan'));
      return;
    }
    const row = decodeRow(data);
    const grid = row && this.model.grids[row.probe];
    // The header carries the low 32 bits of the generation.
    const current = row && (this.model.generation % 2 ** 32) === row.generation;
    if (!grid || !current || row.source >= grid.rows || row.states.length !== grid.columns) return;
    grid.setRow(row.source, row.states, row.columns, row.windowEnd);
    this.dispatchEvent(new CustomEvent('rows', { detail: { grid, source: row.source } }));
  }
}

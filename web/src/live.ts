// The live connection: decodes what the controller pushes into the model and comes back by itself
// when it breaks. docs/http-api.md has the layout of the messages.

import { type Columns, type Grid, METRICS, type Model } from './model';

const HEADER_BYTES = 24;
const VERSION = 1;
const ROW = 1;
const SHORTEST_WAIT = 500;
const LONGEST_WAIT = 8000;

export interface Row {
  probe: number;
  generation: number;
  source: number;
  windowEnd: number;
  columns: Columns;
  states: Uint8Array;
}

// null where it is not a row.
export function decodeRow(buffer: ArrayBuffer): Row | null {
  if (buffer.byteLength < HEADER_BYTES) return null;
  const header = new DataView(buffer);
  if (header.getUint8(0) !== VERSION || header.getUint8(1) !== ROW) return null;
  const count = header.getUint32(12, true);
  if (buffer.byteLength !== HEADER_BYTES + count * (4 * METRICS.length + 1)) return null;
  const columns: Columns = {};
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

export interface Rows { grid: Grid; source: number }

export class Live extends EventTarget {
  state: 'connecting' | 'live' | 'reconnecting' = 'connecting';
  lastMessage: number | null = null; // milliseconds
  private wait = SHORTEST_WAIT;
  private socket!: WebSocket;

  // Events: "plan", "rows" (detail: Rows), "link" (state changed).
  constructor(readonly model: Model) {
    super();
    this.connect();
  }

  private connect() {
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

  private closed() {
    this.setState('reconnecting');
    setTimeout(() => this.connect(), this.wait * (0.75 + Math.random() / 2));
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  private setState(state: Live['state']) {
    if (this.state === state) return;
    this.state = state;
    this.dispatchEvent(new Event('link'));
  }

  private message(data: string | ArrayBuffer) {
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
    const grid = row ? this.model.grids[row.probe] : undefined;
    // The header carries the low 32 bits of the generation.
    const current = row?.generation === (this.model.generation ?? NaN) % 2 ** 32;
    if (!row || !grid || !current || row.source >= grid.rows || row.states.length !== grid.columns) return;
    grid.setRow(row.source, row.states, row.columns, row.windowEnd);
    this.dispatchEvent(new CustomEvent<Rows>('rows', { detail: { grid, source: row.source } }));
  }
}

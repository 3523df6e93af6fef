// The live connection: tells the controller which grid to send, and decodes the messages into the
// model. It reconnects by itself and then asks only for what has changed meanwhile.
// docs/http-api.md has the messages.

import type { Grid, Model, Plan } from './model';
import type { Verdict } from './incident';

const HEADER_BYTES = 16;
const ROW_BYTES = 16; // of a row's header, which precedes its cells
const VERSION = 5;
export const ROW = 1; // a type of message, as SYNC
const SYNC = 2;
const SHORTEST_WAIT = 500; // milliseconds
const LONGEST_WAIT = 8000;

export interface Header { type: number; generation: number; watch: number; sequence: number }
export interface Row {
  windowEnd: number;
  source: number;
  probe: number;
  cells: Uint8Array; // a state and a severity each, see model.ts
  values: Uint8Array;
}
export interface Rows { grid: Grid; sources: number[] } // the rows that one message changed

// Returns null for data that is not a message of this version.
export function decodeHeader(buffer: ArrayBuffer): Header | null {
  if (buffer.byteLength < HEADER_BYTES) return null;
  const view = new DataView(buffer);
  if (view.getUint8(0) !== VERSION) return null;
  return { type: view.getUint8(1), generation: view.getUint32(4, true), watch: view.getUint32(8, true),
    sequence: view.getUint32(12, true) };
}

// Returns the rows of a message and leaves out a truncated one. `columnsOf` returns -1 for an
// unknown probe.
export function decodeRows(buffer: ArrayBuffer, columnsOf: (probe: number) => number): Row[] {
  const view = new DataView(buffer);
  const rows: Row[] = [];
  for (let at = HEADER_BYTES; at + ROW_BYTES <= buffer.byteLength;) {
    const probe = view.getUint16(at + 12, true);
    const [columns, cells] = [columnsOf(probe), at + ROW_BYTES];
    if (columns < 0 || cells + 2 * columns > buffer.byteLength) break;
    rows.push({ windowEnd: view.getFloat64(at, true), source: view.getUint32(at + 8, true), probe,
      cells: new Uint8Array(buffer, cells, columns), values: new Uint8Array(buffer, cells + columns, columns) });
    at = cells + 2 * columns;
  }
  return rows;
}

interface Watched { probe: string; metric: string }

export class Live extends EventTarget {
  state: 'connecting' | 'live' | 'reconnecting' = 'connecting';
  lastMessage: number | null = null; // milliseconds
  private wait = SHORTEST_WAIT;
  private socket: WebSocket | null = null;
  private stopped = false;
  private watched: Watched | null = null;
  private watches = 0; // watch messages sent on this socket
  private synced = ''; // "EPOCH GENERATION SEQUENCE" of the watched grid; '' until it is complete
  private planned = false; // this socket has received its plan

  // Dispatches the events "plan" (the plan changed), "rows" (detail: Rows), "verdict" (detail:
  // Verdict) and "link" (the state changed).
  constructor(readonly model: Model) {
    super();
  }

  watch(probe: string, metric: string) {
    if (this.watched?.probe === probe && this.watched.metric === metric) return;
    this.watched = { probe, metric };
    this.synced = '';
    this.model.gridNamed(probe)?.forgetValues();
    this.sayWatch();
  }

  private sayWatch() {
    if (!this.watched || !this.planned || this.socket?.readyState !== WebSocket.OPEN) return;
    this.socket.send(['watch', this.watched.probe, this.watched.metric, this.synced].join(' ').trim());
    this.watches += 1;
  }

  connect() {
    const url = new URL('api/v1/live', location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    url.hash = '';
    this.socket = new WebSocket(url);
    this.watches = 0;
    this.planned = false;
    this.socket.binaryType = 'arraybuffer';
    this.socket.onmessage = ({ data }) => this.message(data);
    this.socket.onclose = () => this.closed();
  }

  // Begins a new connection where the controller does not answer although the old one looks open.
  reconnect() {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.close();
  }

  // Ends the connection for good.
  stop() {
    this.stopped = true;
    this.socket?.close();
  }

  private closed() {
    if (this.stopped) return;
    this.setState('reconnecting');
    setTimeout(() => { if (!this.stopped) this.connect(); }, this.wait * (0.75 + Math.random() / 2));
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
      this.told(JSON.parse(data));
      return;
    }
    const header = decodeHeader(data);
    const { generation } = this.model;
    // A message for an earlier watch or plan was in flight during the change.
    if (!header || header.watch !== this.watches || header.generation !== (generation ?? NaN) % 2 ** 32) return;
    if (header.type === ROW) this.rows(decodeRows(data, (probe) => this.model.grids[probe]?.columns ?? -1));
    if (header.type === SYNC) this.complete(`${this.model.epoch} ${generation} ${header.sequence}`);
  }

  // The watched grid is complete up to this point.
  private complete(synced: string) {
    this.synced = synced;
    const grid = this.model.gridNamed(this.watched!.probe);
    if (!grid || grid.complete) return;
    grid.complete = true;
    this.dispatchEvent(new CustomEvent<Rows>('rows', { detail: { grid, sources: [] } }));
  }

  private told(message: Plan | (Verdict & { type: 'verdict' })) {
    if (message.type === 'verdict') this.dispatchEvent(new CustomEvent<Verdict>('verdict', { detail: message }));
    else if (message.type === 'plan' && message.version === VERSION) this.plan(message);
  }

  private plan(message: Plan) {
    const first = !this.planned;
    this.planned = true;
    if (this.model.setPlan(message)) {
      this.synced = '';
      this.dispatchEvent(new Event('plan')); // a listener may call watch(), which sends its own message
    }
    if (first && this.watches === 0) this.sayWatch();
  }

  // REQUIRES that all rows belong to the watched probe.
  private rows(rows: Row[]) {
    const grid = this.model.grids[rows[0]?.probe];
    if (!grid) return;
    const taken = rows.filter(({ source }) => source < grid.rows);
    for (const { source, cells, values, windowEnd } of taken) grid.setRow(source, cells, values, windowEnd);
    this.dispatchEvent(new CustomEvent<Rows>('rows', { detail: { grid, sources: taken.map(({ source }) => source) } }));
  }
}

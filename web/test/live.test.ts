import { describe, expect, it } from 'vitest';
import { decodeHeader, decodeRows } from '../src/live';
import { METRICS, codeOf, humanCode, metricNamed, valueOf } from '../src/metrics';

// This is the example in docs/http-api.md.
const EXAMPLE = `05 01 00 00  03 00 00 00  01 00 00 00  07 00 00 00
  00 00 71 70 c1 1f 7a 42  00 00 00 00  00 00 00 00  ff 10  00 35`;

function example(): ArrayBuffer {
  return new Uint8Array(EXAMPLE.trim().split(/\s+/).map((hex) => parseInt(hex, 16))).buffer as ArrayBuffer;
}

describe('a message of the live connection', () => {
  it('is decoded as documented', () => {
    expect(decodeHeader(example())).toEqual({ type: 1, generation: 3, watch: 1, sequence: 7 });
    const [row, ...others] = decodeRows(example(), () => 2);
    expect(others).toEqual([]);
    expect([row.probe, row.source]).toEqual([0, 0]);
    expect([...row.cells]).toEqual([255, 16]);
    expect(humanCode(METRICS[0], row.values[1])).toBe('4.3 µs');
    expect(row.values[0]).toBe(0);
  });
  it('is refused when it is truncated or has another version', () => {
    for (let bytes = 0; bytes < 16; ++bytes) expect(decodeHeader(example().slice(0, bytes))).toBeNull();
    const other = example();
    new Uint8Array(other)[0] = 9;
    expect(decodeHeader(other)).toBeNull();
  });
  it('may have several rows', () => {
    const [head, row] = [new Uint8Array(example()).slice(0, 16), new Uint8Array(example()).slice(16)];
    const two = new Uint8Array([...head, ...row, ...row]);
    two[16 + 20 + 8] = 5; // the source of the second
    expect(decodeRows(two.buffer, () => 2).map(({ source }) => source)).toEqual([0, 5]);
    expect(decodeRows(two.buffer.slice(0, -1), () => 2)).toHaveLength(1);
    expect(decodeRows(two.buffer, () => -1)).toEqual([]);
  });
});

describe('codes', () => {
  it('are within 4 % of the value and survive a round trip', () => {
    for (const metric of METRICS) {
      for (let code = 1; code < 256; ++code) expect(codeOf(metric, valueOf(metric, code))).toBe(code);
    }
    for (const nanos of [101, 4210, 8016, 25_136, 1_234_567, 2e9]) {
      expect(Math.abs(valueOf(METRICS[0], codeOf(METRICS[0], nanos)) / nanos - 1)).toBeLessThan(0.04);
    }
  });
  it('distinguish no loss, a small loss and no measurement', () => {
    const loss = metricNamed('loss');
    expect(valueOf(loss, codeOf(loss, 0))).toBe(0);
    expect(valueOf(loss, codeOf(loss, 1e-6))).toBeGreaterThan(0);
    expect(valueOf(loss, codeOf(loss, NaN))).toBeNaN();
  });
});

import { describe, expect, it } from 'vitest';
import { decodeRow } from '../src/live';

// The example of docs/http-api.md.
const EXAMPLE = `01 01 00 00  03 00 00 00  00 00 00 00  02 00 00 00  00 00 71 70 c1 1f 7a 42
  00 00 c0 7f  00 90 83 45  00 00 c0 7f  00 80 fa 45  00 00 c0 7f  00 60 c4 46  00 00 c0 7f  00 00 00 00
  ff 00`;

function example(): ArrayBuffer {
  return new Uint8Array(EXAMPLE.trim().split(/\s+/).map((hex) => parseInt(hex, 16))).buffer as ArrayBuffer;
}

describe('a row message', () => {
  it('is decoded as documented', () => {
    const row = decodeRow(example())!;
    expect([row.probe, row.generation, row.source]).toEqual([0, 3, 0]);
    expect(row.columns.network_p50[1]).toBe(4210);
    expect(row.columns.network_p50[0]).toBeNaN();
    expect([...row.states]).toEqual([255, 0]);
  });
  it('is refused when it is cut off or of another version', () => {
    for (let bytes = 0; bytes < example().byteLength; ++bytes) {
      expect(decodeRow(example().slice(0, bytes))).toBeNull();
    }
    const other = example();
    new Uint8Array(other)[0] = 9;
    expect(decodeRow(other)).toBeNull();
  });
});

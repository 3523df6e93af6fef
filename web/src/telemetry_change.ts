// Shows entries of the list of changed paths in words, as `pingloom dta tail path-changes` does.

export const PATH_CHANGES = 'path-changes'; // the name of the table; docs/store-format.md, "Changes"

const HEAD = 12; // bytes before the addresses
const MOST_KEY = 40; // bytes
const MOST_HOPS = 10;
const TUPLE_REST = 5; // bytes of a tuple besides its addresses: protocol and two ports

// Returns null for what is not an entry of that list. Zeros may follow it.
export function changeText(hex: string): string | null {
  const bytes = bytesOf(hex);
  if (bytes.length < HEAD) return null;
  const [hop, keyBytes, each, reserved] = bytes.slice(8, HEAD);
  const sane = (each === 4 || each === 16) && keyBytes >= 1 && keyBytes <= MOST_KEY && hop < MOST_HOPS && reserved === 0;
  if (!sane || HEAD + 2 * each + keyBytes > bytes.length) return null;
  const [before, after] = [HEAD, HEAD + each].map((at) => addressText(bytes.slice(at, at + each)));
  const key = bytes.slice(HEAD + 2 * each, HEAD + 2 * each + keyBytes);
  return `${timeText(hex.slice(0, 16))} ${tupleText(key) ?? `hex:${key.map((byte) => digits(byte)).join('')}`} hop ${hop + 1}: ${before} > ${after}`;
}

function bytesOf(hex: string): number[] {
  return /^([0-9a-f]{2})*$/.test(hex) ? (hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)) : [];
}

function digits(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

// Nanoseconds since 1970, which 53 bits do not hold.
function timeText(hex: string): string {
  return new Date(Number(BigInt(`0x${hex}`) / 1_000_000n)).toISOString().replace('.000Z', 'Z');
}

// Returns null for a key that has not the length of a tuple.
function tupleText(key: number[]): string | null {
  const each = (key.length - TUPLE_REST) / 2;
  if (each !== 4 && each !== 16) return null;
  const [source, destination] = [0, 1].map((end) => {
    const address = addressText(key.slice(1 + end * each, 1 + (end + 1) * each));
    const port = 1 + 2 * each + 2 * end;
    return `${each === 4 ? address : `[${address}]`}:${key[port] * 256 + key[port + 1]}`;
  });
  const protocol = ({ 6: 'tcp', 17: 'udp' } as Record<number, string>)[key[0]] ?? String(key[0]);
  return `tuple:${source}>${destination}/${protocol}`;
}

function addressText(bytes: number[]): string {
  if (bytes.length === 4) return bytes.join('.');
  const words = Array.from({ length: 8 }, (_, at) => bytes[2 * at] * 256 + bytes[2 * at + 1]);
  const [start, length] = longestZeros(words);
  const embedded = start === 0 && (length === 6 || (length === 5 && words[5] === 0xffff)); // IPv4 within IPv6
  const parts = words.map((word) => word.toString(16));
  if (embedded) parts.splice(6, 2, bytes.slice(12).join('.'));
  if (length < 2) return parts.join(':');
  return `${parts.slice(0, start).join(':')}::${parts.slice(start + length).join(':')}`;
}

// Returns where the first of the longest runs of zeros begins, and how long it is.
function longestZeros(words: number[]): [number, number] {
  let best: [number, number] = [0, 0];
  for (let start = 0; start < words.length; ++start) {
    let end = start;
    while (end < words.length && words[end] === 0) ++end;
    if (end - start > best[1]) best = [start, end - start];
  }
  return best;
}

import { describe, expect, it } from 'vitest';
import { changeText } from '../src/telemetry_change';

const TIME = '17979cfe362a0000'; // 2023-11-14T22:13:20Z
const TUPLE = '110a0000010a000101c35012b7';
const IPV4 = `${TIME}01${'0d'}0400${'0a0000fe'}${'0a0000fd'}${TUPLE}`;
const address = (text: string) => text.replace(/:/g, '').padStart(32, '0');

describe('a change of a path', () => {
  it('is shown in the words of the command', () => {
    const words = '2023-11-14T22:13:20Z tuple:10.0.0.1:50000>10.0.1.1:4791/udp hop 2: 10.0.0.254 > 10.0.0.253';
    expect(changeText(IPV4)).toBe(words);
    expect(changeText(IPV4 + '00'.repeat(9))).toBe(words); // entries have one size
  });
  it('has milliseconds where there are some', () => {
    expect(changeText(`17979cfe5b988500${IPV4.slice(16)}`)).toMatch(/^2023-11-14T22:13:20\.628Z /);
  });
  it('shows a key that is no tuple as digits, and other protocols by number', () => {
    expect(changeText(`${TIME}000204000a0000fe0a0000fd00ff`)).toMatch(/ hex:00ff hop 1: /);
    expect(changeText(IPV4.replace(TUPLE, `06${TUPLE.slice(2)}`))).toMatch(/\/tcp hop/);
    expect(changeText(IPV4.replace(TUPLE, `2f${TUPLE.slice(2)}`))).toMatch(/\/47 hop/);
  });
  it('shows addresses of IPv6 as they are written', () => {
    const change = (before: string) => changeText(`${TIME}092510${'00'}${before}${address('1')}11${address('2')}${address('3')}c35012b7`);
    const before = (hex: string) => change(hex)?.replace(/.* hop 10: (.*) > .*/, '$1');
    expect(change(address('fe'))).toBe('2023-11-14T22:13:20Z tuple:[::2]:50000>[::3]:4791/udp hop 10: ::fe > ::1');
    expect(before('fd000000000000000000000000000001')).toBe('fd00::1');
    expect(before('20010db8000000010000000000010001')).toBe('2001:db8:0:1::1:1');
    expect(before('20010db8000000000001000000000001')).toBe('2001:db8::1:0:0:1');
    expect(before('20010db8000100010001000100010000')).toBe('2001:db8:1:1:1:1:1:0');
    expect(before('fd000000000000000000000000000000')).toBe('fd00::');
    expect(before('0'.repeat(32))).toBe('::');
    expect(before(address('ffff0a000001'))).toBe('::ffff:10.0.0.1');
  });
  it('is nothing that is malformed', () => {
    for (const other of ['', TIME, IPV4.slice(0, -2), 'zz'.repeat(60), `${IPV4}0`, '00'.repeat(60), 'ff'.repeat(60),
      IPV4.replace('0d0400', '0d0401'), IPV4.replace('0d0400', '0d0500'), IPV4.replace('0d0400', '000400'),
      IPV4.replace('0d0400', '290400') + '00'.repeat(40), `${TIME}0a${IPV4.slice(18)}`]) expect(changeText(other), other).toBeNull();
  });
});

import { describe, expect, it, vi } from 'vitest';

vi.mock('../src/verdict', () => ({ suspects: { value: [] } }));
const { iconOf, titleOf } = await import('../src/title');

describe('the title and the icon', () => {
  it('carry the number of open incidents', () => {
    expect([0, 3, 12].map(titleOf)).toEqual(['pingloom', '(3) pingloom', '(12) pingloom']);
    expect([0, 3, 9, 10].map(iconOf)).toEqual(['icon.svg', 'icon-3.svg', 'icon-9.svg', 'icon-more.svg']);
  });
});

import { describe, expect, it } from 'vitest';
import { pagesTable } from '../src/page_owners';

const owner = (application: string, pid: number, pages: number, metrics = 1) => ({ application, pid, uid: 0, pages, metrics });

describe('the table of a host\'s metric pages', () => {
  it('is absent where no pages are served', () => {
    expect(pagesTable(null, { owners: [], left_out: 0 })).toBeNull();
  });
  it('names the serving address before any application has a page', () => {
    expect(pagesTable('10.0.0.1:20714', { owners: [], left_out: 0 }))
      .toEqual({ summary: 'served at 10.0.0.1:20714, none yet', rows: [], more: '' });
  });
  it('lists the owner of most pages first', () => {
    const given = [owner('b', 3, 1), owner('a', 9, 1), owner('a', 2, 1), owner('z', 1, 4), owner('y', 5, 1, 7)];
    const table = pagesTable('10.0.0.1:20714', { owners: given, left_out: 0 })!;
    expect(table.rows.map(({ pid }) => pid)).toEqual([1, 5, 2, 9, 3]);
    expect(table.summary).toBe('served at 10.0.0.1:20714, 8 pages of 5 applications');
    expect(given[0].pid).toBe(3); // the input is unchanged
  });
  it('counts the owners that were left out', () => {
    const table = pagesTable('10.0.0.1:20714', { owners: [owner('a', 1, 2)], left_out: 12 })!;
    expect(table.summary).toBe('served at 10.0.0.1:20714, at least 2 pages of 13 applications');
    expect(table.more).toBe('and 12 more');
  });
});

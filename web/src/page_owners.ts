// The contents of a host's table of metric pages.

import type { PageOwner, PageOwners } from './agents';
import { humanCount } from './format';

export interface PagesTable {
  summary: string; // the address that serves the pages, and their number
  rows: PageOwner[]; // the owner of most pages first
  more: string; // counts the owners that the agent left out; '' where there are none
}

function counted(count: number, what: string): string {
  return `${humanCount(count)} ${what}${count === 1 ? '' : 's'}`;
}

// Returns null where the host serves no pages, so that no table is shown.
export function pagesTable(served: string | null, { owners, left_out }: PageOwners): PagesTable | null {
  if (served === null && owners.length === 0) return null;
  const pages = owners.reduce((sum, owner) => sum + owner.pages, 0);
  const known = owners.length === 0 ? 'none yet'
    : `${left_out > 0 ? 'at least ' : ''}${counted(pages, 'page')} of ${counted(owners.length + left_out, 'application')}`;
  return {
    summary: served === null ? known : `served at ${served}, ${known}`,
    rows: [...owners].sort((a, b) => b.pages - a.pages || b.metrics - a.metrics
      || a.application.localeCompare(b.application) || a.pid - b.pid),
    more: left_out > 0 ? `and ${humanCount(left_out)} more` : '',
  };
}

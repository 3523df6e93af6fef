// The bar at the top: pages, search, counts of the whole fabric, the connection. The controller's
// own troubles stand below.

import { useState } from 'preact/hooks';
import { clockTime, humanAge, humanCount, inLine } from './format';
import { CLASSES } from './severity';
import { WhoAmI } from './sign_in';
import { age, staleness } from './stale';
import { JUDGED_OK, JUDGED_STATES, STATES, UNJUDGEABLE_STATES } from './states';
import { countsOfAll, notices, severitiesOfAll } from './status';
import { choose, grid, link, live, liveGrid, metric, model, painted, plan, ranks, view } from './store';
import { ThemeButton } from './theme_button';
import { suspects } from './verdict';
import type { Page } from './view';

const PAGES: [Page, string][] = [['mesh', 'Mesh'], ['worst', 'Worst pairs'], ['incidents', 'Incidents'], ['hosts', 'Hosts'], ['applications', 'Applications'], ['fabric', 'Fabric']];
const MOST_FOUND = 8;

export function Header() {
  return <header class="bar">
    <h1>ping<span>loom</span></h1>
    <nav class="pages" aria-label="Views">
      {PAGES.map(([page, title]) => <button key={page} data-page={page}
        aria-current={view.value.page === page ? 'page' : undefined} onClick={() => choose({ page })}>
        {title}{page === 'incidents' && suspects.value.length > 0 && <em>{humanCount(suspects.value.length)}</em>}</button>)}
    </nav>
    <Search />
    <Summary />
    <Link />
    <WhoAmI />
    <ThemeButton />
  </header>;
}

// Returns the first hosts that match, and the number of all that match.
function hostsLike(text: string): { found: string[]; all: number } {
  const wanted = text.toLowerCase();
  const { sources = [], destinations = [] } = grid.value?.probe ?? {};
  const found: string[] = [];
  let all = 0;
  for (const address of new Set([...sources, ...destinations])) {
    if (!address.includes(wanted) && !model.nameOf(address).toLowerCase().includes(wanted)) continue;
    if (all < MOST_FOUND) found.push(address);
    all += 1;
  }
  return { found, all };
}

function Search() {
  const [text, setText] = useState('');
  const { found, all } = text === '' ? { found: [], all: 0 } : hostsLike(text);
  const open = (host: string) => {
    setText('');
    (document.activeElement as HTMLElement | null)?.blur();
    choose({ page: 'host', host });
  };
  return <div class="search" role="search">
    <input id="search" type="search" value={text} placeholder="Host  /" aria-label="Search for a host by name or address"
      aria-controls="found" autocomplete="off" spellcheck={false}
      onInput={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && found.length > 0) open(found[0]);
        if (event.key === 'Escape') {
          setText('');
          event.currentTarget.blur();
        }
      }} />
    <ul id="found" hidden={text === ''}>
      {found.map((address) => <li key={address}><button onClick={() => open(address)}>
        {inLine(model.nameOf(address))}<small>{address}</small></button></li>)}
      {all > found.length && <li class="none">{`${humanCount(all - found.length)} more: type more of the name or address`}</li>}
      {found.length === 0 && <li class="none">This probe has no such host.</li>}
    </ul>
  </div>;
}

// Judged pairs are counted by severity, and the states only say what the severities do not.
function Summary() {
  painted.value;
  const severities = severitiesOfAll(liveGrid.value);
  const judged = JUDGED_STATES.some(({ name }) => severities[name] > 0) || severities.ok > 0;
  if (!judged) return <StateSummary />;
  const counts = countsOfAll(liveGrid.value);
  const downs = ['unreachable', 'refused']; // how a pair is down; these are not counted twice
  const counted = severities.down >= downs.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
  const chips = [...JUDGED_STATES.map(({ name, text }) => ({ name, text, pairs: severities[name] })),
    ...UNJUDGEABLE_STATES.filter(({ name }) => !counted || !downs.includes(name)).map(({ name, text }) => ({ name, text, pairs: counts[name] })),
    { ...JUDGED_OK, pairs: severities.ok }];
  return <div class="summary" aria-label="Pairs of all probes as they are judged">
    {chips.filter(({ pairs }) => pairs > 0).map(({ name, text, pairs }) => <button key={name} class="chip" data-state={name}
      title={`${text}; lists those of the shown probe`} onClick={() => choose({ page: 'worst', only: name })}><b>{humanCount(pairs)}</b> {name}</button>)}
  </div>;
}

// Counts the pairs before anything is judged. A state does not tell whether a pair is slow, so the
// bar adds the slow pairs; it would otherwise read as if nothing were wrong.
function StateSummary() {
  const counts = countsOfAll(liveGrid.value);
  const slow = (['very slow', 'slow'] as const).map((name) => ({ name, pairs: ranks.value?.counts[CLASSES.indexOf(name)] ?? 0 }));
  return <div class="summary" aria-label="Pairs of all probes by state; slow pairs of the shown probe">
    {STATES.filter(({ name }) => counts[name] > 0).map(({ name }) => <span key={name} class="chip" data-state={name}>
      <b>{humanCount(counts[name])}</b> {name}</span>)}
    {slow.filter(({ pairs }) => pairs > 0).map(({ name, pairs }) => <span key={name} class="chip" data-state={name}
      title="These pairs of the shown probe exceed the thresholds of this metric.">
      <b>{humanCount(pairs)}</b> of them {name} ({metric.value.label})</span>)}
  </div>;
}

function Link() {
  const stale = staleness.value;
  const state = stale === 'silent' ? 'no data' : stale === 'lost' && link.value === 'live' ? 'no answer' : link.value;
  const since = live.lastMessage === null ? [] : [`${stale === 'current' ? 'updated' : 'last data'} ${humanAge(age.value)} ago`];
  return <p id="link" class="link" data-state={state}><i /><span>{[state, ...since].join(' · ')}</span></p>;
}

function lastData(): string {
  return live.lastMessage === null ? 'none yet' : `at ${clockTime(live.lastMessage)}`;
}

// A link may be older than the pinglist.
function UnknownProbe() {
  plan.value;
  const { probe } = view.value;
  if (probe === null || !liveGrid.value || model.gridNamed(probe)) return null;
  return <p class="lost" data-kind="unknown-probe">{`The link names the probe ${inLine(probe)}, which the pinglist in force does not have: ${
    inLine(liveGrid.value.probe.name)} is shown.`}</p>;
}

export function Notices() {
  plan.value;
  const stale = staleness.value;
  return <div class="notices" role="alert">
    {stale === 'lost' && model.generation !== null
      && <p class="lost">{`The controller does not answer: the page shows the last data that it received, ${lastData()}.`}</p>}
    {stale === 'silent' && model.generation !== null
      && <p class="lost">{`No window has arrived for three windows: the page shows the last data that it received, ${lastData()}.`}</p>}
    <UnknownProbe />
    {notices.value.map(({ kind, text }) => <p key={text} data-kind={kind}>
      {kind === 'pinglist' && <b>The saved pinglist was rejected; the last good one is in force. </b>}<bdi>{text}</bdi></p>)}
  </div>;
}

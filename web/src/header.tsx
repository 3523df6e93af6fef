// The bar at the top: the connection, the whole fabric in counts, and what the controller itself complains about.

import { humanAge, humanCount } from './format';
import { STATES } from './states';
import { link, live, model, notices, now, painted, plan } from './store';

export function Header() {
  return <header class="bar">
    <h1>ping<span>loom</span></h1>
    <Summary />
    <Link />
  </header>;
}

function Summary() {
  plan.value;
  painted.value;
  const counts = STATES.map(({ name }) => ({ name,
    count: model.grids.reduce((sum, grid) => sum + grid.countOf(name), 0) }));
  return <div class="summary" aria-label="Pairs by state, all probes">
    {counts.filter(({ count }) => count > 0).map(({ name, count }) => <span key={name} class="chip"
      data-state={name}><b>{humanCount(count)}</b> {name}</span>)}
  </div>;
}

function Link() {
  const { lastMessage } = live;
  const age = lastMessage === null ? [] : [`updated ${humanAge(now.value - lastMessage)} ago`];
  return <p id="link" class="link" data-state={link.value} role="status">
    <i /><span>{[link.value, ...age].join(' · ')}</span>
  </p>;
}

export function Notices() {
  return <div class="notices" role="alert">{notices.value.map((text) => <p key={text}>{text}</p>)}</div>;
}

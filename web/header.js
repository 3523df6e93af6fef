// The bar at the top: the connection, the whole fabric in counts, and what the controller itself
// complains about.

import { byId, element } from './dom.js';
import { humanAge, humanCount } from './format.js';
import { STATES } from './states.js';

const POLL = 5000;
const PATIENCE = 4000;

export class Header {
  constructor(model, live) {
    this.model = model;
    this.live = live;
    live.addEventListener('link', () => this.update());
    setInterval(() => this.update(), 1000);
    this.poll();
  }

  update() {
    const link = byId('link');
    const { state, lastMessage } = this.live;
    const age = lastMessage === null ? '' : `updated ${humanAge(Date.now() - lastMessage)} ago`;
    link.dataset.state = state;
    const text = [state, age].filter((part) => part !== '').join(' · ');
    if (link.lastElementChild.textContent !== text) link.lastElementChild.textContent = text;
    this.updateSummary();
  }

  updateSummary() {
    const chips = STATES.map(({ name }) => [name,
      this.model.grids.reduce((sum, grid) => sum + grid.countOf(name), 0)])
      .filter(([, count]) => count > 0)
      .map(([name, count]) => element('span', { class: 'chip', 'data-state': name },
        element('b', {}, humanCount(count)), ` ${name}`));
    byId('summary').replaceChildren(...chips);
  }

  // Also tells whether the controller answers at all: a WebSocket across a dead network looks open
  // for minutes.
  async poll() {
    try {
      const answer = await fetch('api/v1/status', { signal: AbortSignal.timeout(PATIENCE) });
      this.notices(await answer.json());
    } catch {
      this.live.reconnect();
    }
    setTimeout(() => this.poll(), POLL);
  }

  notices(status) {
    const texts = [...status.not_ready];
    if (status.pinglist.error) texts.unshift(`pinglist rejected: ${status.pinglist.error}`);
    if (status.history.error) texts.push(`history: ${status.history.error}`);
    byId('notices').replaceChildren(...texts.map((text) => element('p', {}, text)));
  }
}

// Puts the page together.

import { Controls, Tabs } from './controls';
import { Header, Notices } from './header';
import { Legend } from './legend';
import { Map } from './map';
import { PairPanel } from './pair';
import { grid, model, plan } from './store';

export function App() {
  return <>
    <Header />
    <Notices />
    <Tabs />
    <main>
      <section class="map" aria-label="Heatmap">
        {grid.value ? <><Controls /><Map /></> : <Empty />}
      </section>
      <aside class="side">
        <Legend />
        <PairPanel />
      </aside>
    </main>
  </>;
}

function Empty() {
  plan.value;
  return <p class="empty">
    {model.generation === null ? 'Waiting for the controller.'
      : 'No pinglist is in force yet: there is nothing to probe.'}
  </p>;
}

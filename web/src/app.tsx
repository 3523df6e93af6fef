// Puts the page together.

import { useLayoutEffect } from 'preact/hooks';
import { ApplicationsPage } from './applications_page';
import { Controls, TAB_OF, Tabs } from './controls';
import { FabricPage } from './fabric_page';
import { Header, Notices } from './header';
import { Help, helpShown } from './help';
import { HostPage } from './host';
import { HostsPage } from './hosts_page';
import { IncidentPage } from './incident_page';
import { Legend } from './legend';
import { Map } from './map';
import { PairPanel } from './pair';
import { PairPage } from './pair_page';
import { RollUpMap } from './roll_up_map';
import { session } from './session';
import { SignIn } from './sign_in';
import { away, choose, grid, link, liveGrid, model, plan, view } from './store';
import { staleness } from './stale';
import { Suspects } from './suspects';
import { PastNotice } from './timeline';
import { WorstPage } from './worst';

function keyPressed(event: KeyboardEvent) {
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '?') helpShown.value = !helpShown.value;
  else if (helpShown.value) return; // the browser handles the dialog's own keys
  else if (event.key === '/') document.getElementById('search')?.focus();
  else if (event.key === 'Escape' && view.value.page !== 'mesh') choose({ page: 'mesh' });
  else return;
  event.preventDefault();
}

export function App() {
  // Before the first painting: whoever sees the page may press a key.
  useLayoutEffect(() => {
    window.addEventListener('keydown', keyPressed);
    return () => window.removeEventListener('keydown', keyPressed);
  }, []);
  return <>
    <Header />
    <Notices />
    <Tabs />
    <PastNotice />
    {session.value?.role === null ? <SignInToMesh /> : grid.value ? <Panel /> : <Empty />}
    <Help />
  </>;
}

function SignInToMesh() {
  return <SignIn>This controller requires a token. A token with the role <b>read</b> shows the mesh; one with the role <b>operate</b> may
    also send bursts, and acknowledge or silence incidents. Ask the controller's operator for one.</SignIn>;
}

// The tabs' panel: the chosen probe, on whichever page.
function Panel() {
  const stale = staleness.value;
  return <div id="probe-panel" class="panel" role="tabpanel" data-stale={stale === 'current' ? undefined : stale}
    data-past={!away.value ? undefined : grid.value === liveGrid.value ? 'missing' : 'shown'} aria-labelledby={TAB_OF + model.grids.indexOf(liveGrid.value!)}><Page /></div>;
}

function Page() {
  switch (view.value.page) {
    case 'worst': return <WorstPage />;
    case 'incidents': return <IncidentPage />;
    case 'hosts': return <HostsPage />;
    case 'applications': return <ApplicationsPage />;
    case 'fabric': return <FabricPage />;
    case 'host': return <HostPage />;
    case 'pair': return <PairPage />;
    default: return <main>
      <section class="map" aria-label="Heatmap"><Controls />{view.value.roll === '' ? <Map /> : <RollUpMap />}</section>
      <aside class="side"><Suspects /><Legend /><PairPanel /></aside>
    </main>;
  }
}

function Empty() {
  plan.value;
  if (model.generation === null) {
    return <main class="empty">
      <h2>{link.value === 'reconnecting' ? 'The controller does not answer' : 'Waiting for the controller'}</h2>
      <p>The page retries by itself.</p>
    </main>;
  }
  return <main class="empty">
    <h2>Nothing to probe yet</h2>
    <p>The pinglist in force names no probes. Save a pinglist with probes, and the mesh appears here within a second;
      <code> pingloom check FILE</code> tells whether it is valid.</p>
  </main>;
}

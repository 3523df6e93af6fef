// Puts the page of telemetry stores together.

import { clockTime } from './format';
import { session } from './session';
import { SignIn, WhoAmI } from './sign_in';
import { KeyBox } from './telemetry_key';
import { fault, snapshot } from './telemetry_state';
import { Stores } from './telemetry_stores';
import { TailBox } from './telemetry_tail';
import { WatchBox } from './telemetry_watch';
import { ThemeButton } from './theme_button';

export function TelemetryApp() {
  return <>
    <header class="bar">
      <h1>ping<span>loom</span> telemetry</h1>
      <Link />
      <div class="summary" />
      <WhoAmI />
      <ThemeButton />
    </header>
    {session.value?.role === null
      ? <SignIn>This collector requires a token. One with the role <b>read</b> shows its stores. Ask the collector's operator for one.</SignIn>
      : <Page />}
  </>;
}

function Link() {
  const state = fault.value ? 'no answer' : snapshot.value ? 'live' : 'connecting';
  return <p id="link" class="link" data-state={state}><i /><span>{state}</span></p>;
}

function Page() {
  const [why, known] = [fault.value, snapshot.value];
  return <>
    <div class="notices" role="alert">{why !== null && <p class="lost">{why.message}{known !== null
      && ` The page shows the stores as they were at ${clockTime(known.at)}.`}</p>}</div>
    {known === null ? <main class="empty"><p>{why === null ? 'Waiting for the collector' : 'The page asks again by itself.'}</p></main>
      : <main class="page telemetry">
        <div class="stores" data-stale={why !== null ? '' : undefined}><Stores /></div>
        <div class="columns"><div><KeyBox /><WatchBox /></div><TailBox /></div>
      </main>}
  </>;
}

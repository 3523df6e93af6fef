import { effect } from '@preact/signals';
import { render } from 'preact';
import { App } from './app';
import { askSession, session } from './session';
import { pollStatus } from './status';
import { live, start } from './store';

start();
render(<App />, document.body);
if ((await askSession()).role) {
  live.connect();
  void pollStatus();
}
effect(() => { if (session.value?.role === null) live.stop(); });

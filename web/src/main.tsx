import { effect } from '@preact/signals';
import { render } from 'preact';
import { App } from './app';
import { askSession, session } from './session';
import { watchAnswers } from './stale';
import { pollStatus } from './status';
import { live, start } from './store';
import { keepTitle } from './title';
import { followVerdict } from './verdict';

if (new URLSearchParams(location.search).get('kiosk') === '1') document.documentElement.dataset.kiosk = '';
start();
followVerdict();
keepTitle();
render(<App />, document.body);
if ((await askSession()).role) {
  live.connect();
  void pollStatus();
  void watchAnswers();
}
effect(() => { if (session.value?.role === null) live.stop(); });

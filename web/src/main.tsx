import { render } from 'preact';
import { App } from './app';
import { pollStatus } from './status';
import { start } from './store';

start();
void pollStatus();
render(<App />, document.body);

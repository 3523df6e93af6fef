import { render } from 'preact';
import { App } from './app';
import { start } from './store';

start();
render(<App />, document.body);

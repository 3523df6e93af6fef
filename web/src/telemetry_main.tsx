import { render } from 'preact';
import { askSession } from './session';
import { TelemetryApp } from './telemetry_app';
import { followUrl, pollStores } from './telemetry_state';
import { followTheme } from './theme';

followTheme();
followUrl();
render(<TelemetryApp />, document.body);
if ((await askSession()).role) void pollStores();

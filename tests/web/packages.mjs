// npm packages are installed where the dashboard is built.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { resolve } = createRequire(new URL('../../web/package.json', import.meta.url));

export function npm(name) {
  return import(pathToFileURL(resolve(name)));
}

// Loads npm packages, which are installed in web/.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { resolve } = createRequire(new URL('../../web/package.json', import.meta.url));

export function npm(name) {
  return import(pathToFileURL(resolve(name)));
}

// Builds the dashboard into a folder: the static files, one script and one style sheet.
// Usage: node build.mjs FOLDER
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = process.argv[2];
if (!folder) {
  console.error('usage: node build.mjs FOLDER');
  process.exit(2);
}

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await cp(here('static'), folder, { recursive: true });
// The icon with the number of open incidents: a data URL would be simpler, but the page's security
// policy allows none.
const icon = await readFile(here('static/icon.svg'), 'utf8');
for (const open of [1, 2, 3, 4, 5, 6, 7, 8, 9, 'more']) {
  const badge = '<circle cx="10.5" cy="10.5" r="5.5" fill="#e51b5a"/><text x="10.5" y="13.7" font-family="sans-serif" font-weight="bold" '
    + `font-size="9" text-anchor="middle" fill="#fff">${open === 'more' ? '+' : open}</text>`;
  await writeFile(`${folder}/icon-${open}.svg`, icon.replace('</svg>', `${badge}</svg>`));
}
await build({
  entryPoints: { app: here('src/main.tsx'), style: here('src/style.css') },
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'linked',
  logLevel: 'warning',
});

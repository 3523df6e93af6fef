// Builds the two pages, each into a folder of its own: the dashboard, which the controller serves, and the page of
// telemetry stores, which the collector serves. Each has static files, one script and one style sheet.
// Usage: node build.mjs DASHBOARD_FOLDER TELEMETRY_FOLDER
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const [dashboard, telemetry] = process.argv.slice(2);
if (!dashboard || !telemetry) {
  console.error('usage: node build.mjs DASHBOARD_FOLDER TELEMETRY_FOLDER');
  process.exit(2);
}

async function buildPage(folder, statics, script, style) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const each of statics) await cp(here(each), `${folder}/${each.replace(/^static[^/]*\/?/, '')}`, { recursive: true });
  await build({
    entryPoints: { app: here(script), style: here(style) },
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
}

await buildPage(dashboard, ['static'], 'src/main.tsx', 'src/style.css');
// The icon with the number of open incidents: a data URL would be simpler, but the page's security
// policy allows none.
const icon = await readFile(here('static/icon.svg'), 'utf8');
for (const open of [1, 2, 3, 4, 5, 6, 7, 8, 9, 'more']) {
  const badge = '<circle cx="10.5" cy="10.5" r="5.5" fill="#e51b5a"/><text x="10.5" y="13.7" font-family="sans-serif" font-weight="bold" '
    + `font-size="9" text-anchor="middle" fill="#fff">${open === 'more' ? '+' : open}</text>`;
  await writeFile(`${dashboard}/icon-${open}.svg`, icon.replace('</svg>', `${badge}</svg>`));
}
await buildPage(telemetry, ['static-collector', 'static/icon.svg'], 'src/telemetry_main.tsx', 'src/telemetry.css');

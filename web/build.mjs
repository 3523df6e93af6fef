// Builds the dashboard into a folder: the static files, one script and one style sheet.
// Usage: node build.mjs FOLDER
import { cp, mkdir, rm } from 'node:fs/promises';
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

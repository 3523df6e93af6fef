// `cmake --install` into a staging folder: the installed controller and collector find their pages, and agents are
// installed without it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Mesh } from './mesh.mjs';
import { Stores } from './stores.mjs';

const { CMAKE = 'cmake', PINGLOOM_BUILD } = process.env;
const staging = mkdtempSync('/tmp/pingloom-install-');

after(() => rmSync(staging, { recursive: true, force: true }));

function install(component, folder) {
  execFileSync(CMAKE, ['--install', PINGLOOM_BUILD, '--prefix', '/opt/pingloom', '--component', component],
    { env: { ...process.env, DESTDIR: join(staging, folder) } });
  return join(staging, folder, 'opt/pingloom');
}

test('an agent is installed without the page', () => {
  const prefix = install('agent', 'agent');
  assert.deepEqual(readdirSync(join(prefix, 'bin')).sort(), ['pingloom-agent']);
  assert.ok(!existsSync(join(prefix, 'share/pingloom/web')));
  assert.match(execFileSync(join(prefix, 'bin/pingloom-agent'), ['--version'], { encoding: 'utf8' }), /^pingloom-agent \d/);
});

test('a translator is installed with its configuration and its unit', () => {
  const prefix = install('translator', 'translator');
  assert.deepEqual(readdirSync(join(prefix, 'bin')), ['pingloom-translator']);
  assert.ok(existsSync(join(prefix, 'share/pingloom/config/translator.yaml')));
  assert.ok(existsSync(join(prefix, 'lib/systemd/system/pingloom-translator.service')));
});

test('an installed collector finds its page', async () => {
  const stores = new Stores({ programs: join(install('collector', 'collector'), 'bin') });
  let failed = true;
  try {
    await stores.chooseAddresses();
    await stores.startCollector();
    for (const [path, type] of [['/', 'text/html'], ['/app.js', 'text/javascript'], ['/style.css', 'text/css']]) {
      const answer = await stores.get(path);
      assert.equal(answer.status, 200, path);
      assert.ok(answer.headers.get('content-type').startsWith(type), path);
    }
    failed = false;
  } finally {
    await stores.end(failed);
  }
});

test('an installed controller finds its page', async () => {
  const prefix = install('controller', 'controller');
  assert.ok(existsSync(join(prefix, 'share/pingloom/grafana/pingloom.json')));
  const mesh = new Mesh({ hosts: 2, programs: join(prefix, 'bin'), page: null });
  let failed = true;
  try {
    await mesh.start({ agents: false });
    for (const [path, type] of [['/', 'text/html'], ['/app.js', 'text/javascript'], ['/style.css', 'text/css']]) {
      const answer = await mesh.get(path);
      assert.equal(answer.status, 200, path);
      assert.ok(answer.headers.get('content-type').startsWith(type), path);
    }
    failed = false;
  } finally {
    await mesh.end(failed);
  }
});

test('without the page a controller has its API', async () => {
  const prefix = install('controller', 'bare');
  rmSync(join(prefix, 'share/pingloom/web'), { recursive: true });
  const mesh = new Mesh({ hosts: 2, programs: join(prefix, 'bin'), page: null });
  let failed = true;
  try {
    await mesh.start({ agents: false });
    // The controller finds a page that is installed on this machine.
    assert.equal((await mesh.get('/')).status, existsSync('/usr/share/pingloom/web/index.html') ? 200 : 404);
    assert.equal((await mesh.get('/api/v1/status')).status, 200);
    failed = false;
  } finally {
    await mesh.end(failed);
  }
});

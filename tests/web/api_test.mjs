// The served openapi.yaml is valid, and a real controller's answers agree with it.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before } from 'node:test';
import { npm } from './packages.mjs';
import { Mesh } from './mesh.mjs';
import { eventually, Program } from './processes.mjs';
import { anyFailed, step } from './steps.mjs';

const { Validator } = await npm('@seriousme/openapi-schema-validator');
const { default: Ajv } = await npm('ajv/dist/2020.js');
const { default: formats } = await npm('ajv-formats');

let mesh;
let api; // the description
let ajv;
const seen = new Set(); // "path status media type"

before(async () => {
  mesh = new Mesh({ hosts: 3, names: { 0: 'gpu "one", a' }, protocols: ['rdma', 'tcp'] });
  await mesh.start();
  await mesh.waitUntilWell('rdma');
  await eventually(async () => (await mesh.json('/api/v1/history')).oldest, 30, 'there is history');
});

after(() => mesh.end(anyFailed()));

// Closes the schemas, so that an answer may have no undescribed member. Schemas that are parts of
// others stay open.
function close(schemas) {
  const parts = JSON.stringify(schemas).match(/"allOf":\[[^\]]*\]/g)?.join() ?? '';
  const visit = (schema) => {
    if (schema === null || typeof schema !== 'object') return;
    if (schema.properties) schema.unevaluatedProperties ??= false;
    Object.values(schema).forEach(visit);
  };
  for (const [name, schema] of Object.entries(schemas)) {
    visit(schema);
    if (parts.includes(`/${name}"`)) delete schema.unevaluatedProperties;
    if (schema.allOf) schema.unevaluatedProperties = false;
  }
}

const deref = (part) => (part?.$ref ? part.$ref.slice(2).split('/').reduce((at, key) => at[key], api) : part);

function templateOf(path) {
  return Object.keys(api.paths).find((template) => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path));
}

function checkCsv(body, url) {
  const lines = body.split('\r\n');
  assert.equal(lines.pop(), '', `${url}: ends with a line`);
  assert.ok(lines[0] !== '', `${url}: has a head`);
  const fields = lines.map((line) => [...line.replace(/"(""|[^"])*"/g, 'x').matchAll(/,/g)].length);
  assert.equal(new Set(fields).size, 1, `${url}: as many fields in each line`);
}

// Sends a request and compares the answer with the description.
async function check(url, status, base = mesh.url, options = {}) {
  const answer = await fetch(base + url, options);
  const body = await answer.text();
  assert.equal(answer.status, status, `${url}: ${body}`);
  const template = templateOf(url.split('?')[0]);
  assert.ok(template, `${url} is described`);
  const response = deref(api.paths[template][(options.method ?? 'get').toLowerCase()].responses[status]);
  assert.ok(response, `${status} of ${template} is described`);
  const type = answer.headers.get('content-type').split(';')[0];
  const content = response.content[type];
  assert.ok(content, `${status} of ${template} as ${type} is described`);
  if (type === 'text/csv') checkCsv(body, url);
  if (type === 'application/json') {
    const valid = ajv.compile({ $ref: `api${content.schema.$ref}` });
    assert.ok(valid(JSON.parse(body)), `${url}: ${JSON.stringify(valid.errors)}\n${body.slice(0, 2000)}`);
  }
  seen.add(`${template} ${status} ${type}`);
  return body;
}

step('the description is valid', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(await (await mesh.get('/api/v1/openapi.yaml')).text());
  assert.ok(valid, JSON.stringify(errors, null, 1));
  assert.equal(validator.version, '3.1');
  api = validator.specification;
  const ids = Object.values(api.paths).flatMap((methods) => Object.values(methods)).map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length, 'each operation has an id of its own');
  close(api.components.schemas);
  ajv = new Ajv({ strict: false, allErrors: true });
  formats(ajv);
  ajv.addSchema({ $id: 'api', ...api });
});

step('answers agree with the description', async () => {
  const [a, b] = mesh.addresses;
  const { oldest } = await mesh.json('/api/v1/history');
  const at = encodeURIComponent(oldest);
  const bad = 'probe=rdma&metric=netwrk_p50';
  for (const path of ['/metrics', '/healthz', '/-/healthy', '/readyz', '/-/ready', '/api/v1/openapi.yaml']) await check(path, 200);
  await check('/api/v1/live', 426);
  for (const path of ['/api/v1/status', '/api/v1/history', '/api/v1/hosts', '/api/v1/probes']) {
    await check(path, 200);
    await check(`${path}?format=csv`, 200);
    await check(`${path}?format=xml`, 400);
  }
  assert.match(await check('/api/v1/status?format=csv', 200), /\r\npinglist\.generation,1\r\n/);
  for (const [path, more] of [['/api/v1/grid', ''], ['/api/v1/worst', '&count=4'], ['/api/v1/history/grid', `&at=${at}`]]) {
    for (const metric of ['network_p50', 'rtt_max', 'jitter', 'loss', 'anomalous']) {
      await check(`${path}?probe=rdma&metric=${metric}${more}`, 200);
      await check(`${path}?probe=tcp&metric=${metric}&format=csv${more}`, 200);
    }
    const csv = await check(`${path}?probe=tcp&metric=loss${more}`, 200, mesh.url, { headers: { Accept: 'text/csv' } });
    assert.ok(csv.startsWith('source,source_name,'), `${path}: ${csv}`);
    await check(`${path}?${bad}${more}`, 400);
    await check(`${path}?probe=none&metric=loss${more}`, 404);
  }
  for (const path of ['/api/v1/grid?', `/api/v1/history/grid?at=${at}&`]) {
    await check(`${path}probe=rdma&metric=network_p50&format=cells`, 200);
    await check(`${path}probe=rdma&metric=network_p50&format=xml`, 400);
  }
  await check('/api/v1/worst?probe=rdma&metric=loss&format=cells', 400);
  await check('/api/v1/history/grid?probe=rdma&metric=loss&at=yesterday', 400);
  await check('/api/v1/history/grid?probe=rdma&metric=loss&at=1990-01-01T00:00:00Z', 200);
  await check('/api/v1/worst?probe=rdma&metric=loss&count=0', 400);
  for (const sort of api.components.schemas.WorstSort.enum) await check(`/api/v1/worst?probe=rdma&metric=loss&sort=${sort}`, 200);
  await check('/api/v1/worst?probe=rdma&metric=loss&sort=name', 400);
  await check(`/api/v1/grid?probe=rdma&metric=loss&at=${at}`, 400); // only history/grid has `at`
  await check('/api/v1/grid?probe=rdma&metric=loss&metric=jitter', 400);
  await check(`/api/v1/pairs/rdma/${a}/${b}?path=1`, 400);
  await check(`/api/v1/paths/rdma/${a}/${b}`, 200);
  await check(`/api/v1/paths/rdma/${a}/${b}?path=1`, 400);
  await check(`/api/v1/paths/nothing/${a}/${b}`, 404);
  await check('/api/v1/fabric', 200);
  await check('/api/v1/fabric?format=csv', 400);
  await check('/api/v1/fabric/flows?switch=', 400);
  await check('/api/v1/fabric/flows?from=leaf0', 400);
  await check('/api/v1/fabric/flows?switch=leaf0&to=spine0', 400);
  await check('/api/v1/fabric/flows?switch=nothing', 200);
  for (const path of ['/api/v1/pairs', '/api/v1/history/pairs']) {
    await check(`${path}/rdma/${a}/${b}`, 200);
    await check(`${path}/tcp/${b}/${a}`, 200);
    await check(`${path}/rdma/${a}/${b}?format=csv`, 200);
    await check(`${path}/rdma/${a}/${b}?format=xml`, 400);
    await check(`${path}/rdma/${a}/10.9.9.9`, 404);
    await check(`${path}/none/${a}/${b}`, 404);
  }
  const events = '/api/v1/history/events';
  await mesh.agents[2].kill(); // its pairs change their state
  await eventually(async () => (await mesh.json(events)).events.length > 0, 60, 'there are events');
  await check(`${events}?bins=10`, 200);
  await check(`${events}?probe=rdma&source=${a}&limit=5`, 200);
  await check(`${events}?format=csv`, 200);
  assert.equal(await check(`${events}?format=csv&to=2001-01-01T00:00:00%2B01:00`, 200),
    'at,window,probe,source,source_name,destination,destination_name,from,to,severity_from,severity,pairs\r\n');
  await check(`${events}?from=0000-01-01T00:00:00Z&to=9999-12-31T23:59:59Z&bins=10`, 200);
  await check('/api/v1/controllers', 200);
  await check('/api/v1/controllers?format=csv', 200);
  await check('/api/v1/controllers?format=x', 400);
  await check('/api/v1/history/paths?probe=rdma&limit=5', 200);
  await check('/api/v1/history/paths?format=csv', 200);
  await check('/api/v1/history/paths?source=nobody', 400);
  await check('/api/v1/history/paths?probe=none', 404);
  await check(`${events}?limit=x`, 400);
  await check(`${events}?probe=none`, 404);
  const agent = encodeURIComponent(mesh.agentNames[0]);
  const counters = `/api/v1/counters?host=${agent}`;
  const moved = `/api/v1/history/counters?host=${agent}`;
  for (const path of [counters, moved]) {
    await check(path, 200);
    await check(`${path}&format=csv`, 200);
    await check(`${path}&format=xml`, 400);
  }
  await check('/api/v1/counters?host=nobody', 404);
  const pair = `/api/v1/history/pairs/rdma/${a}/${b}`;
  await check(`${pair}?from=${at}&to=2100-01-01T00:00:00Z&points=1`, 200);
  await check(`${pair}?points=0`, 400);
  await check(`${pair}?from=2026-11-21T03:12:00Z&to=2026-11-21T03:11:00Z`, 400);
});

step('incidents, silences and maintenance', async () => {
  const send = (path, method, body, status, type = 'application/json') => check(path, status, mesh.url,
    { method, ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': type } }) });
  // The agent that the events' step killed is an incident.
  const { open: [incident] } = await eventually(async () => {
    const verdict = await mesh.json('/api/v1/incidents');
    return verdict.open.length > 0 && verdict;
  }, 60, 'an incident opens');
  await check('/api/v1/incidents', 200);
  await check('/api/v1/incidents?format=csv', 200);
  await check('/api/v1/incidents?format=xml', 400);
  await check(`/api/v1/incidents/${incident.id}`, 200);
  await check('/api/v1/incidents/4711', 404);
  await send(`/api/v1/incidents/${incident.id}`, 'POST', { acknowledge: true, by: 'ann', comment: 'on it' }, 200);
  assert.equal((await mesh.json(`/api/v1/incidents/${incident.id}`)).acknowledged.by, 'ann');
  await send(`/api/v1/incidents/${incident.id}`, 'POST', { acknowledge: 'yes' }, 400);
  await send(`/api/v1/incidents/${incident.id}`, 'POST', { acknowledge: true }, 415, 'text/plain');
  await send('/api/v1/incidents/4711', 'POST', { acknowledge: true }, 409);
  await send('/api/v1/incidents/x', 'POST', { acknowledge: true }, 404);
  const silence = { matchers: { culprit: incident.culprit }, duration: '1h', by: 'ann', comment: '' };
  const { id } = JSON.parse(await send('/api/v1/silences', 'POST', silence, 201));
  await send('/api/v1/silences', 'POST', { ...silence, matchers: {} }, 400);
  await send('/api/v1/silences', 'POST', { ...silence, duration: undefined, until: '2001-01-01T00:00:00Z' }, 409);
  await send('/api/v1/silences', 'POST', silence, 415, 'text/plain');
  assert.equal((await mesh.json(`/api/v1/incidents/${incident.id}`)).silenced_by, id);
  await check('/api/v1/silences', 200);
  await send(`/api/v1/silences/${id}`, 'DELETE', null, 200);
  await send(`/api/v1/silences/${id}`, 'DELETE', null, 409);
  await send('/api/v1/silences/x', 'DELETE', null, 404);
  const host = 'gpu "one", a';
  await send('/api/v1/maintenance', 'POST', { host }, 201);
  await send('/api/v1/maintenance', 'POST', { host: 'nobody' }, 409);
  await send('/api/v1/maintenance', 'POST', {}, 400);
  await send('/api/v1/maintenance', 'POST', { host }, 415, 'text/plain');
  await check('/api/v1/maintenance', 200);
  await send(`/api/v1/maintenance/${encodeURIComponent(host)}`, 'DELETE', null, 200);
  await send(`/api/v1/maintenance/${encodeURIComponent(host)}`, 'DELETE', null, 409);
  await eventually(async () => (await mesh.json('/api/v1/history/incidents')).incidents.length > 0, 20, 'it is kept');
  await check('/api/v1/history/incidents?limit=5', 200);
  await check('/api/v1/history/incidents?format=csv', 200);
  await check('/api/v1/history/incidents?limit=x', 400);
});

step('the parameters are the described ones', async () => {
  for (const [template, { get }] of Object.entries(api.paths)) {
    if (!get || !template.startsWith('/api/')) continue;
    const names = (get.parameters ?? []).map(deref).filter((each) => each.in === 'query').map(({ name }) => name);
    const path = template.replace('{probe}/{source}/{destination}', `rdma/${mesh.addresses.slice(0, 2).join('/')}`).replace('{id}', '1');
    for (const name of [...names, 'more']) {
      const { error } = JSON.parse((await (await mesh.get(`${path}?${name}=`)).text()).match(/^\{"error.*/)?.[0] ?? '{}');
      assert.equal(/^unknown parameter/.test(error?.reason), name === 'more', `${path}?${name}: ${error?.reason}`);
    }
  }
});

step('a session, where no tokens are required', async () => {
  const ask = (method, status, body, type = 'application/json') => check('/api/v1/session', status, mesh.url,
    { method, ...(body && { body, headers: { 'Content-Type': type } }) });
  assert.deepEqual(JSON.parse(await ask('GET', 200)), { role: 'operate', tokens: false });
  await ask('POST', 200, '{"token":"any"}');
  await ask('POST', 400, '{"token":1}');
  await ask('POST', 415, '{"token":"any"}', 'text/plain');
  await ask('DELETE', 200);
});

step('a burst', async () => {
  const [source, destination, gone] = mesh.addresses; // the last one's agent was killed
  const post = (body, status, type = 'application/json', headers = {}) => check('/api/v1/bursts', status, mesh.url,
    { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': type, ...headers } });
  const order = { probe: 'rdma', source, destination, count: 30 };
  const { id } = JSON.parse(await post(order, 202));
  await post(order, 429);
  await check(`/api/v1/bursts/${id}`, 200);
  await eventually(async () => (await mesh.json(`/api/v1/bursts/${id}`)).state === 'done', 20, 'it is done');
  await check(`/api/v1/bursts/${id}`, 200);
  assert.equal((await check(`/api/v1/bursts/${id}?format=csv`, 200)).split('\r\n').length, 1 + order.count + 1);
  await check(`/api/v1/bursts/${id}?format=xml`, 400);
  await check('/api/v1/bursts/0000000000000000', 404);
  await post({ ...order, count: 0 }, 400);
  await post({ ...order, probe: 'none' }, 404);
  await post({ ...order, source: gone }, 409);
  await post({ ...order, probe: 'x'.repeat(5000) }, 413);
  await post(order, 415, 'text/plain');
  await post(order, 403, 'application/json', { Origin: 'http://elsewhere.example' });
});

// What a collector says about an application with an anomaly.
const DEVIATION = { metric: 'step_seconds', part: 'mean', statistic: 'peers', score: 2.5, value: 0.015, peers: 0.01 };
const APPLICATION = { host: 'gpu-1', application: 'trainer', pid: 7, owner: 3 };

step('the answers about applications are described', async () => {
  const collector = createServer(({ url }, answer) => answer.end(JSON.stringify({
    '/api/v1/applications': { watched: true, events: 1, applications: [{ ...APPLICATION, agent: '10.0.0.1:20714', pages: 1, metrics: 4,
      state: 'fresh', anomalous: true, score: 2.5, deviation: DEVIATION }] },
    '/api/v1/events': { events: [{ ...APPLICATION, time: new Date().toISOString(), kind: 'anomaly', began: true, statistic: 'peers',
      metric: 'step_seconds', value: 2.5, limit: 1, deviations: [DEVIATION] }] },
    '/api/v1/pages?agent=gpu-1': { agents: [] },
  }[url])));
  await new Promise((resolve) => { collector.listen(0, '127.0.0.1', resolve); });
  const register = (body, status, type = 'application/json') => check('/api/v1/collectors', status, mesh.url,
    { method: 'POST', headers: { 'Content-Type': type }, body: JSON.stringify(body) });
  const url = `http://127.0.0.1:${collector.address().port}`;
  try {
    await check('/api/v1/applications/gpu-1', 404);
    await register({ name: 'dpu-1', url }, 200);
    await eventually(async () => (await mesh.json('/api/v1/anomalies?host=gpu-1')).events.length === 1, 30, 'the collector is asked');
    await check('/api/v1/collectors', 200);
    await check('/api/v1/applications', 200);
    await check('/api/v1/anomalies', 200);
    await check('/api/v1/applications/gpu-1', 200);
  } finally {
    await new Promise((resolve) => { collector.close(resolve); });
  }
  await check('/api/v1/applications/gpu-1', 503);
  await check('/api/v1/anomalies?from=yesterday', 400);
  await register({ name: 'dpu-1', url: 'http://192.0.2.1:1' }, 400);
  await register({ name: 'dpu-1', url }, 415, 'text/plain');
  for (let port = 1; port < 32; ++port) await register({ name: 'dpu-1', url: `http://127.0.0.2:${port}` }, 200);
  await register({ name: 'dpu-1', url: 'http://127.0.0.2:32' }, 429);
});

step('errors of any path are described', async () => {
  const valid = ajv.compile({ $ref: 'api#/components/schemas/Error' });
  for (const [path, options, status] of [['/nothing', {}, 404], ['/api/v1/grid', { method: 'DELETE' }, 405],
    [`/${'x'.repeat(5000)}`, {}, 414]]) {
    const answer = await mesh.get(path, options);
    assert.equal(answer.status, status);
    assert.ok(valid(await answer.json()), `${status}: ${JSON.stringify(valid.errors)}`);
  }
});

step('a controller without Redis is not ready', async () => {
  const [path, url] = [mesh.path('alone.yaml'), mesh.path('alone.url')];
  writeFileSync(path, JSON.stringify({ pinglist: mesh.path('pinglist.yaml'), control: `${mesh.subnet}.253:20711`,
    http: `${mesh.subnet}.253:0`, state_dir: mesh.path('alone'), redis: `unix:${mesh.path('no.sock')}`, url_file: url,
    alerts: [{ name: 'slow', kind: 'command', argv: ['/bin/sleep', '3'] }] }));
  const alone = new Program(mesh.path('alone.log'), mesh.binary('pingloom-controller'), ['--config', path]);
  try {
    const base = await eventually(() => mesh.read('alone.url'), 30, 'the controller says where it listens');
    await check('/readyz', 503, base);
    const tested = (target, status, headers = {}) => check(`/api/v1/alerts/${target}/test`, status, base, { method: 'POST', headers });
    const first = tested('slow', 200);
    await new Promise((resolve) => { setTimeout(resolve, 500); }); // requests may overtake each other
    await tested('slow', 429);
    await tested('none', 404);
    await tested('slow', 403, { Origin: 'http://elsewhere.example' });
    assert.equal(JSON.parse(await first).delivered, true);
    await check('/api/v1/alerts', 200, base);
    await check('/api/v1/status', 200, base);
    await check('/api/v1/alerts?format=csv', 200, base);
    await check('/api/v1/alerts?format=xml', 400, base);
    await check('/-/ready', 503, base);
    await check('/api/v1/status', 200, base);
    await check('/api/v1/history', 200, base);
  } finally {
    await alone.kill();
  }
});

step('the test has seen every described answer', () => {
  const described = Object.entries(api.paths).flatMap(([path, methods]) => Object.values(methods)
    .flatMap(({ responses }) => Object.entries(responses)).flatMap(([status, response]) => Object.keys(deref(response).content ?? {}).map((type) => `${path} ${status} ${type}`)));
  assert.deepEqual(described.filter((each) => !seen.has(each)), []);
});

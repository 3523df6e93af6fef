// packaging/: the Grafana dashboard and the Prometheus rules are valid, and all metrics, labels and
// label values in them are in the /metrics of a real controller.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before } from 'node:test';
import { Mesh } from './mesh.mjs';
import { npm } from './packages.mjs';
import { anyFailed, step } from './steps.mjs';

const { default: yaml } = await npm('js-yaml');
const read = (name) => readFileSync(new URL(`../../packaging/${name}`, import.meta.url), 'utf8');

// The words of PromQL that the rules use; any other name is a metric.
const WORDS = new Set(['sum', 'min', 'max', 'by', 'rate', 'changes', 'or', 'and', 'unless', 'vector', 'label_values',
  'histogram_quantile', 'topk']);
const FROM_PROMETHEUS = { instance: null, job: null }; // labels that Prometheus adds

let mesh;
const metrics = new Map(); // name -> label -> values

before(async () => {
  mesh = new Mesh({ hosts: 2, protocols: ['udp', 'tcp'],
    more: (members) => [{ name: 'racks', protocol: 'udp', mesh: members, rollup: 'rack' }] });
  await mesh.start({ agents: false });
  const text = await (await mesh.get('/metrics')).text();
  for (const line of text.split('\n')) {
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? /.exec(line);
    if (!sample) continue;
    const labels = metrics.get(sample[1]) ?? new Map();
    metrics.set(sample[1], labels);
    for (const [, name, value] of (sample[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels.set(name, (labels.get(name) ?? new Set()).add(value));
    }
  }
  metrics.set('up', new Map());
  // These have only the combinations that exist, so the values of their labels come from elsewhere.
  const [probe] = (await (await mesh.get('/api/v1/probes')).json()).probes;
  const severity = new Set(Object.keys(probe.severities));
  for (const [name, labels] of [
    ['pingloom_pairs', { probe: new Set(), state: new Set(Object.keys(probe.states)), severity }],
    ['pingloom_incidents_open', { kind: new Set(), severity }]]) {
    assert.match(text, new RegExp(`^# TYPE ${name} gauge$`, 'm'));
    metrics.set(name, new Map(Object.entries(labels)));
  }
});

after(() => mesh.end(anyFailed()));

function checkMatcher(metric, [, label, operator, value], where) {
  if (label in FROM_PROMETHEUS) return;
  const known = metrics.get(metric).get(label);
  assert.ok(known, `${where}: ${metric} has no label ${label}`);
  if (value.includes('$')) return;
  const values = operator.endsWith('~') ? value.split('|') : [value];
  for (const each of values) assert.ok(known.has(each), `${where}: ${metric} never has ${label}="${each}"`);
}

function checkExpression(text, recorded, where) {
  const count = (what) => text.split(what).length - 1;
  assert.equal(count('('), count(')'), `${where}: brackets`);
  assert.equal(count('{'), count('}'), `${where}: braces`);
  const bare = text.replace(/\bby \([\w, ]*\)/g, '').replace(/\[(\d+[smhd]|\$__rate_interval)\]( offset \d+[smhd])?/g, '')
    .replace(/(label_values\([^,]*), \w+\)/g, '$1)');
  let found = 0;
  for (const [, name, , matchers] of bare.matchAll(/([a-zA-Z_:][\w:]*)(\{([^}]*)\})?/g)) {
    if (WORDS.has(name)) continue;
    found += 1;
    assert.ok(metrics.has(name) || recorded.has(name), `${where}: no metric ${name}`);
    for (const matcher of (matchers ?? '').matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)) checkMatcher(name, matcher, where);
    // The braces contain matchers only.
    assert.match(matchers ?? '', /^(\w+(=~|!~|!=|=)"[^"]*"(,\s*|$))*$/, where);
  }
  assert.ok(found > 0, `${where}: names a metric`);
}

step('Prometheus rules', () => {
  const { groups } = yaml.load(read('prometheus/pingloom.rules.yml'));
  const recorded = new Set();
  const names = [];
  for (const rule of groups.flatMap(({ rules }) => rules)) {
    const name = rule.alert ?? rule.record;
    names.push(name);
    const known = rule.alert ? ['alert', 'expr', 'for', 'labels', 'annotations'] : ['record', 'expr'];
    assert.deepEqual(Object.keys(rule).filter((key) => !known.includes(key)), [], name);
    if (rule.alert) {
      assert.match(rule.for, /^\d+[smh]$/, name);
      assert.ok(['warning', 'critical'].includes(rule.labels.severity), name);
      assert.ok(rule.annotations.summary, name);
    }
    checkExpression(rule.expr, recorded, name);
    if (rule.record) recorded.add(rule.record);
  }
  assert.equal(new Set(names).size, names.length);
});

step('Grafana dashboard', () => {
  const dashboard = JSON.parse(read('grafana/pingloom.json'));
  const ids = dashboard.panels.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  const variables = new Set(dashboard.templating.list.map(({ name }) => name));
  const expressions = [...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr])),
    ...dashboard.templating.list.filter(({ type }) => type === 'query').map(({ name, query }) => [name, query]),
    ...dashboard.annotations.list.map(({ name, expr }) => [name, expr])];
  for (const [where, text] of expressions) {
    checkExpression(text, new Set(), where);
    for (const [, name] of text.matchAll(/\$(\w+)/g)) {
      assert.ok(variables.has(name) || name === '__rate_interval', `${where}: no variable ${name}`);
    }
  }
});

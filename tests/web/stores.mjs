// A collector with a store, a translator that writes it, and a program that reports, on soft devices of loopback addresses.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort, subnetOf } from './mesh.mjs';
import { eventually, Program } from './processes.mjs';

const { PINGLOOM_BIN } = process.env;
const START_SECONDS = 30;

export const TABLES = [
  { name: 'latest', id: 1, kind: 'keyed', slots: 1000, value: '24B' },
  { name: 'events', id: 2, kind: 'lists', lists: 2, blocks: 64, entry: '160B' },
  { name: 'votes', id: 3, kind: 'counters', counters: 10000 },
  { name: 'paths', id: 4, kind: 'paths', slots: 1000 },
  { name: 'path-changes', id: 5, kind: 'lists', blocks: 64, entry: '60B' },
];

export class Stores {
  // `tokens` are required by the collector, by role. The programs are those of `programs`.
  constructor({ tokens = null, tables = TABLES, programs = PINGLOOM_BIN } = {}) {
    [this.tokens, this.tables, this.programs] = [tokens, tables, programs];
    this.directory = mkdtempSync('/tmp/pingloom-web-');
    this.subnet = subnetOf(process.pid);
  }

  path(name) {
    return join(this.directory, name);
  }

  run(name, config) {
    writeFileSync(this.path(`${name}.yaml`), JSON.stringify(config)); // JSON is YAML
    return new Program(this.path(`${name}.log`), join(this.programs, `pingloom-${name}`), ['--config', this.path(`${name}.yaml`)]);
  }

  async chooseAddresses() {
    [this.collectorHome, this.translatorHome] = [`${this.subnet}.201`, `${this.subnet}.202`];
    this.http = `${this.collectorHome}:${await freePort(this.collectorHome)}`;
    this.url = `http://${this.http}`;
    this.control = await freePort(this.collectorHome);
    this.reports = `${this.translatorHome}:${await freePort(this.translatorHome)}`;
    this.status = `${this.translatorHome}:${await freePort(this.translatorHome)}`;
    const lines = Object.entries(this.tokens ?? {}).map(([role, token]) => `${role} ${token}\n`);
    writeFileSync(this.path('http-tokens'), lines.join(''), { mode: 0o600 });
  }

  async start() {
    await this.chooseAddresses();
    await this.startCollector();
    await this.startTranslator();
    this.reporter = new Program(this.path('reporter.log'), 'env', [
      `PINGLOOM_REPORT_LIBRARY=${join(PINGLOOM_BIN, '../lib/libpingloom-report.so.0')}`,
      'python3', '-B', fileURLToPath(new URL('reporter.py', import.meta.url)), this.reports], 'pipe');
    this.answers = createInterface(this.reporter.child.stdout)[Symbol.asyncIterator]();
    return this;
  }

  async startCollector() {
    this.collector = this.run('collector', { address: this.collectorHome, device: 'soft', http: this.http, stores_port: this.control,
      stores: [{ translator: 'rack-7', file: this.path('rack-7.store'), tables: this.tables }],
      ...(this.tokens ? { http_access: { tokens: this.path('http-tokens') } } : {}) });
    await eventually(() => {
      if (!this.collector.running()) throw new Error(`the collector ended:\n${this.collector.tail()}`);
      return this.get('/healthz').then(({ status }) => status === 200, () => false);
    }, START_SECONDS, 'the collector answers HTTP');
  }

  async startTranslator() {
    this.translator = this.run('translator', { address: this.translatorHome, device: 'soft', name: 'rack-7',
      collector: `${this.collectorHome}:${this.control}`, listen: this.reports, http: this.status });
    await eventually(async () => {
      if (!this.translator.running()) throw new Error(`the translator ended:\n${this.translator.tail()}`);
      const { stores } = await (await this.get('/api/v1/dta/tables')).json();
      return stores[0].connected && stores[0].writer && !stores[0].writer.stale;
    }, START_SECONDS, 'the translator writes');
  }

  // `reports` are lists of a method of pingloom_report.Reporter and its arguments.
  async report(...reports) {
    this.reporter.child.stdin.write(`${JSON.stringify(reports)}\n`);
    const { done } = await this.answers.next();
    if (done) throw new Error(`the reporter ended:\n${this.reporter.tail()}`);
  }

  get(path) {
    const token = this.tokens?.read;
    return fetch(this.url + path, { headers: token ? { Authorization: `Bearer ${token}` } : {} });
  }

  // Keeps the logs, and says where they are, where the test has failed.
  async end(failed = false) {
    for (const program of [this.reporter, this.translator, this.collector]) if (program?.running()) await program.kill('SIGTERM');
    if (failed) console.error(`the logs are in ${this.directory}`);
    else rmSync(this.directory, { recursive: true, force: true });
  }
}

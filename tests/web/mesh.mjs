// A real mesh: a controller with its Redis, and agents with the soft device on loopback addresses.

import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { eventually, Program } from './processes.mjs';

const { PINGLOOM_BIN, PINGLOOM_WEB } = process.env;
const START_SECONDS = 30;

export function freePort(host) {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject).listen(0, host, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// Returns a loopback /24 for this process alone.
export function subnetOf(pid) {
  const number = pid % (80 * 256);
  return `127.${150 + Math.floor(number / 256) % 80}.${number % 256}`;
}

export class Mesh {
  // `names` are the hosts' names in the pinglist; hosts without one are host-1, host-2 and so on.
  // Where `page` is null, the controller finds the page itself. `tokens` are required by the
  // controller, by role. With `pages` each agent serves metric pages. `more` returns probes besides the meshes, given the addresses.
  constructor({ hosts = 4, names = {}, agentNames = {}, racks = 2, protocols = ['rdma'], more = () => [], window = '1s',
    programs = PINGLOOM_BIN, page = PINGLOOM_WEB, tokens = null, pages = false } = {}) {
    [this.programs, this.page, this.tokens, this.pages] = [programs, page, tokens, pages];
    this.subnet = subnetOf(process.pid);
    this.directory = mkdtempSync('/tmp/pingloom-web-');
    this.addresses = Array.from({ length: hosts }, (_, at) => `${this.subnet}.${at + 1}`);
    this.names = this.addresses.map((_, at) => names[at] ?? `host-${at + 1}`);
    this.agentNames = this.addresses.map((_, at) => agentNames[at] ?? `host-${at + 1}`);
    this.pinglist = { racks, protocols, more, window };
    this.agents = [];
  }

  binary(name) {
    return join(this.programs, name);
  }

  // Returns the text of a file of the mesh; '' before the file exists.
  read(name) {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), 'utf8').trim() : '';
  }

  path(name) {
    return join(this.directory, name);
  }

  // Writes JSON, which is YAML.
  pinglistText({ racks, protocols, more, window } = this.pinglist) {
    const hosts = Object.fromEntries(this.addresses.map((address, at) => [this.names[at],
      { address, rack: `r${1 + Math.floor((at * racks) / this.addresses.length)}` }]));
    return JSON.stringify({ version: 1, defaults: { interval: '100ms', timeout: '300ms', window }, hosts,
      probes: [...protocols.map((protocol) => ({ name: protocol, protocol, mesh: this.addresses })), ...more(this.addresses)] }, null, 1);
  }

  // Saves like an editor, in one step.
  savePinglist(text = this.pinglistText()) {
    writeFileSync(this.path('pinglist.tmp'), text);
    renameSync(this.path('pinglist.tmp'), this.path('pinglist.yaml'));
  }

  async start({ agents = true } = {}) {
    this.savePinglist();
    const home = `${this.subnet}.254`;
    this.control = `${home}:${await freePort(home)}`;
    this.http = `${home}:${await freePort(home)}`;
    this.url = `http://${this.http}`;
    writeFileSync(this.path('controller.yaml'), JSON.stringify({ pinglist: this.path('pinglist.yaml'),
      control: this.control, http: this.http, state_dir: this.path('controller'), redis: 'embedded',
      redis_socket: this.path('redis.sock'), ...(this.page ? { web_root: this.page } : {}),
      ...(this.tokens ? { http_access: { tokens: this.path('http-tokens') } } : {}) }));
    this.saveTokens();
    await this.startController();
    for (let at = 0; agents && at < this.addresses.length; ++at) this.startAgent(at);
    return this;
  }

  saveTokens() {
    const lines = Object.entries(this.tokens ?? {}).map(([role, token]) => `${role} ${token}\n`);
    writeFileSync(this.path('http-tokens'), lines.join(''), { mode: 0o600 });
  }

  async startController() {
    this.controller = new Program(this.path('controller.log'), this.binary('pingloom-controller'),
      ['--config', this.path('controller.yaml')]);
    await eventually(() => {
      if (!this.controller.running()) throw new Error(`the controller ended:\n${this.controller.tail()}`);
      return this.get('/healthz').then(({ status }) => status === 200, () => false);
    }, START_SECONDS, 'the controller answers HTTP');
  }

  // `impair` is what the agent's soft device does to the packets that it sends
  // (docs/soft-device.md).
  startAgent(at, impair = []) {
    writeFileSync(this.path(`agent-${at}.yaml`), JSON.stringify({ controller: this.control, host: this.agentNames[at],
      addresses: [this.addresses[at]], http: 'none', state_dir: this.path(`agent-${at}`), rdma: { device: 'soft', impair },
      ...(this.pages && { pages: { address: `${this.subnet}.${101 + at}`, device: 'soft', socket: this.pagesSocket(at) } }) }));
    this.agents[at] = new Program(this.path(`agent-${at}.log`), this.binary('pingloom-agent'),
      ['--config', this.path(`agent-${at}.yaml`)]);
  }

  pagesSocket(at) {
    return this.path(`pages-${at}.sock`);
  }

  // Restarts the agent with an impaired device.
  async impairAgent(at, impair) {
    await this.agents[at].kill('SIGTERM');
    this.startAgent(at, impair);
  }

  get(path, options = {}) {
    const token = this.tokens?.operate;
    return fetch(this.url + path, { ...options, headers: { ...(token && { Authorization: `Bearer ${token}` }), ...options.headers } });
  }

  async json(path) {
    return (await this.get(path)).json();
  }

  // Waits until every pair of the probe is ok.
  waitUntilWell(probe, seconds = 60) {
    const pairs = this.addresses.length * (this.addresses.length - 1);
    return eventually(async () => {
      const ended = this.agents.find((agent) => !agent.running());
      if (ended) throw new Error(`an agent ended:\n${ended.tail()}`);
      const { probes } = await this.json('/api/v1/probes');
      return probes.find(({ name }) => name === probe)?.states.ok === pairs;
    }, seconds, `all pairs of ${probe} are ok`);
  }

  // Keeps the logs, and says where they are, where the test has failed.
  async end(failed = false) {
    for (const agent of this.agents) if (agent?.running()) await agent.kill('SIGTERM');
    if (this.controller?.running()) await this.controller.kill('SIGTERM'); // the controller ends its Redis
    if (failed) console.error(`the logs are in ${this.directory}`);
    else rmSync(this.directory, { recursive: true, force: true });
  }
}

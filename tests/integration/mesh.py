"""A whole mesh for a test: a controller with its Redis, and agents on loopback addresses, or on hosts
with networks of their own (fabric.py).

Every mesh has a private 127.x.y.0/24, a port and a directory of its own, so tests may run side by
side. Everything it starts is killed when the test ends; when it failed, the logs are printed.
"""

import http.client
import itertools
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import tempfile

from processes import Process, binary, discard_all, eventually
from resp import Resp, RespError

ROOT = pathlib.Path(__file__).resolve().parents[2]
_numbers = itertools.count()
_given_ports = set()


def private_subnet():
    """The first three numbers of a loopback /24 that no other running test process uses."""
    number = (os.getpid() * 8 + next(_numbers) % 8) % (200 * 256)
    return f"127.{20 + number // 256}.{number % 256}"


def _ports():
    """Below the ports that the kernel gives to outgoing connections, any of which may take a port at any time."""
    first_ephemeral = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    return range(21000, max(min(first_ephemeral, 32768), 21100))


def free_port(kinds=(socket.SOCK_STREAM, socket.SOCK_DGRAM)):
    """A port that is free on every address of this machine, for TCP and UDP. It is given to one caller only."""
    for _ in range(200):
        port = random.choice(_ports())
        if port in _given_ports:
            continue
        try:
            for kind in kinds:
                with socket.socket(socket.AF_INET, kind) as tried:
                    tried.bind(("", port))
        except OSError:
            continue
        _given_ports.add(port)
        return port
    raise RuntimeError("no free port")


def give_back(port):
    """One that nobody has used."""
    _given_ports.discard(port)


class Loopback:
    """All hosts of a mesh are this machine."""

    def __init__(self):
        self.subnet = private_subnet()
        self.home = self.subnet + ".254"  # the controller's address

    def hosts(self, count):
        """The addresses of each host."""
        return [[f"{self.subnet}.{i + 1}"] for i in range(count)]

    def inside(self, _):
        """What a process has to call before it is one of this host's."""


class Answer:
    def __init__(self, status, body):
        self.status = status
        self.body = body

    def json(self):
        return json.loads(self.body)


class Mesh:
    def __init__(self, case, hosts=3, redis="embedded", network=None, **pinglist_options):
        self.case = case
        self.network = network or Loopback()
        self.home = self.network.home
        self.hosts_addresses = self.network.hosts(hosts)
        self.controller_options = {}
        self.agent_options = {}  # by agent: keys of its configuration beside ours, or instead of them
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-it-"))
        self.redis_socket = self.directory / "redis.sock"
        self.redis = redis
        self.environment = {}  # by agent: what its process has beside ours
        self.rdma = {}  # by agent: the rdma section of its configuration; the soft device otherwise
        self.addresses = [addresses[0] for addresses in self.hosts_addresses]
        self.control_port = free_port()
        self.http_port = free_port()
        self.port = free_port()
        self.agent_http_port = free_port()
        self.pinglist_path = self.directory / "pinglist.yaml"
        self.controller = None
        self.agents = {}
        self._processes = []
        case.addCleanup(self._end)
        self.write_pinglist(self.mesh_pinglist(**pinglist_options))

    @property
    def subnet(self):
        return self.network.subnet

    # ---- configuration ----

    def mesh_pinglist(self, protocols=("udp",), interval="100ms", timeout="300ms", window="1s",
                      addresses=None):
        members = ", ".join(addresses or self.addresses)
        lines = ["version: 1",
                 f"defaults: {{ interval: {interval}, timeout: {timeout}, window: {window} }}",
                 "probes:"]
        for protocol in protocols:
            lines += [f"  - name: {protocol}", f"    protocol: {protocol}", f"    mesh: [{members}]"]
        return "\n".join(lines) + "\n"

    def write_pinglist(self, text):
        """As editors save: whole or not at all."""
        temporary = self.pinglist_path.with_suffix(".tmp")
        temporary.write_text(text)
        os.replace(temporary, self.pinglist_path)

    def _write_controller_config(self):
        path = self.directory / "controller.yaml"
        path.write_text(f"""pinglist: {self.pinglist_path}
control: {self.home}:{self.control_port}
http: {self.home}:{self.http_port}
state_dir: {self.directory}/controller
redis: {self.redis}
""" + (f"redis_socket: {self.redis_socket}\n" if self.redis == "embedded" else "")
            + ("" if "keys" in self.controller_options else "insecure: true\n")
            + "".join(f"{key}: {value}\n" for key, value in self.controller_options.items()))
        return path

    def write_agent_config(self, index):
        path = self.directory / f"agent-{index}.yaml"
        options = {"controller": f"{self.home}:{self.control_port}", **self.agent_options.get(index, {})}
        path.write_text("".join(f"{key}: {value}\n" for key, value in options.items()) + f"""host: host-{index}
addresses: [{", ".join(self.hosts_addresses[index])}]
port: {self.port}
state_dir: {self.directory}/agent-{index}
http: {self.addresses[index]}:{self.agent_http_port}
rdma: {self.rdma.get(index, "{ device: soft }")}
""")
        return path

    # ---- processes ----

    def run(self, name, *arguments, environment=None, inside=None):
        process = Process(name, list(arguments), self.directory / f"{name}.log", environment, inside)
        self._processes.append(process)
        return process

    def start(self):
        self.start_controller()
        for index in range(len(self.addresses)):
            self.start_agent(index)
        return self

    def start_controller(self, wait=True):
        self.controller = self.run("controller", binary("pingloom-controller"), "--config",
                                   str(self._write_controller_config()))
        if wait:
            eventually(lambda: self._alive(self.controller) and self.get("/healthz").status == 200,
                       20, "the controller answers HTTP")
        return self.controller

    def start_agent(self, index):
        self.agents[index] = self.run(f"agent-{index}", binary("pingloom-agent"), "--config",
                                      str(self.write_agent_config(index)),
                                      environment=self.environment.get(index),
                                      inside=lambda: self.network.inside(index))
        return self.agents[index]

    def start_redis(self):
        """An external Redis for meshes with redis="unix:..."; returns its process."""
        process = self.run("redis", "redis-server", "--port", "0", "--unixsocket",
                           str(self.redis_socket), "--save", "", "--appendonly", "no", "--dir",
                           str(self.directory))
        eventually(lambda: self.ask_redis("PING") == "PONG", 10, "redis-server answers")
        return process

    @staticmethod
    def _alive(process):
        if not process.running():
            raise AssertionError(f"{process.name} ended with {process.process.returncode}:\n{process.tail()}")
        return True

    def assert_all_alive(self):
        for process in [self.controller, *self.agents.values()]:
            self._alive(process)

    def cli(self, *arguments, timeout=30):
        return subprocess.run([binary("pingloom"), *arguments], capture_output=True, text=True,
                              timeout=timeout, stdin=subprocess.DEVNULL)

    # ---- what it shows ----

    @property
    def url(self):
        return f"http://{self.home}:{self.http_port}"

    def get(self, path, port=None, address=None):
        return self.ask_http("GET", path, port, address)

    def post(self, path, body, port=None, address=None):
        """Sends `body` as JSON."""
        return self.ask_http("POST", path, port, address, json.dumps(body), {"Content-Type": "application/json"})

    def ask_http(self, method, path, port=None, address=None, body=None, headers=None):
        connection = http.client.HTTPConnection(address or self.home, port or self.http_port,
                                                timeout=5)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return Answer(response.status, response.read().decode())
        except http.client.HTTPException as failure:
            raise OSError(str(failure)) from failure
        finally:
            connection.close()

    def status(self):
        return self.get("/api/v1/status").json()

    def hosts(self):
        return {host["host"]: host for host in self.get("/api/v1/hosts").json()["hosts"]}

    def states(self, probe, at=None):
        """{(source, destination): state} as the controller has it now, or of a past time."""
        path = "grid" if at is None else "history/grid"
        answer = self.get(f"/api/v1/{path}?probe={probe}&metric=network_p50" + (f"&at={at}" if at else ""))
        if answer.status != 200:
            return {}
        grid = answer.json()
        return {(source, destination): grid["states"][i][j]
                for i, source in enumerate(grid["sources"])
                for j, destination in enumerate(grid["destinations"])
                if grid["states"][i][j] is not None}

    def agent_metrics(self, index):
        answer = self.get("/metrics", port=self.agent_http_port, address=self.addresses[index])
        return parse_metrics(answer.body)

    def delivered(self):
        """Whether each agent is connected and a controller has acknowledged all that it had."""
        return all(self.agent_metrics(index)["pingloom_agent_spool_batches"] == 0
                   and self.agent_metrics(index)["pingloom_agent_controller_connected"] == 1 for index in self.agents)

    def controller_metrics(self):
        return parse_metrics(self.get("/metrics").body)

    def ask_redis(self, *words):
        with Resp(self.redis_socket) as redis:
            return redis(*words)

    def rows(self, probe):
        """{(source, destination): row} as Redis has it now."""
        rows = {}
        try:
            with Resp(self.redis_socket) as redis:
                for source in redis("SMEMBERS", f"pingloom:sources:{probe}"):
                    for destination, text in redis.hash(f"pingloom:latest:{probe}:{source}").items():
                        rows[source, destination] = json.loads(text)
        except RespError as failure:
            raise OSError(str(failure)) from failure
        return rows

    def pairs(self, addresses=None):
        members = addresses or self.addresses
        return {(a, b) for a in members for b in members if a != b}

    def wait_for_rows(self, probe="udp", pairs=None, state=None, seconds=30):
        """Until Redis has a row for each of the pairs, each in this state."""
        wanted = self.pairs() if pairs is None else set(pairs)

        def there():
            rows = self.rows(probe)
            return wanted <= rows.keys() and (state is None or all(
                rows[pair]["state"] == state for pair in wanted)) and rows

        def missing():
            rows = self.rows(probe)
            return (f"{probe}: every pair has a row" + (f" in state {state}" if state else "")
                    + f"; missing {sorted(wanted - rows.keys())}, states "
                    + f"{ {pair: rows[pair]['state'] for pair in wanted & rows.keys()} }")

        return eventually(there, seconds, missing)

    # ---- the end ----

    def _failed(self):
        outcome = getattr(self.case, "_outcome", None)
        result = getattr(outcome, "result", None)
        troubles = (getattr(result, "failures", []) + getattr(result, "errors", []))
        return any(case is self.case or getattr(case, "test_case", None) is self.case
                   for case, _ in troubles)

    def _end(self):
        try:
            discard_all(self._processes[::-1])
        finally:
            if self._failed():
                for name in sorted({process.log_path for process in self._processes}):
                    tail = "\n".join(name.read_text(errors="replace").splitlines()[-30:])
                    print(f"--- {name.name}\n{tail}", flush=True)
            shutil.rmtree(self.directory, ignore_errors=True)


def parse_metrics(text):
    """{'name{labels}': value} of the Prometheus text format."""
    values = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            values[name] = float(value)
    return values



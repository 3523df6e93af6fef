"""Real agents and a controller in a leaf-spine fabric of network namespaces (scripts/fabric.sh)."""

import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/integration"))
import namespaces  # noqa: E402
from processes import Process, binary, discard_all, eventually  # noqa: E402
from resp import Resp  # noqa: E402

WINDOW = 5  # seconds
INTERVAL, PATHS = "500ms", 8
CONTROLLER = "10.99.0.1"
SKIPPED = 77  # exit code where the kernel does not permit the fabric


class NotPermitted(Exception):
    """Why this machine cannot have such a fabric."""


def fabric(*arguments, check=True):
    done = subprocess.run([str(ROOT / "scripts/fabric.sh"), *arguments], capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"fabric.sh {' '.join(arguments)}: {done.stderr.strip()}")
    return done


class FabricMesh:
    """The process that makes it moves into namespaces of its own, and ends with it."""

    def __init__(self, layout="4x4x8", probe=f"paths: {PATHS}", protocol="rdma"):
        self.probe, self.protocol = probe, protocol
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-fabric-"))
        self.processes = []
        self._enter_namespaces()
        made = fabric("up", layout, check=False)
        if made.returncode != 0:
            raise NotPermitted(made.stderr.strip())
        self.hosts = dict(line.split()[:2] for line in fabric("status").stdout.splitlines()
                          if line.startswith("  host"))
        self._write()

    @staticmethod
    def _enter_namespaces():
        try:
            namespaces.unshare(namespaces.CLONE_NEWNET | namespaces.CLONE_NEWNS)
            for command in (["mount", "--make-rprivate", "/"], ["mount", "-t", "tmpfs", "tmpfs", "/run"],
                            ["mkdir", "/run/netns"], ["ip", "link", "set", "lo", "up"]):
                subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as failure:
            raise NotPermitted(str(failure)) from failure

    def _write(self):
        (self.directory / "topology.yaml").write_text(fabric("topology").stdout)
        members = ", ".join(f'"{address}"' for address in self.hosts.values())
        (self.directory / "pinglist.yaml").write_text(
            "version: 1\n"
            f"defaults: {{ interval: {INTERVAL}, timeout: 500ms, window: {WINDOW}s }}\n"
            "topology: topology.yaml\n" + fabric("hosts").stdout +
            f"probes:\n  - {{ name: {self.protocol}, protocol: {self.protocol}, mesh: [{members}], {self.probe} }}\n")
        (self.directory / "controller.yaml").write_text(
            f"pinglist: {self.directory}/pinglist.yaml\ncontrol: {CONTROLLER}:20711\nhttp: {CONTROLLER}:8080\n"
            f"insecure: true\nstate_dir: {self.directory}/controller\nredis: embedded\n"
            f"redis_socket: {self.directory}/redis.sock\n")
        for host, address in self.hosts.items():
            (self.directory / f"{host}.yaml").write_text(
                f"controller: {CONTROLLER}:20711\nhost: {host}\naddresses: [\"{address}\"]\nhttp: none\n"
                f"state_dir: {self.directory}/{host}\nrdma: {{ device: soft }}\n")

    def start(self):
        self._start("management", "controller", "pingloom-controller")
        for host in self.hosts:
            self._start(host, host, "pingloom-agent")

    def _start(self, node, name, program):
        command = ["ip", "netns", "exec", f"plf-{node}", binary(program), "--config",
                   str(self.directory / f"{name}.yaml")]
        self.processes.append(Process(name, command, self.directory / f"{name}.log"))

    def get(self, path):
        """A socket belongs to the namespace in which it was made, so this thread goes there for a moment."""
        connection = http.client.HTTPConnection(CONTROLLER, 8080, timeout=5)
        with open("/proc/thread-self/ns/net", "rb") as own, open("/run/netns/plf-management", "rb") as management:
            namespaces.enter(management.fileno())
            try:
                connection.connect()
            finally:
                namespaces.enter(own.fileno())
        try:
            connection.request("GET", f"/api/v1/{path}")
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise OSError(f"GET {path}: {answer.status}")
        return json.loads(body)

    def flows(self):
        """How many flows there are, and how many of them have a known path to their end."""
        known = 0
        with Resp(self.directory / "redis.sock") as redis:
            for address in self.hosts.values():
                paths = redis("HVALS", f"pingloom:path:rdma:{address}")
                known += sum(json.loads(path)["end"] == "reached" for path in paths)
        hosts = len(self.hosts)
        return hosts * (hosts - 1) * PATHS, known

    def wait_until_traced(self, seconds=90):
        def traced():
            wanted, known = self.flows()
            return known == wanted
        eventually(traced, seconds, lambda: f"all flows traced; {self.flows()} are", interval=0.5)

    def open_incidents(self):
        return self.get("incidents")["open"]

    def stop(self):
        fabric("fault", "clear", check=False)
        discard_all(self.processes)
        fabric("down", check=False)
        shutil.rmtree(self.directory)


def run_in_child(function):
    """Namespaces are left with the process only. Returns the exit code of `function`."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = function()
        except Exception:  # the exit below would swallow it
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_check(check, **options):
    """Runs check(mesh) in a process of its own and ends this one with its exit code. `options` are FabricMesh's."""
    def run():
        try:
            mesh = FabricMesh(**options)
        except NotPermitted as reason:
            print(f"not permitted here: {reason}")
            return SKIPPED
        try:
            mesh.start()
            check(mesh)
        finally:
            mesh.stop()
        return 0
    sys.exit(run_in_child(run))

"""The integration tests' mesh on the lab's hosts: agents on rxe devices, and on soft devices in
network namespaces of their own."""

import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

from mesh import Mesh, parse_metrics  # noqa: E402
from processes import binary, eventually  # noqa: E402

GUEST = pathlib.Path(__file__).resolve().parent / "guest"
_begin = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - _begin:6.1f} s] {text}", flush=True)


def command(*words, check=True):
    """Runs a program; its output."""
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class LabMesh(Mesh):
    """Hosts 1..rxe have rxe devices; `soft` are the numbers of hosts with soft devices."""

    Q_KEY = 0x1234567  # of all agents: a test that forges packets has to know it

    def __init__(self, case, rxe, soft=()):
        super().__init__(case, hosts=rxe)
        self.numbers = [*range(1, rxe + 1), *soft]
        self.soft = set(soft)
        self.addresses = [f"10.0.0.{number}" for number in self.numbers]
        for number in soft:
            command(str(GUEST / "soft_host.sh"), str(number))

    def address(self, number):
        return f"10.0.0.{number}"

    def _write_controller_config(self):
        path = super()._write_controller_config()
        # Soft hosts reach it through the bridge.
        path.write_text(path.read_text().replace(f"control: {self.subnet}.254:", "control: 0.0.0.0:"))
        return path

    # Metrics are asked for without a source address: where host 1 can be one, or on loopback.
    def _http_address(self, index):
        number = self.numbers[index]
        return self.addresses[index] if number in self.soft else f"{self.subnet}.{number}"

    def write_agent_config(self, index):
        number = self.numbers[index]
        soft = number in self.soft
        path = self.directory / f"agent-{number}.yaml"
        path.write_text(f"""controller: {"10.0.0.1" if soft else self.subnet + ".254"}:{self.control_port}
host: host-{number}
addresses: [{self.addresses[index]}]
port: {self.port}
state_dir: {self.directory}/agent-{number}
http: {self._http_address(index)}:{self.agent_http_port}
rdma: {{ device: {"soft" if soft else "auto"}, q_key: {self.Q_KEY} }}
""")
        return path

    def start_agent(self, index):
        number = self.numbers[index]
        prefix = ["ip", "netns", "exec", f"soft{number}"] if number in self.soft else []
        self.agents[index] = self.run(f"agent-{number}", *prefix, binary("pingloom-agent"),
                                      "--config", str(self.write_agent_config(index)))
        return self.agents[index]

    def agent(self, number):
        return self.agents[self.numbers.index(number)]

    def metrics(self, number):
        address = self._http_address(self.numbers.index(number))
        return parse_metrics(self.get("/metrics", port=self.agent_http_port, address=address).body)

    def pair(self, source, destination):
        return self.address(source), self.address(destination)

    def pairs_of(self, *numbers, among=None):
        """All pairs that one of these hosts is in, among these hosts."""
        among = among or self.numbers
        return {self.pair(a, b) for a in among for b in among
                if a != b and (a in numbers or b in numbers)}

    def pairs_among(self, *numbers):
        return self.pairs_of(*numbers, among=numbers)

    def endpoint(self, number):
        """The queue pair it is registered with now."""
        return self.hosts()[f"host-{number}"]["endpoints"][0]["qpn"]


def utc(seconds):
    """As rows write it; whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Rows:
    """A probe's windows that begin from now on, each once, by pair and start; in whole seconds."""

    def __init__(self, mesh, probe):
        self.mesh = mesh
        self.probe = probe
        self.since = utc(time.time() + 1)
        self.rows = {}

    def gather(self):
        for pair, row in self.mesh.rows(self.probe).items():
            if row.get("sent") and row["start"] >= self.since:
                self.rows[pair, row["start"]] = row
        return self

    def gather_until(self, condition, what, seconds=90):
        """Until condition(self) holds. The guest is slow, and slower where the machine is busy."""
        eventually(lambda: condition(self.gather()), seconds,
                   lambda: f"{self.probe}: {what}: {self.mesh.states(self.probe)}", 0.3)
        return self

    def gather_past(self, pairs):
        """Until each of these pairs has a window that begins after now."""
        now = utc(time.time())
        return self.gather_until(
            lambda rows: all(any(row["start"] > now for row in rows.of(pair)) for pair in pairs),
            "a later window of every pair")

    def of(self, pair):
        return [row for (of, _), row in sorted(self.rows.items()) if of == pair]

    def latest(self):
        return {pair: row for (pair, _), row in sorted(self.rows.items())}

    def total(self, pair, field):
        return sum(row[field] for row in self.of(pair))


class Fault:
    """Makes it, and mends it at the end, also when a check fails."""

    def __init__(self, make, mend):
        self.make = make
        self.mend = mend

    def __enter__(self):
        command(*self.make.split())
        return self

    def __exit__(self, *_):
        command(*self.mend.split())

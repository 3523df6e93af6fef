"""The faults of the matrix: how each is inflicted on a running mesh, how it ends, and who is at fault."""

import random
import signal
import threading
import time

SLOW = "{ delay: 2ms, jitter: 300us }"
LOSSY = "{ loss: 20% }"
RACK = 4  # hosts in a rack


def device(*impairments):
    return f"{{ device: soft, impair: [{', '.join(impairments)}] }}"


class Fault:
    """One fault on one mesh. `expected` are the acceptable (kind, culprit) of its incident; none: no incident may open."""

    def __init__(self, mesh, seed):
        self.mesh = mesh
        self.random = random.Random(seed)
        self.names = mesh.names
        self.host = self.random.randrange(len(mesh.addresses))
        self.expected = set()

    def begin(self):
        raise NotImplementedError

    def end(self):
        """Afterwards the mesh is well again."""

    def restart(self, host, rdma=None):
        self.mesh.agents[host].kill()
        self.mesh.rdma[host] = rdma or device()
        self.mesh.start_agent(host)


class Impaired(Fault):
    impairment = SLOW

    def begin(self):
        self.expected = {("host", self.names[self.host])}
        self.restart(self.host, device(self.impairment))

    def end(self):
        self.restart(self.host)


class Lossy(Impaired):
    impairment = LOSSY


class TwoHosts(Fault):
    def begin(self):
        self.hosts = self.random.sample(range(len(self.names)), 2)
        self.expected = {("host", self.names[host]) for host in self.hosts}
        for host in self.hosts:
            self.restart(host, device(SLOW))

    def end(self):
        for host in self.hosts:
            self.restart(host)


class Pair(Fault):
    """What one host sends to another is impaired, and so both directions of the pair are."""

    def begin(self):
        other = (self.host + 1 + self.random.randrange(len(self.names) - 1)) % len(self.names)
        a, b = self.names[self.host], self.names[other]
        self.expected = {("pair", f"{x} {arrow} {y}") for x, y in ((a, b), (b, a)) for arrow in ("->", "<->")}
        self.restart(self.host, device(f"{{ to: {self.mesh.addresses[other]}, delay: 2ms }}"))

    def end(self):
        self.restart(self.host)


class Rack(Fault):
    """A rack's uplink: its hosts are slow to everybody outside."""

    def begin(self):
        rack = self.host // RACK
        self.hosts = range(rack * RACK, min((rack + 1) * RACK, len(self.names)))
        self.expected = {("group", f"rack=r{rack + 1}")}
        for host in self.hosts:
            outside = [f"{{ to: {address}, delay: 2ms }}" for other, address in enumerate(self.mesh.addresses)
                       if other not in self.hosts]
            self.restart(host, device(*outside))

    def end(self):
        for host in self.hosts:
            self.restart(host)


class Starved(Fault):
    """The host's agent runs 2 ms of 14."""

    def begin(self):
        self.expected = {("host-cpu", self.names[self.host])}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.starve, daemon=True)
        self.thread.start()

    def starve(self):
        agent = self.mesh.agents[self.host]
        while not self.ended.is_set():
            agent.signal(signal.SIGSTOP)
            time.sleep(0.012)
            agent.signal(signal.SIGCONT)
            time.sleep(0.002)

    def end(self):
        self.ended.set()
        self.thread.join()
        self.mesh.agents[self.host].signal(signal.SIGCONT)


class Dead(Fault):
    def begin(self):
        self.expected = {("agent", self.names[self.host])}
        self.mesh.agents[self.host].kill()

    def end(self):
        self.mesh.start_agent(self.host)


class Flapping(Fault):
    def begin(self):
        self.expected = {("agent", self.names[self.host])}
        for _ in range(3):
            self.restart(self.host)
            time.sleep(3)


class Nothing(Fault):
    """A well mesh, with both cores busy."""

    def begin(self):
        self.ended = threading.Event()
        self.load = [self.mesh.run(f"load-{i}", "sh", "-c", "while :; do :; done") for i in range(2)]

    def end(self):
        for process in self.load:
            process.kill()


class StalledController(Fault):
    def begin(self):
        self.mesh.controller.signal(signal.SIGSTOP)
        time.sleep(8)
        self.mesh.controller.signal(signal.SIGCONT)


class RollingRestart(Fault):
    def begin(self):
        for host in range(len(self.names)):
            self.mesh.agents[host].stop()
            self.mesh.start_agent(host)
            time.sleep(1)


class PinglistEdit(Fault):
    """A host leaves the pinglist, and comes back."""

    def begin(self):
        self.mesh.write_pinglist(self.mesh.pinglist(without=self.host))
        time.sleep(5)
        self.mesh.write_pinglist(self.mesh.pinglist())


FAULTS = {
    "slow": Impaired, "lossy": Lossy, "two": TwoHosts, "pair": Pair, "rack": Rack, "starved": Starved, "dead": Dead,
    "flapping": Flapping, "nothing": Nothing, "stalled_controller": StalledController,
    "rolling_restart": RollingRestart, "pinglist_edit": PinglistEdit,
}

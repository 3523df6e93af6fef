"""The faults of the matrix: how each is inflicted on a running mesh, how it ends, and who is at fault."""

import random
import signal
import threading
import time

from faulty_fabric import PROTOCOLS
from named_mesh import RACK

HOST = ("host", "host-send", "host-receive")
ADDRESS = ("address", "address-send", "address-receive")


class Fault:
    """One fault on one mesh; the seed chooses the victims, the probes and, for most, between delay and loss.

    `expected`: {culprit: the kinds that are right for it}; each of them has to be an incident. None: no incident may open.
    `allowed`: culprits that may be accused as well, because one of several names of the same thing is expected.
    """

    hosts, rails = 9, 1  # of its mesh
    own_mesh = False  # a mesh for each trial
    closes = True  # its incident ends soon after it

    def __init__(self, mesh, seed):
        self.mesh = mesh
        self.random = random.Random(seed)
        self.host = mesh.order[seed % len(mesh.order)]
        self.name = mesh.names[self.host]
        self.protocols = self.random.choice((("rdma",), ("udp",), PROTOCOLS)) if mesh.rails == 1 else mesh.protocols
        self.what = self.random.choice(("slow", "lossy"))
        self.expected = {}
        self.one_of = False  # one of the expected is enough

    def begin(self):
        """Returns when the fault is there in full."""
        raise NotImplementedError

    def end(self):
        self.mesh.network.heal()

    # ---- helpers ----

    def impair(self, ways):
        self.mesh.network.impair(self.what, sorted(ways), self.protocols)

    def ways(self, some, directions=("out", "in")):
        """(source, destination) of all that these addresses exchange with the others, and with each other."""
        everybody = self.mesh.everybody()
        made = set()
        for here in some:
            for there in everybody:
                if here != there:
                    made |= {(here, there)} if "out" in directions else set()
                    made |= {(there, here)} if "in" in directions else set()
        return made

    def describe(self):
        probes = "+".join(self.protocols)
        return f"{self.what} {probes} {', '.join(self.expected) or self.name}"


class Slow(Fault):
    """All that a host sends and receives."""

    kind_of_trouble = "slow"

    def begin(self):
        self.what = self.kind_of_trouble
        self.expected = {self.name: HOST[:1]}
        self.impair(self.ways(self.mesh.addresses_of(self.host)))


class Lossy(Slow):
    kind_of_trouble = "lossy"


class OneWay(Fault):
    """What a host sends, or what it receives. A ping and its answer go both ways, so that cannot be told from both."""

    def begin(self):
        self.expected = {self.name: HOST}
        self.impair(self.ways(self.mesh.addresses_of(self.host), self.random.choice((("out",), ("in",)))))


class TwoHosts(Fault):
    def begin(self):
        others = [host for host in range(len(self.mesh.names)) if host != self.host]
        hosts = (self.host, self.random.choice(others))
        self.expected = {self.mesh.names[host]: HOST[:1] for host in hosts}
        self.impair(set().union(*(self.ways(self.mesh.addresses_of(host)) for host in hosts)))


class Pair(Fault):
    """What two hosts exchange."""

    def begin(self):
        other = self.random.choice([host for host in range(len(self.mesh.names)) if host != self.host])
        a, b = self.name, self.mesh.names[other]
        self.one_of = True
        self.expected = {f"{x} {arrow} {y}": ("pair",) for x, y in ((a, b), (b, a)) for arrow in ("->", "<->")}
        here, there = self.mesh.addresses[self.host], self.mesh.addresses[other]
        self.impair({(here, there), (there, here)})


class Rack(Fault):
    """A rack's uplink: its hosts are slow or lossy to everybody outside."""

    def begin(self):
        rack = self.host // RACK
        self.expected = {f"rack=r{rack + 1}": ("group",)}
        inside = set(self.mesh.addresses[rack * RACK:(rack + 1) * RACK])
        self.impair({way for way in self.ways(inside) if not inside.issuperset(way)})


class Rail(Fault):
    """A rail's switch: all that one of three rails exchanges."""

    hosts, rails = 6, 3

    def begin(self):
        rail = self.random.randrange(self.rails)
        self.expected = {f"rail=rail{rail}": ("group",)}
        self.impair(self.ways([addresses[rail] for addresses in self.mesh.hosts_addresses]))


class Nic(Fault):
    """One address of a host that has three."""

    hosts, rails = 6, 3

    def begin(self):
        rail = self.random.randrange(self.rails)
        self.expected = {f"{self.name}/rail{rail}": ADDRESS[:1]}
        self.impair(self.ways(self.mesh.addresses_of(self.host, rail)))


class Starved(Fault):
    """The host's agent runs 2 ms of 14."""

    def begin(self):
        self.expected = {self.name: ("host-cpu",)}
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
        self.expected = {self.name: ("agent",)}
        self.mesh.agents[self.host].kill()

    def end(self):
        self.mesh.start_agent(self.host)


class Flapping(Fault):
    """The incident lasts until the last of three restarts is 10 minutes ago."""

    hosts = 6
    own_mesh = True
    closes = False

    def begin(self):
        self.expected = {self.name: ("agent",)}
        for i in range(3):
            time.sleep(self.random.uniform(2, 4) if i > 0 else 0)
            self.mesh.agents[self.host].kill()
            self.mesh.start_agent(self.host)

    def end(self):
        pass


class CutOff(Fault):
    """The host's cable is pulled, so the controller does not hear it either."""

    def begin(self):
        self.expected = {self.name: ("agent", "host")}
        self.mesh.network.plug(self.host, up=False)

    def end(self):
        self.mesh.network.plug(self.host, up=True)


class Nothing(Fault):
    """A well mesh, with both cores busy."""

    watched = 20

    def begin(self):
        self.busy = self.mesh.be_busy(2)
        time.sleep(self.watched)

    def end(self):
        for process in self.busy:
            process.kill()


class StalledController(Fault):
    def begin(self):
        self.mesh.controller.signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(4, 12))
        self.mesh.controller.signal(signal.SIGCONT)

    def end(self):
        pass


class SlowUnderStalls(Slow):
    """A slow host; the controller is stopped before the incident opens, and before it closes."""

    def stall(self):
        self.mesh.controller.signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(4, 8))
        self.mesh.controller.signal(signal.SIGCONT)

    def begin(self):
        super().begin()
        time.sleep(1)
        self.stall()

    def end(self):
        super().end()
        self.stall()


class RollingRestart(Fault):
    own_mesh = True

    def begin(self):
        for host in self.mesh.order:
            self.mesh.agents[host].stop()
            self.mesh.start_agent(host)
            time.sleep(self.random.uniform(0.2, 2))

    def end(self):
        pass


class PinglistEdit(Fault):
    """A host leaves the pinglist, and comes back."""

    def begin(self):
        self.mesh.write_pinglist(self.mesh.pinglist(without=self.host))
        time.sleep(self.random.uniform(2, 8))
        self.mesh.write_pinglist(self.mesh.pinglist())

    def end(self):
        pass


class ClockStep(Fault):
    """The controller's wall clock is set. The agents have the true one, so it is a mesh of its own."""

    hosts = 6
    own_mesh = True

    def begin(self):
        self.mesh.set_clock(self.random.choice((-3600, -30, -5, 5, 30, 3600)))
        time.sleep(15)

    def end(self):
        pass


FAULTS = {
    "slow": Slow, "lossy": Lossy, "one-way": OneWay, "pair": Pair, "two": TwoHosts, "rack": Rack, "rail": Rail, "nic": Nic,
    "starved": Starved, "dead": Dead, "cut-off": CutOff, "flapping": Flapping, "slow-under-stalls": SlowUnderStalls,
    "stalled-controller": StalledController, "pinglist-edit": PinglistEdit, "clock-step": ClockStep,
    "rolling-restart": RollingRestart, "nothing": Nothing,
}

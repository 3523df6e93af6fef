"""What the faults happen to: a mesh on hosts with networks of their own, its controller's and its agents'
state on small disks, a tap between them, and what being well means."""

import pathlib
import random
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))

import batches  # noqa: E402
import mesh as meshes  # noqa: E402
import namespaces  # noqa: E402
from accounting import Accounts  # noqa: E402
from fabric import Fabric  # noqa: E402
from processes import binary, children, eventually  # noqa: E402
from vitals import Vitals, descriptors  # noqa: E402

SHAPE = {"interval": "100ms", "timeout": "200ms", "window": "1s"}
CONTROLLER_DISK = 64 << 20
AGENT_DISK = 8 << 20
OPEN = 6.0  # seconds after which a ping's window is closed for sure: window, timeout, grace, and what a busy machine adds
SETTLES = 20.0  # seconds that what is under way has to reach the history


class Case:
    """As much of a unittest.TestCase as a mesh asks of the one it belongs to."""

    def __init__(self):
        self._cleanups = []

    def addCleanup(self, call, *arguments, **named):
        self._cleanups.append((call, arguments, named))

    def end(self):
        while self._cleanups:
            call, arguments, named = self._cleanups.pop()
            call(*arguments, **named)


class World(meshes.Mesh):
    def __init__(self, case, hosts, seed, protocols):
        try:
            network, self.fabric = Fabric(case), True
        except unittest.SkipTest as reason:
            print(f"no networks of their own ({reason}): every host is this machine", flush=True)
            network, self.fabric = None, False
        super().__init__(case, hosts=hosts, network=network, protocols=protocols, **SHAPE)
        self.protocols = protocols
        self.random = random.Random(seed)
        self.controller_environment = None
        self.tap_port = meshes.free_port()
        self.tap_file = self.directory / "sent"
        self.small_disks = True
        try:
            namespaces.mount_small_disk(case, self.state_dir(), CONTROLLER_DISK)
            for index in range(hosts):
                namespaces.mount_small_disk(case, self.state_dir(index), AGENT_DISK)
        except unittest.SkipTest as reason:
            print(f"no disks of their own ({reason})", flush=True)
            self.small_disks = False
        self.accounts = Accounts(self.tap_file, self.state_dir() / "history.sqlite")
        self.vitals = Vitals(self)
        self.lifted_at = None
        self.gaps = 0

    def state_dir(self, agent=None):
        return self.directory / ("controller" if agent is None else f"agent-{agent}")

    def write_agent_config(self, index):
        path = super().write_agent_config(index)
        path.write_text(path.read_text().replace(f"{self.home}:{self.control_port}", f"{self.home}:{self.tap_port}", 1))
        return path

    def start(self):
        self.tap_file.touch()
        self.tap = self.run("tap", sys.executable, "-B", str(HERE / "tap.py"), f"{self.home}:{self.tap_port}",
                            f"{self.home}:{self.control_port}", str(self.tap_file))
        super().start()
        eventually(lambda: not self.amiss({}), 60, lambda: f"a healthy mesh: {self.amiss({})}")
        self.vitals.start()
        return self

    # ---- its processes ----

    def run(self, name, *arguments, environment=None, inside=None):
        if name == "controller":
            environment = self.controller_environment
        return super().run(name, *arguments, environment=environment, inside=inside)

    def kill_agent(self, index):
        """SIGKILL. What lies in its spool then is made, whether it was sent or not."""
        self.agents[index].kill()
        for batch in batches.spooled(self.state_dir(index) / "spool"):
            self.accounts.make(batch)

    def redis_pid(self):
        return children(self.controller.pid, "redis-server")[0]

    def pids(self):
        found = [("controller", self.controller.pid)]
        found += [(f"agent-{index}", agent.pid) for index, agent in list(self.agents.items())]
        return found + [("redis", pid) for pid in children(self.controller.pid, "redis-server")]

    def has(self, need):
        here = {"fabric": self.fabric, "disks": self.small_disks}
        return here[need] if need in here else pathlib.Path(binary(need)).exists()

    def descriptors(self):
        """{process: open descriptors}, of those that run."""
        counts = {}
        for name, pid in self.pids():
            try:
                counts[name, pid] = descriptors(pid)
            except OSError:
                pass
        return counts

    def incarnation(self, index):
        return int((self.state_dir(index) / "incarnation").read_text())

    def victim(self):
        return self.random.randrange(len(self.addresses))

    # ---- how it is ----

    def lifted(self):
        """The fault has ended: from now on the recovery counts."""
        self.lifted_at = time.monotonic()

    def newest(self):
        """{(probe, source, destination): start of the window that Redis shows}"""
        return {(probe, *pair): row["start"] for probe in self.protocols for pair, row in self.rows(probe).items()}

    def unconnected(self):
        """What is wrong with the programs; nothing once all is connected, written and delivered."""
        status = self.status()
        wrong = []
        if not status["redis"]["connected"]:
            wrong.append("Redis is not connected")
        if not status["history"]["writing"]:
            wrong.append("history is not written")
        for index in range(len(self.addresses)):
            metrics = self.agent_metrics(index)
            if metrics["pingloom_agent_controller_connected"] != 1:
                wrong.append(f"agent {index} is not connected")
            elif metrics["pingloom_agent_spool_batches"] > 1:
                wrong.append(f"agent {index} holds {metrics['pingloom_agent_spool_batches']:.0f} batches")
        return wrong

    def unshown(self, before):
        """Pairs that Redis does not show as ok by a later window than `before`."""
        wrong = []
        for probe in self.protocols:
            rows = self.rows(probe)
            wrong += [f"{probe} {pair[0]}->{pair[1]}" for pair in self.pairs() if pair not in rows
                      or rows[pair]["state"] != "ok" or rows[pair]["start"] <= before.get((probe, *pair), "")]
        return wrong

    def amiss(self, before):
        return self.unconnected() or self.unshown(before)

    def unseen(self):
        """What agents made and the tap never saw: batches missing in their numbers, pings that an agent said it
        had sent, long enough ago for a closed window, and that are in no row."""
        accounts, ended = self.accounts, []
        gaps = accounts.gaps()
        missing, self.gaps = gaps - self.gaps, gaps
        for name, said in self.vitals.said().items():
            index, incarnation = name
            running = incarnation == self.incarnation(index)
            last = time.monotonic() if running else said[-1].at
            old = [each for each in said if each.at < last - OPEN]
            if old:
                missing += max(0, old[-1].pings - accounts.sent[self.addresses[index], incarnation])
            if not running:
                ended.append(name)
        self.vitals.forget(ended)
        return missing

    def settle(self, destroyed):
        """Waits until all that was made is in the history, but for so many rows. What is not: names of windows."""
        deadline = time.monotonic() + SETTLES
        while not self.accounts.settled(destroyed):
            if time.monotonic() > deadline:
                made = self.accounts.waiting_now()
                time.sleep(3)
                self.accounts.read_ledger()
                return made & self.accounts.waiting_now()
            time.sleep(0.2)
        return self.accounts.overdue

"""What every world has that faults happen to: a mesh on hosts with networks of their own, agents' state on small disks, a
witness between them and their controllers, and what being well means."""

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
from processes import binary, eventually  # noqa: E402
from vitals import Vitals, descriptors  # noqa: E402

SHAPE = {"interval": "100ms", "timeout": "200ms", "window": "1s"}
AGENT_DISK = 8 << 20
OPEN = 6.0  # seconds after which a ping's window is closed for sure: window, timeout, grace, and what a busy machine adds
SETTLES = 20.0  # seconds that what is under way has to reach the history


class Case:
    """As much of a unittest.TestCase as a mesh asks of the one it belongs to."""

    def __init__(self):
        self._cleanups = []

    def addCleanup(self, call, *arguments, **named):
        self._cleanups.append((call, arguments, named))

    @staticmethod
    def assertEqual(first, second, message=""):
        assert first == second, f"{first} is not {second}: {message}"

    def end(self):
        while self._cleanups:
            call, arguments, named = self._cleanups.pop()
            call(*arguments, **named)


class World(meshes.Mesh):
    """Without controllers: one_controller.py and several_controllers.py have them."""

    def __init__(self, case, hosts, seed, protocols):
        try:
            network, self.fabric = Fabric(case), True
        except unittest.SkipTest as reason:
            print(f"no networks of their own ({reason}): every host is this machine", flush=True)
            network, self.fabric = None, False
        super().__init__(case, hosts=hosts, network=network, protocols=protocols, **SHAPE)
        self.protocols = protocols
        self.random = random.Random(seed)
        self.tap_file = self.directory / "sent"
        self.tap_file.touch()
        self.small_disks = True
        for index in range(hosts):
            self.give_a_small_disk(self.state_dir(index), AGENT_DISK)
        self.accounts = Accounts(self.tap_file, self.ledger())
        self.vitals = Vitals(self)
        self.lifted_at = None
        self.shared = False  # with other programs, so that no time is judged
        self.gaps = 0

    def give_a_small_disk(self, path, size):
        try:
            namespaces.mount_small_disk(self.case, path, size)
        except unittest.SkipTest as reason:
            if self.small_disks:
                print(f"no disks of their own ({reason})", flush=True)
            self.small_disks = False

    def ledger(self):
        """The history's blocks, as accounting.py reads them."""
        raise NotImplementedError

    def state_dir(self, agent):
        return self.directory / f"agent-{agent}"

    def run_tap(self, name, listen, controller, inside=None):
        self.run(name, sys.executable, "-B", str(HERE / "tap.py"), listen, controller, str(self.tap_file), inside=inside)

    def begin(self):
        """Returns once all that has been started is well."""
        eventually(lambda: not self.amiss({}), 60, lambda: f"a healthy mesh: {self.amiss({})}")
        self.vitals.start()
        return self

    # ---- its processes ----

    def kill_agent(self, index):
        """SIGKILL. What lies in its spool then is made, whether it was sent or not."""
        self.agents[index].kill()
        for batch in batches.spooled(self.state_dir(index) / "spool"):
            self.accounts.make(batch)

    def pids(self):
        """[(name, pid)] of all whose vitals are watched."""
        return [(f"agent-{index}", agent.pid) for index, agent in list(self.agents.items())]

    def has(self, need):
        here = {"fabric": self.fabric, "disks": self.small_disks, "several": True}
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

    def agents_amiss(self):
        """What is wrong with the agents' connections and spools."""
        wrong = []
        for index in range(len(self.addresses)):
            metrics = self.agent_metrics(index)
            if metrics["pingloom_agent_controller_connected"] != 1:
                wrong.append(f"agent {index} is not connected")
            elif metrics["pingloom_agent_spool_batches"] > 1:
                wrong.append(f"agent {index} holds {metrics['pingloom_agent_spool_batches']:.0f} batches")
        return wrong

    def unconnected(self):
        """What is wrong with the programs; nothing once all is connected, written and delivered."""
        raise NotImplementedError

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

"""Metric pages: two agents on soft devices, an application at each, a collector that reads both. No row is in danger: what the
collector shows has to be right, whole and newer, or not there."""

import contextlib
import pathlib
import shutil
import signal
import tempfile
import time
import unittest
import urllib.request

from faults import Outcome, fault
from mesh import free_port, private_subnet
from pages_hosts import pages_address, pages_socket, write_agent_config
from processes import Process, binary, eventually
from written_pages import WrittenPages

NEEDS = ("pingloom-collector", "pages_writer")
AGENTS = (1, 2)


class Reading:
    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-chaos-"))
        self.subnet = private_subnet()
        self.processes = {}
        self.seen = WrittenPages(unittest.TestCase())

    def end(self):
        for process in self.processes.values():
            process.discard()
        shutil.rmtree(self.directory, ignore_errors=True)

    def run(self, name, *arguments, environment=None):
        self.processes[name] = Process(name, list(arguments), self.directory / f"{name}.log", environment)

    def agent(self, number):
        path = write_agent_config(self.directory, self.subnet, number)
        self.run(f"agent-{number}", binary("pingloom-agent"), "--config", str(path))

    def collector(self):
        path, host = self.directory / "collector.yaml", f"{self.subnet}.200"
        port = free_port()
        path.write_text(f"""address: {host}
device: soft
agents: [{", ".join(pages_address(self.subnet, number) for number in AGENTS)}]
interval: 100ms
http: {host}:{port}
""")
        self.url = f"http://{host}:{port}/metrics"
        self.run("collector", binary("pingloom-collector"), "--config", str(path))

    def application(self, number, identity):
        self.run(f"writer-{number}", binary("pages_writer"), str(identity), "2", "600", "10",
                 environment={"PINGLOOM_PAGES_SOCKET": str(pages_socket(self.directory, number))})

    def look(self):
        with urllib.request.urlopen(self.url, timeout=5) as answer:
            return self.seen.look(answer.read().decode())[1]

    def moving(self, identities):
        """Until every page of these shows a later count than it has now."""
        wanted = {(f"host-{number}", identity, page) for number, identity in identities.items() for page in (0, 1)}
        before = {key: self.seen.counts.get(key, 0) for key in wanted}
        begin = time.monotonic()
        eventually(lambda: all(self.look().get(key, 0) > before[key] for key in wanted), 60,
                   f"{wanted} are shown and move")
        return time.monotonic() - begin


def trouble(inflict):
    """`inflict` is called with a Reading in which all is shown; what it returns has to be shown again."""
    with contextlib.ExitStack() as stack:
        reading = Reading()
        stack.callback(reading.end)
        identities = {number: 1000 * number for number in AGENTS}
        for number, identity in identities.items():
            reading.agent(number)
            eventually((reading.directory / f"pages-{number}.sock").exists, 20, "the agent's socket")
            reading.application(number, identity)
        reading.collector()
        try:
            reading.moving(identities)
            identities.update(inflict(reading) or {})
            with contextlib.suppress(OSError):
                reading.look()  # what it had read before the fault is no recovery
            took = reading.moving(identities)
        except AssertionError as failure:
            return Outcome(failure=str(failure))
        return Outcome(connected=took, shown=took)


@fault("kill -9 of the collector, started again at once", "none: pages stay where they are", "no answer from its HTTP",
       needs=NEEDS, apart=True)
def collector_killed(_):
    def kill(reading):
        reading.processes["collector"].discard()
        reading.collector()
    return trouble(kill)


@fault("SIGSTOP of the collector for 6 s", "values of these 6 s are not exported", "no answer from its HTTP", needs=NEEDS, apart=True)
def collector_stopped(_):
    def hold(reading):
        reading.processes["collector"].signal(signal.SIGSTOP)
        time.sleep(6)
        reading.processes["collector"].signal(signal.SIGCONT)
    return trouble(hold)


@fault("kill -9 of an agent with metric pages, started again at once",
       "an application goes on in its own memory and hands its pages to the new agent",
       "`pingloom_collector_agent_up` 0, its pages are not shown", needs=NEEDS, apart=True)
def pages_agent_killed(_):
    def kill(reading):
        reading.processes["agent-1"].discard()
        reading.agent(1)
    return trouble(kill)


@fault("kill -9 of an application with metric pages; another one begins", "what it counted ends with it",
       "its pages are shown no more", needs=NEEDS, apart=True)
def application_killed(_):
    def kill(reading):
        reading.processes["writer-1"].discard()
        reading.application(1, 1001)
        return {1: 1001}
    return trouble(kill)

"""What tests of metric pages have in common: agents on soft devices, collectors, applications, and what is shown of them.

Every application writes groups of values that follow from its own number and a count, so whatever is shown proves by
itself whose it is, and that it was written together."""

import collections
import pathlib
import re
import shutil
import tempfile
import unittest
import urllib.error
import urllib.request

from mesh import free_port, private_subnet
from pages_hosts import pages_address, pages_socket, write_agent_config
from processes import Process, binary, discard_all, eventually
from written_pages import WrittenPages


class PagesCase(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-pages-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.subnet = private_subnet()
        self.processes = []
        self.addCleanup(self.end)
        self.agents, self.collectors, self.urls = {}, {}, {}
        self.seen = collections.defaultdict(lambda: WrittenPages(self))  # by collector
        self.pids = {}  # by identity

    def end(self):
        outcome = self._outcome
        if getattr(getattr(outcome, "result", None), "failures", None) or getattr(outcome.result, "errors", None):
            for process in self.processes:
                if not process.name.startswith("writer"):
                    print(f"--- {process.name}\n{process.tail()}")
        discard_all(self.processes)

    def run_one(self, name, *arguments, environment=None):
        process = Process(name, list(arguments), self.directory / f"{name}.log", environment)
        self.processes.append(process)
        return process

    # ---- who takes part ----

    def agent_address(self, number):
        return pages_address(self.subnet, number)

    def socket(self, number):
        return pages_socket(self.directory, number)

    def start_agent(self, number, prefix=(), system=False):
        """`prefix`: the command that starts it. `system`: whether it shows the host's own metrics."""
        path = write_agent_config(self.directory, self.subnet, number, system)
        self.agents[number] = self.run_one(f"agent-{number}", *prefix, binary("pingloom-agent"), "--config", str(path))

    def start_collector(self, name="collector", addresses=(200,), agents=(1, 2), more=(), settings=""):
        path = self.directory / f"{name}.yaml"
        hosts = [f"{self.subnet}.{address}" for address in addresses]
        host, port = hosts[0], free_port()
        listed = [self.agent_address(number) for number in agents] + list(more)
        path.write_text(f"""address: [{", ".join(hosts)}]
device: soft
agents: [{", ".join(listed)}]
interval: 20ms
http: {host}:{port}
{settings}
""")
        self.urls[name] = f"http://{host}:{port}"
        self.collectors[name] = self.run_one(name, binary("pingloom-collector"), "--config", str(path))

    def writer(self, number, identity, pages=2, seconds=600, pause=1):
        process = self.run_one(f"writer-{identity}", binary("pages_writer"), str(identity), str(pages), str(seconds),
                               str(pause), environment={"PINGLOOM_PAGES_SOCKET": str(self.socket(number))})
        self.pids[identity] = process.pid
        return process

    def start_all(self):
        for number in (1, 2):
            self.start_agent(number)
        self.start_collector()
        self.one, self.two = self.writer(1, 1000), self.writer(2, 2000)
        self.moving({(1, 1000), (2, 2000)})

    # ---- what is shown ----

    def get(self, path, collector="collector", accept="text/plain"):
        request = urllib.request.Request(self.urls[collector] + path, headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read().decode()

    def ask(self, path, collector="collector", method="GET", accept="text/plain"):
        """The whole answer, whatever its status: that, its content type, its text."""
        request = urllib.request.Request(self.urls[collector] + path, headers={"Accept": accept}, method=method)
        try:
            answer = urllib.request.urlopen(request, timeout=20)
        except urllib.error.HTTPError as refusal:
            answer = refusal
        with answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()

    def look(self, collector="collector"):
        """Checks all that is shown. The (host, identity) of pages that are shown, with their counts."""
        _, counts = self.seen[collector].look(self.get("/metrics", collector), self.pids)
        return {(int(host.removeprefix("host-")), identity): count for (host, identity, _), count in counts.items()}

    def moving(self, wanted, collector="collector", seconds=60):
        first = {}

        def moved():
            shown = self.look(collector)
            for key in wanted & shown.keys():
                first.setdefault(key, shown[key])
            return all(shown.get(key, 0) > first.get(key, shown.get(key, 0)) for key in wanted)

        eventually(moved, seconds, f"{wanted} are shown and move at {collector}", 0.2)

    def own(self, name, collector="collector"):
        """The collector's figures of each agent."""
        found = re.findall(rf'^{name}\{{agent="([^"]*)"[^}}]*\}} (\S+)$', self.get("/metrics", collector), re.M)
        return {agent.rsplit(":", 1)[0]: float(value) for agent, value in found}

"""Metric pages on kernel Soft-RoCE: three agents, fifty pages each, one collector; every value that is
read proves by whom and with which others it was written. Applications come and go, agents and
collector restart."""

import json
import time
import unittest
import urllib.request

from lab_mesh import LabMesh, eventually, say
from processes import binary
from written_pages import WrittenPages

AGENTS = (1, 2, 3)
COLLECTOR = 4
PAGES = 50
CHURN = 10_000  # identities of applications that come and go: from that times their host's number on
PAUSE = 1000  # ms between two writings of a page: emulated, reading all of an agent's takes a while


class PagesMesh(LabMesh):
    """The agents serve pages; host COLLECTOR has none."""

    def socket(self, number):
        return f"{self.directory}/pages-{number}.sock"

    def write_agent_config(self, index):
        path = super().write_agent_config(index)
        number = self.numbers[index]
        path.write_text(path.read_text() + f"pages: {{ socket: {self.socket(number)}, max_pages: 512 }}\n")
        return path

    # Emulated, a round over an agent takes 100 ms of the only processor.
    def write_collector_config(self):
        path = self.directory / "collector.yaml"
        path.write_text(f"""address: 10.0.0.{COLLECTOR}
agents: [{", ".join(self.address(number) for number in AGENTS)}]
interval: 1s
http: 127.0.0.1:20715
""")
        return path

    def start_collector(self):
        self.collector = self.run("collector", binary("pingloom-collector"), "--config",
                                  str(self.write_collector_config()))

    def writer(self, number, identity, pages, seconds):
        return self.run(f"writer-{identity}", binary("pages_writer"), str(identity), str(pages), str(seconds), str(PAUSE),
                        environment={"PINGLOOM_PAGES_SOCKET": self.socket(number)})


class PagesOnSoftRoce(unittest.TestCase):
    def test_pages(self):
        self.mesh = PagesMesh(self, rxe=COLLECTOR)
        self.seen = WrittenPages(self)
        for number in AGENTS:
            self.mesh.start_agent(number - 1)
        self.mesh.start_collector()
        self.identities = {number: 1000 * number for number in AGENTS}
        for number, identity in self.identities.items():
            self.mesh.writer(number, identity, PAGES, 600)
        self.all_are_read("at first", 60)
        self.watch(10)
        self.churn(60)
        self.agent_restarts()
        self.collector_restarts()
        say(f"{self.seen.checked} pages read, each of its owner and undivided")

    def look(self):
        """Checks everything that is shown; the pages, by host, identity and page."""
        with urllib.request.urlopen("http://127.0.0.1:20715/metrics", timeout=30) as answer:
            return self.seen.look(answer.read().decode())[0]

    def all_are_read(self, when, seconds):
        begin = time.monotonic()
        wanted = {(f"host-{number}", identity, page)
                  for number, identity in self.identities.items() for page in range(PAGES)}

        before = dict(self.seen.counts)

        def there():
            self.look()
            return all(self.seen.counts.get(key, 0) > before.get(key, 0) for key in wanted)

        eventually(there, seconds,
                   lambda: f"{when}: {len(wanted)} pages read and moving; {self.states()}", 0.5)
        say(f"{when}: {len(wanted)} pages read and moving after {time.monotonic() - begin:.1f} s")

    def states(self):
        with urllib.request.urlopen("http://127.0.0.1:20715/api/v1/pages", timeout=30) as answer:
            agents = json.loads(answer.read())["agents"]
        return [(agent["agent"], agent["state"], agent["problem"], len(agent["pages"])) for agent in agents]

    def watch(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look()
            time.sleep(0.2)

    def churn(self, seconds):
        say(f"ten applications a second come and go, for {seconds} s")
        churners = [self.mesh.run(f"churn-{number}", binary("pages_writer"), "churn", str(CHURN * number),
                                  str(10 / len(AGENTS)), str(seconds), "5", "100",
                                  environment={"PINGLOOM_PAGES_SOCKET": self.mesh.socket(number)})
                    for number in AGENTS]
        seen = set()
        while any(churner.running() for churner in churners):
            seen |= {identity for _, identity, _ in self.look() if identity >= CHURN}
            time.sleep(0.2)
        for churner in churners:
            self.assertEqual(churner.process.returncode, 0, churner.log())
        came = sum(int(churner.log().split()[0]) for churner in churners)
        say(f"  {came} came, {came / seconds:.1f} a second, {len(seen)} of them were read")
        self.assertGreaterEqual(len(seen), came // 2)
        eventually(lambda: not any(identity >= CHURN for _, identity, _ in self.look()), 20,
                   "those that have gone are shown no more", 0.5)

    def agent_restarts(self):
        say("agent 2 is killed, and started again")
        self.mesh.agent(2).kill()
        self.watch(3)
        self.mesh.start_agent(1)
        self.all_are_read("after the agent's restart", 60)

    def collector_restarts(self):
        say("the collector is killed, and started again")
        self.mesh.collector.kill()
        self.mesh.start_collector()
        eventually(lambda: self.look() is not None, 30, "the collector answers", 0.5)
        self.all_are_read("after the collector's restart", 60)


if __name__ == "__main__":
    unittest.main()

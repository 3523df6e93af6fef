"""Events of agents: what goes wrong on the mesh is in a list of a collector's store."""

import signal
import unittest

from mesh import Mesh, free_port
from processes import binary, eventually

EVENTS = 2


class Events(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=3, protocols=("udp", "rdma"), interval="200ms", timeout="300ms", window="1s")
        subnet, directory = self.mesh.subnet, self.mesh.directory
        reports, stores, self.http = free_port(), free_port(), free_port()
        for index in range(3):
            self.mesh.agent_options[index] = {"events": f"{{ translator: '127.0.0.1:{reports}', table: {EVENTS} }}"}
        # The first agent is the translator too, of the events of all.
        self.mesh.agent_options[0]["translator"] = (f"{{ address: {subnet}.201, device: soft, name: t, "
                                                    f"collector: '{subnet}.200:{stores}', listen: '127.0.0.1:{reports}' }}")
        self.start("collector", f"""address: {subnet}.200
device: soft
stores_port: {stores}
http: {subnet}.200:{self.http}
stores:
  - translator: t
    file: {directory}/t.store
    tables: [{{ name: events, id: {EVENTS}, kind: lists, blocks: 1024, entry: 160B }}]
""")
        self.mesh.start()
        for protocol in ("udp", "rdma"):
            self.mesh.wait_for_rows(protocol, state="ok", seconds=60)

    def start(self, name, text):
        path = self.mesh.directory / f"{name}.yaml"
        path.write_text(text)
        self.mesh.run(name, binary(f"pingloom-{name}"), "--config", str(path))

    def events(self):
        """The oldest 1,000 events, each without its time."""
        answer = self.mesh.get("/api/v1/dta/tail?table=events", port=self.http, address=f"{self.mesh.subnet}.200").json()
        entries = [bytes.fromhex(entry["entry"]).rstrip(b"\0").decode() for entry in answer["entries"]]
        return [entry.split(" ", 1)[1] for entry in entries]

    def test_a_host_that_stands_still_loses_pings_and_answers_late(self):
        stopped, seer = self.mesh.addresses[2], self.mesh.addresses[0]
        self.mesh.agents[2].signal(signal.SIGSTOP)
        for probe in ("udp", "rdma"):
            eventually(lambda probe=probe: any(event.startswith(f"lost {probe} {seer}>{stopped} ") for event in self.events()),
                       20, lambda: f"{probe}: {self.events()}")
        self.mesh.agents[2].signal(signal.SIGCONT)
        eventually(lambda: any(event.startswith(f"late udp {seer}>{stopped} ") for event in self.events()), 20,
                   lambda: self.events())

    def test_a_host_that_is_gone_refuses(self):
        gone, seer = self.mesh.addresses[1], self.mesh.addresses[0]
        self.mesh.agents[1].kill()
        eventually(lambda: any(event.startswith(f"refused udp {seer}>{gone} ") for event in self.events()), 20,
                   lambda: self.events())


if __name__ == "__main__":
    unittest.main()

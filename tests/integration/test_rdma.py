"""RDMA meshes on the soft device: what operators rely on when agents, hosts and pairs go wrong."""

import os
import signal
import socket
import time
import unittest

from mesh import Mesh
from processes import eventually

ROCE_PORT = 4791


class Rdma(unittest.TestCase):
    def mesh(self, hosts=3, rdma=None, **options):
        options = {"interval": "50ms", "window": "1s", "timeout": "300ms", **options}
        mesh = Mesh(self, hosts=hosts, protocols=("rdma",), **options)
        mesh.rdma = rdma or {}
        return mesh.start()

    def test_a_mesh_says_what_it_is_made_of(self):
        mesh = self.mesh()
        rows = mesh.wait_for_rows("rdma", state="ok")
        for pair in mesh.pairs():
            row = rows[pair]
            self.assertEqual((row["clock"], row["device"], row["protocol"]), ("kernel", "soft", "rdma"))
            self.assertEqual(row["sent"], row["received"] + row["lost"])
            self.assertGreater(row["network_ns"]["p50"], 0)
            self.assertGreater(row["responder_ns"]["p50"], 0)
            self.assertLessEqual(row["network_ns"]["p50"], row["rtt_ns"]["p50"])

    def test_a_restarted_agent_is_found_again_at_once(self):
        mesh = self.mesh()
        mesh.wait_for_rows("rdma", state="ok")
        words = set()
        mesh.agents[2].kill()
        dead = mesh.addresses[2]

        def down():
            states = mesh.states("rdma")
            words.update(states.values())
            return all(state == "agent-down" for (source, to), state in states.items()
                       if to == dead and source != dead)

        eventually(down, 15, "agent-down to it")
        answered = "pingloom_agent_pings_answered_total{protocol=\"rdma\"}"
        mesh.start_agent(2)

        def pinged():
            try:
                return mesh.agent_metrics(2).get(answered, 0) > 0
            except OSError:
                return False

        began = eventually(lambda: mesh.hosts()["host-2"]["alive"] and time.monotonic(), 15,
                           "it has registered", interval=0.02)
        eventually(pinged, 5, "its peers ping its new queue pair", interval=0.02)
        # Agents publish their figures once a second.
        self.assertLess(time.monotonic() - began, 2.5)

        def recovered():
            states = mesh.states("rdma")
            words.update(states.values())
            return set(states.values()) == {"ok"}

        eventually(recovered, 20, lambda: f"all ok again: {mesh.states('rdma')}")
        self.assertLessEqual(words, {"ok", "loss", "agent-down", "pending", "stale", "unreachable"})

    def test_a_stopped_responder_is_responder_time(self):
        mesh = self.mesh(timeout="2s")
        mesh.wait_for_rows("rdma", state="ok")
        seen = {}

        def gather():
            for pair, row in mesh.rows("rdma").items():
                seen[(*pair, row["start"])] = row

        stopped = mesh.agents[1]
        stopped.signal(signal.SIGSTOP)
        self.addCleanup(stopped.signal, signal.SIGCONT)
        time.sleep(0.6)
        stopped.signal(signal.SIGCONT)

        def shows():
            gather()
            return any(row["responder_ns"]["max"] > 300_000_000 for (_, to, _), row in seen.items()
                       if to == mesh.addresses[1] and "responder_ns" in row)

        eventually(shows, 20, "the stop as responder time", interval=0.1)
        slow = {key: row["network_ns"]["max"] for key, row in seen.items()
                if row.get("network_ns", {}).get("max", 0) > 300_000_000}
        self.assertEqual(slow, {}, "the stop shows as network time")
        lost = {key: row["lost"] for key, row in seen.items() if row["lost"]}
        self.assertEqual(lost, {}, "the stop shows as loss")

    def test_a_slow_host_is_a_cross_and_a_lossy_pair_a_dot(self):
        mesh = Mesh(self, hosts=4, protocols=("rdma",), interval="50ms", window="2s")
        mesh.rdma = {
            1: "{ device: soft, impair: [{ delay: 20ms }] }",
            2: f"{{ device: soft, impair: [{{ to: {mesh.addresses[3]}, loss: 100% }}] }}",
        }
        mesh.start()
        dot = {(mesh.addresses[2], mesh.addresses[3]), (mesh.addresses[3], mesh.addresses[2])}
        cross = {pair for pair in mesh.pairs() if mesh.addresses[1] in pair}
        mesh.wait_for_rows("rdma", pairs=mesh.pairs() - dot, state="ok")
        rows = mesh.wait_for_rows("rdma", pairs=dot, state="loss")
        for pair in mesh.pairs() - dot:
            median = rows[pair]["network_ns"]["p50"]
            if pair in cross:
                self.assertGreater(median, 20_000_000, pair)
            else:
                self.assertLess(median, 10_000_000, pair)

    def test_without_its_controller_a_restarted_agent_goes_on(self):
        mesh = self.mesh()
        mesh.wait_for_rows("rdma", state="ok")
        mesh.controller.stop()
        mesh.agents[0].stop()
        mesh.start_agent(0)
        sent = "pingloom_agent_pings_sent_total{protocol=\"rdma\"}"
        answered = "pingloom_agent_pings_answered_total{protocol=\"rdma\"}"

        def goes_on():
            try:
                return mesh.agent_metrics(0).get(sent, 0) > 10
            except OSError:
                return False

        eventually(goes_on, 15, "it pings by the endpoints it has kept")
        before = mesh.agent_metrics(1)[answered]
        eventually(lambda: mesh.agent_metrics(1)[answered] > before, 10, "and is answered")

    def test_garbage_is_counted_and_the_mesh_goes_on(self):
        mesh = self.mesh(hosts=2)
        rows = mesh.wait_for_rows("rdma", state="ok")
        target = (mesh.addresses[1], ROCE_PORT)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as garbage:
            for size in (0, 1, 11, 12, 16, 24, 64, 1500, 4200, 9000, 60000):
                garbage.sendto(os.urandom(size), target)
                garbage.sendto(bytes([0x64, 0, 0xFF, 0xFF]) + os.urandom(max(0, size - 4)), target)
        prefix = "pingloom_agent_endpoint_packets_dropped_total{protocol=\"rdma\""

        def counted():
            metrics = mesh.agent_metrics(1)
            return sum(value for name, value in metrics.items() if name.startswith(prefix)) >= 15

        eventually(counted, 10, lambda: f"counted by reason: {mesh.agent_metrics(1)}")
        start = rows[(mesh.addresses[0], mesh.addresses[1])]["start"]
        eventually(lambda: all(row["state"] == "ok" and row["start"] > start
                               for row in mesh.rows("rdma").values()), 15, "all ok afterwards")
        mesh.assert_all_alive()

    def test_paths_are_rows_of_their_own(self):
        mesh = Mesh(self, hosts=2, protocols=("rdma",))
        mesh.write_pinglist(mesh.mesh_pinglist(protocols=("rdma",), interval="100ms")
                            + "    paths: 3\n")
        mesh.start()
        one, two = mesh.addresses

        def there():
            rows = mesh.rows("rdma")
            wanted = {two, f"{two}#1", f"{two}#2", f"{two}#3"}
            return wanted <= {to for source, to in rows if source == one} and rows

        rows = eventually(there, 30, lambda: f"four rows to it: {mesh.rows('rdma').keys()}")
        self.assertEqual(rows[one, f"{two}#2"]["path"], 2)

        def adds_up():
            rows = mesh.rows("rdma")
            merged = rows[one, two]
            paths = [rows[one, f"{two}#{k}"] for k in (1, 2, 3)]
            same = all(path["start"] == merged["start"] for path in paths)
            return same and merged["sent"] == sum(path["sent"] for path in paths)

        eventually(adds_up, 20, "the merged row is the sum of its paths")


if __name__ == "__main__":
    unittest.main()

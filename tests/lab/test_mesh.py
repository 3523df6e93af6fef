"""A mesh of verbs agents on kernel Soft-RoCE, two soft devices beside it, and their faults.

One test, one guest: each step finds the mesh as the one before has left it, healthy.
"""

import signal
import time
import unittest

from lab_mesh import Fault, LabMesh, Rows, command, eventually, say

RXE = (1, 2, 3)
SOFT = (50, 51)
MS = 1_000_000


class MeshOnSoftRoce(unittest.TestCase):
    def test_mesh(self):
        self.mesh = LabMesh(self, rxe=len(RXE), soft=SOFT)
        self.mesh.write_pinglist("""version: 1
defaults: { interval: 200ms, timeout: 1s, window: 1s }
probes:
  - { name: rxe, protocol: rdma, mesh: ["10.0.0.[1-3]"] }
  - { name: soft, protocol: rdma, mesh: ["10.0.0.[50-51]"] }
""")
        self.pairs = {"rxe": self.mesh.pairs_among(*RXE), "soft": self.mesh.pairs_among(*SOFT)}
        self.mesh.start()
        self.converges()
        self.delay()
        self.verdict()
        self.stall_on_rxe()
        self.stall_on_soft()
        self.loss()
        self.link_down()
        self.device_removed()
        self.mesh.assert_all_alive()

    def converges(self):
        say("a controller with its Redis, three agents on rxe devices, two on soft devices")
        for probe, pairs in self.pairs.items():
            self.mesh.wait_for_rows(probe, pairs, seconds=60)
        rows = self.all_ok()
        for probe in self.pairs:
            for (source, _), row in rows[probe].latest().items():
                self.assertEqual(row["device"], "soft" if probe == "soft" else "rxe" + source[-1])
                self.assertEqual(row["clock"], "kernel" if probe == "soft" else "software")

    def all_ok(self):
        """Every pair is ok in some window that begins from now on."""
        watched = {probe: Rows(self.mesh, probe) for probe in self.pairs}
        for probe, rows in watched.items():
            rows.gather_until(lambda rows, probe=probe: all(
                any(row["state"] == "ok" for row in rows.of(pair)) for pair in self.pairs[probe]),
                "every pair is ok")
        return watched

    def becomes_unreachable(self):
        """The pairs of host 3, both ways, and no others."""
        concerned = self.mesh.pairs_of(3, among=RXE)

        def there():
            states = self.mesh.states("rxe")
            return (all(states[pair] == "unreachable" for pair in concerned) and
                    all(states[pair] in ("ok", "anomalous") for pair in self.pairs["rxe"] - concerned))

        eventually(there, 60, lambda: f"host 3 unreachable: {self.mesh.states('rxe')}", 0.2)

    # ---- delay ----

    @staticmethod
    def measured(rows, pair):
        return [row for row in rows.of(pair) if "network_ns" in row]

    def delay(self):
        say("netem delays what host 2 sends by 5 ms")
        slow = self.mesh.pairs_of(2, among=RXE)
        with Fault("tc qdisc add dev h2 root netem delay 5ms", "tc qdisc del dev h2 root"):
            rows = Rows(self.mesh, "rxe").gather_until(
                lambda rows: all(len(self.measured(rows, pair)) >= 3 for pair in self.pairs["rxe"]),
                "three windows of every pair")
        for pair in sorted(self.pairs["rxe"]):
            measured = self.measured(rows, pair)
            network = min(row["network_ns"]["min"] for row in measured)
            responder = min(row["responder_ns"]["min"] for row in measured)
            say(f"  {pair[0]} -> {pair[1]}: network from {network / MS:.2f} ms, responder from "
                f"{responder / MS:.2f} ms")
            self.assertLess(responder, 5 * MS, pair)
            if pair in slow:
                self.assertGreaterEqual(network, 5 * MS, pair)
            else:
                self.assertLess(network, 5 * MS, pair)
        self.all_ok()

    # ---- who is at fault ----

    def accused(self):
        """The sentence about each culprit of an open incident, by culprit and kind."""
        found = self.mesh.get("/api/v1/incidents").json()["open"]
        return {(each["culprit"], each["kind"]): each["sentence"] for each in found}

    def verdict(self):
        say("netem delays what host 2 sends by 100 ms")
        culprit = (self.mesh.address(2), "host")
        with Fault("tc qdisc add dev h2 root netem delay 100ms", "tc qdisc del dev h2 root"):
            eventually(lambda: culprit in self.accused(), 60,
                       lambda: f"an incident about host 2; open: {self.accused()}", 0.3)
            say("  open: " + "; ".join(self.accused().values()))
        eventually(lambda: culprit not in self.accused(), 60,
                   lambda: f"that incident is closed; open: {self.accused()}", 0.3)
        say("  closed")
        self.all_ok()

    # ---- a process that does not run ----

    def stop_for(self, number, probe, seconds):
        rows = Rows(self.mesh, probe)
        time.sleep(2)  # into the first windows of these rows
        agent = self.mesh.agent(number)
        agent.signal(signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            agent.signal(signal.SIGCONT)
        rows.gather_past(self.pairs[probe])
        for pair in self.pairs[probe]:
            for field in ("lost", "refused", "unreachable"):
                self.assertEqual(rows.total(pair, field), 0, f"{pair}: the stall shows as {field}")
            for row in rows.of(pair):
                slowest = row.get("network_ns", {}).get("max", 0)
                self.assertLess(slowest, 150 * MS, f"{pair}: the stall shows as network time")
        return rows

    def stall_on_rxe(self):
        say("agent 3, on rxe, is stopped for 0.8 s")
        rows = self.stop_for(3, "rxe", 0.8)
        for source in (1, 2):
            stalled = sum(row["anomalous"].get("stalled", 0)
                          for row in rows.of(self.mesh.pair(source, 3)))
            say(f"  10.0.0.{source} -> 10.0.0.3: {stalled} exchanges stalled")
            self.assertGreaterEqual(stalled, 3, "four PINGs waited for agent 3")

    def stall_on_soft(self):
        say("agent 51, on a soft device, is stopped for 0.8 s")
        rows = self.stop_for(51, "soft", 0.8)
        slowest = max(row["responder_ns"]["max"] for row in self.measured(rows, self.mesh.pair(50, 51)))
        say(f"  10.0.0.50 -> 10.0.0.51: responder up to {slowest / MS:.0f} ms")
        self.assertGreaterEqual(slowest, 500 * MS, "one of four PINGs waited for at least 0.6 s")

    # ---- loss ----

    def loss(self):
        say("netem loses 10 % of what host 2 sends")
        concerned = self.mesh.pairs_of(2, among=RXE)
        with Fault("tc qdisc add dev h2 root netem loss 10%", "tc qdisc del dev h2 root"):
            rows = Rows(self.mesh, "rxe").gather_until(
                lambda rows: sum(rows.total(pair, "sent") for pair in concerned) >= 500,
                "500 exchanges with host 2", 150)
        # Of each exchange, host 2 sends the PING or the PONG.
        self.is_tenth("lost", sum(rows.total(pair, "lost") for pair in concerned),
                      sum(rows.total(pair, "sent") for pair in concerned))
        answered = {pair for pair in concerned if pair[1] == self.mesh.address(2)}
        untold = sum(rows.total(pair, "ack_lost") for pair in answered)
        say(f"  ack_lost: {untold}")
        self.assertLessEqual(untold, 2, "one of four PONGs tells of each exchange, but for one in 10,000")
        for pair in self.pairs["rxe"] - answered:
            self.assertEqual(rows.total(pair, "ack_lost"), 0, pair)
        for pair in self.pairs["rxe"] - concerned:
            self.assertEqual(rows.total(pair, "lost"), 0, pair)
        self.all_ok()

    def is_tenth(self, what, count, of):
        deviation = (0.1 * 0.9 / of) ** 0.5
        say(f"  {what}: {count} of {of}, {100 * count / of:.1f} % (10 +- {400 * deviation:.1f} %)")
        self.assertLess(abs(count / of - 0.1), 4 * deviation)

    # ---- what goes away and comes back ----

    def link_down(self):
        say("host 3's link goes down")
        agent = self.mesh.agent(3)
        with Fault("ip link set h3 down", "guest/addresses.sh 3"):
            self.becomes_unreachable()
            say("  its pairs are unreachable, both ways; up again")
        self.all_ok()
        self.assertTrue(agent.running())
        say("  all ok")

    def device_removed(self):
        say("rxe3 is deleted under its agent")
        with Fault("rdma link delete rxe3", "rdma link add rxe3 type rxe netdev h3"):
            self.assertNotIn("rxe3", command("rdma", "link", "show"))
            self.becomes_unreachable()
            say("  its pairs are unreachable, both ways; added again")
        self.all_ok()
        say("  all ok")


if __name__ == "__main__":
    unittest.main()

"""kill -9 of an agent: the rest goes on, its cells say agent-down, nothing it measured is lost."""

import unittest

import history
from mesh import Mesh
from processes import eventually


class AgentDeath(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=3, protocols=("udp", "tcp"), interval="100ms", window="1s").start()
        for probe in ("udp", "tcp"):
            self.mesh.wait_for_rows(probe, state="ok")

    def test_cells_say_agent_down_and_recover(self):
        mesh = self.mesh
        dead = mesh.addresses[2]
        words = set()
        mesh.agents[2].kill()

        def down():
            current = {}
            for probe in ("udp", "tcp"):
                states = mesh.states(probe)
                words.update(states.values())
                current.update({(probe, *pair): state for pair, state in states.items()})
            return all(state == ("stale" if source == dead else "agent-down" if to == dead else "ok")
                       for (_, source, to), state in current.items()) and current

        # The lease is 4 s; what the dead agent itself saw becomes stale by the same lease.
        eventually(down, 15, "agent-down to it, stale from it, ok elsewhere")
        # A lossy window may close before the lease has ended: it is loss as far as anybody can know,
        # but no longer than that.
        self.assertLessEqual(words, {"ok", "loss", "refused", "agent-down", "stale"})
        rows = mesh.rows("udp")
        pair = (mesh.addresses[0], dead)
        eventually(lambda: mesh.rows("udp")[pair]["state"] == "agent-down", 15,
                   "Redis says so too")
        eventually(lambda: not mesh.hosts()["host-2"]["alive"], 15, "and /api/v1/hosts")
        status = mesh.cli("status", "--url", mesh.url)
        self.assertEqual(status.returncode, 1)
        self.assertIn("host-2", status.stdout)
        top = mesh.cli("top", "--once", "--sort", "state", "--url", mesh.url).stdout
        self.assertIn("agent-down", top)
        others = (mesh.addresses[0], mesh.addresses[1])
        start = rows[others]["start"]
        eventually(lambda: mesh.rows("udp")[others]["start"] > start, 15, "the others go on")

        mesh.start_agent(2)
        for probe in ("udp", "tcp"):
            eventually(lambda: set(mesh.states(probe).values()) == {"ok"}, 20,
                       lambda: f"all ok again: {mesh.states(probe)}")
        incarnations = history.incarnations(mesh, "udp", dead)
        self.assertEqual(len(incarnations), 2, "a restarted agent is another incarnation")
        self.check_the_past(start, dead)

    def check_the_past(self, at, dead):
        """At that time the agent was dead; the past says so, and when it began and ended."""
        self.assertEqual(self.mesh.states("udp", at),
                         {(source, to): "stale" if source == dead else "agent-down" if to == dead else "ok"
                          for source, to in self.mesh.pairs()})
        other = self.mesh.addresses[0]

        def changes(**parameters):
            fields = "&".join(f"{name}={value}" for name, value in parameters.items())
            return self.mesh.get(f"/api/v1/history/events?probe=udp&{fields}").json()["events"]
        eventually(lambda: [each for each in changes(source=dead, destination=other)
                            if each["to"] == "ok"], 15, "its return is an event")
        self.assertIn("stale", [each["to"] for each in changes(source=dead, destination=other)])
        to_dead = changes(source=other, destination=dead)
        self.assertIn("agent-down", [each["to"] for each in to_dead])
        self.assertEqual([each["at"] for each in to_dead], sorted(each["at"] for each in to_dead))
        # Before, while the agents began one after the other, the last one was not there yet.
        self.assertEqual([each for each in changes(source=other, destination=self.mesh.addresses[1]) if each["at"] >= at], [])

    def test_what_was_spooled_when_it_was_killed_is_delivered(self):
        mesh = self.mesh
        # Without a controller the agent can only spool; then it is killed with a full spool.
        mesh.controller.stop()
        metric = "pingloom_agent_spool_batches"
        eventually(lambda: mesh.agent_metrics(2)[metric] >= 3, 40, "batches in the spool")
        mesh.agents[2].kill()
        mesh.start_controller()
        mesh.start_agent(2)
        eventually(lambda: mesh.agent_metrics(2)[metric] == 0, 40, "the spool is delivered")
        source = mesh.addresses[2]
        for probe in ("udp", "tcp"):
            history.assert_contiguous(self, mesh, probe, source, 10)


if __name__ == "__main__":
    unittest.main()

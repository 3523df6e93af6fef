"""`plan` of a probe: agents probe all of their rack and a sample across, and nothing shows the other pairs."""

import json
import unittest

from mesh import Mesh
from processes import eventually

RACKS = ("r0", "r0", "r1", "r1", "r2", "r2")


class Sampling(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=6)
        self.save(targets=1, paths=2)
        self.mesh.start()

    def save(self, targets, paths, hosts=6):
        names = [f"h{index}" for index in range(hosts)]
        self.mesh.write_pinglist("\n".join([
            "version: 1",
            "defaults: { interval: 100ms, timeout: 300ms, window: 1s }",
            "hosts:",
            *[f"  {name}: {{ address: {self.mesh.addresses[index]}, rack: {RACKS[index]} }}"
              for index, name in enumerate(names)],
            "probes:",
            "  - name: fabric",
            "    protocol: rdma",
            f"    mesh: [{', '.join(names)}]",
            f"    plan: {{ full: rack, across: {{ targets: {targets}, paths: {paths}, cover: 1 }} }}",
            ""]))

    def planned(self, hosts=6):
        """The pairs within racks and those across, as `pingloom plan` says."""
        within, across = set(), set()
        for index in range(hosts):
            answer = self.mesh.cli("plan", str(self.mesh.pinglist_path), "--host", f"h{index}", "--json")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            for probe in json.loads(answer.stdout)["probes"]:
                for destination in probe["destinations"]:
                    number = self.mesh.addresses.index(destination)
                    same = RACKS[number] == RACKS[index]
                    (within if same else across).add((self.mesh.addresses[index], destination))
        return within, across

    def assert_probed(self, within, across, paths):
        """Redis and the API have these pairs and no others."""
        fields = {(source, field) for source, destination in across
                  for field in [destination, *[f"{destination}#{path}" for path in range(1, paths + 1) if paths > 1]]}
        fields |= within

        def shown():
            rows = self.mesh.rows("fabric")
            states = self.mesh.states("fabric")
            return (rows.keys() == fields and {row["state"] for row in rows.values()} == {"ok"}
                    and states.keys() == within | across and set(states.values()) == {"ok"})

        def seen():
            return (f"Redis: missing {fields - self.mesh.rows('fabric').keys()}, "
                    f"too many {self.mesh.rows('fabric').keys() - fields}; states {self.mesh.states('fabric')}")
        eventually(shown, 60, seen)

    def test_only_planned_pairs_are_probed_and_shown(self):
        within, across = self.planned()
        addresses = self.mesh.addresses
        self.assertEqual(within, {(addresses[a], addresses[b]) for a in range(6) for b in range(6)
                                  if a != b and RACKS[a] == RACKS[b]})
        self.assertEqual(len(across), 6)
        self.assert_probed(within, across, 2)

        # A pair that is not planned is none, like that of an address with itself.
        source, destination = min(self.mesh.pairs() - within - across)
        answer = self.mesh.get(f"/api/v1/pairs/fabric/{source}/{destination}")
        self.assertEqual(answer.status, 404, answer.body)
        self.assertIn("not a pair", answer.body)
        source, destination = min(across)
        answer = self.mesh.get(f"/api/v1/pairs/fabric/{source}/{destination}").json()
        self.assertEqual([row["path"] for row in answer["paths"]], [1, 2])

        # A stopped host is away for those that probe it, and for nobody else.
        self.mesh.agents[5].stop()
        gone = addresses[5]
        probing = {pair for pair in within | across if pair[1] == gone}
        eventually(lambda: {pair for pair, state in self.mesh.states("fabric").items()
                            if state == "agent-down"} == probing, 30,
                   lambda: f"those that probe it see it away: {probing} of {self.mesh.states('fabric')}")
        self.assertEqual(self.mesh.states("fabric").keys(), within | across)

    def test_another_plan_changes_what_is_probed(self):
        before = self.planned()
        self.assert_probed(*before, 2)
        self.save(targets=2, paths=1)
        after = self.planned()
        self.assertEqual(len(after[1]), 12)
        self.assert_probed(*after, 1)
        self.save(targets=1, paths=2)
        self.assert_probed(*before, 2)
        # A host leaves: the others' sample closes around it.
        self.save(targets=1, paths=2, hosts=5)
        fewer = self.planned(5)
        self.assertEqual(len(fewer[1]), 5)
        self.assert_probed(*fewer, 2)

    def test_the_commands_say_what_it_covers(self):
        check = self.mesh.cli("check", str(self.mesh.pinglist_path), "--url", self.mesh.url)
        self.assertEqual(check.returncode, 0, check.stderr)
        self.assertIn("pairs    12\n", check.stdout)
        self.assertIn("6 members in 3 groups by rack: 6 pairs within groups, 6 pairs across on 2 paths", check.stdout)
        self.assertIn("ordered pairs of groups are crossed", check.stdout)
        self.assertIn("no 'topology' is named", check.stdout)
        plan = self.mesh.cli("plan", str(self.mesh.pinglist_path), "--host", "h0")
        self.assertIn("All hosts together", plan.stdout)
        self.assertIn("rows     24/s", plan.stdout)  # 6 pairs of one row and 6 of three, each second
        plan = self.mesh.cli("plan", str(self.mesh.pinglist_path), "--host", "h0", "--json")
        self.assertEqual(json.loads(plan.stdout)["all_hosts"]["plans"][0]["group_pairs"], 6)


if __name__ == "__main__":
    unittest.main()

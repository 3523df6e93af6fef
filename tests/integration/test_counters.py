"""Counters of NICs and ports, from the files of a host's /sys to an incident. The agents see a tree that the test writes
in the place of /sys/class, with an RDMA device that this machine does not have."""

import os
import unittest

import namespaces
from fabric import Fabric
from mesh import Mesh
from processes import eventually

SLOW = "{ device: soft, impair: [{ delay: 2ms, jitter: 500us }] }"


class Sysfs:
    """What one host has at /sys/class: port 1 of mlx5_0, whose GID belongs to eth0, and eth0."""

    def __init__(self, directory):
        self.path = directory
        self.write("infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0")
        self.write("infiniband/mlx5_0/ports/1/counters/symbol_error", 7)
        self.write("infiniband/mlx5_0/ports/1/counters/port_rcv_data", 1)
        self.write("infiniband/mlx5_0/ports/1/counters/link_downed", "N/A (no PMA)")
        self.write("infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", 4294967290)
        self.write("infiniband/odd_0/ports/1/state", "")
        self.write("net/eth0/statistics/rx_errors", 0)

    def write(self, file, value):
        """As the kernel shows a new value: whole or not at all."""
        path = self.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name("." + path.name)
        temporary.write_text(f"{value}\n")
        os.replace(temporary, path)


class HostsWithCounters(Fabric):
    """Hosts with networks of their own, each with a tree of its own at /sys/class."""

    trees = {}

    def inside(self, index):
        super().inside(index)
        if index in self.trees:
            namespaces.bind(self.trees[index].path, "/sys/class")


class Counters(unittest.TestCase):
    def setUp(self):
        self.fabric = HostsWithCounters(self)
        with namespaces.or_skip():
            namespaces.try_mounts()
        self.mesh = Mesh(self, hosts=4, network=self.fabric, protocols=("rdma",))
        self.fabric.trees = {index: Sysfs(self.mesh.directory / f"sys-{index}") for index in (1, 2)}
        self.mesh.start()
        self.mesh.wait_for_rows("rdma", state="ok", seconds=60)

    def counters(self, host):
        answer = self.mesh.get(f"/api/v1/counters?host={host}")
        return {(each["device"], each["port"], each["counter"]): each
                for each in answer.json().get("counters", [])}

    def moved(self, host, counter):
        return self.counters(host)[counter]["moved"]

    def test_a_host_shows_its_counters_and_by_how_much_they_move(self):
        mesh, tree = self.mesh, self.fabric.trees[1]
        symbols, cnps = ("mlx5_0", 1, "symbol_error_total"), ("mlx5_0", 1, "np_cnp_packets_sent_total")
        eventually(lambda: self.counters("host-1"), 20, "host-1 has counters")
        seen = self.counters("host-1")
        self.assertEqual({key: each["total"] for key, each in seen.items() if key[0] != "eth0"},
                         {symbols: 7, cnps: 4294967290}, "others are absent, not 0")
        self.assertEqual(seen["eth0", None, "receive_errs_total"]["total"], 0)
        self.assertEqual((seen[symbols]["kind"], seen[cnps]["kind"]), ("error", "load"))
        self.assertTrue(all(each["moved"] == 0 for each in seen.values()), seen)
        tree.write("infiniband/mlx5_0/ports/1/counters/symbol_error", 1211)
        tree.write("infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", 10)  # its 32 bits wrapped
        eventually(lambda: (self.moved("host-1", symbols), self.moved("host-1", cnps)) == (1204, 16), 10,
                   lambda: f"both moved: {self.counters('host-1')}")
        first = mesh.get("/api/v1/counters?host=host-1").json()["counters"][0]
        self.assertEqual((first["counter"], first["total"]), ("symbol_error_total", 1211), "errors come first")
        self.assertEqual(mesh.hosts()["host-1"]["error_counters_moved"], 1)
        self.assertEqual(mesh.status()["agents"]["error_counters_moved"], 1)
        self.assertEqual(mesh.hosts()["host-2"]["error_counters_moved"], 0)
        # A restart of the agent changes nothing about the device's counters.
        mesh.agents[1].kill()
        tree.write("infiniband/mlx5_0/ports/1/counters/symbol_error", 1212)
        mesh.start_agent(1)
        eventually(lambda: self.moved("host-1", symbols) == 1205, 20, lambda: f"one more: {self.counters('host-1')}")
        # The minute that has not ended is in the history once the controller has ended.
        mesh.controller.stop()
        mesh.start_controller()
        kept = mesh.get("/api/v1/history/counters?host=host-1").json()["counters"]
        self.assertEqual(sum(each["moved"] for each in kept if each["counter"] == "symbol_error_total"), 1205, kept)
        self.assertEqual({each["kind"] for each in kept}, {"error", "load"}, kept)

    def test_the_incident_of_a_host_names_what_its_port_counts(self):
        mesh = self.mesh
        eventually(lambda: self.counters("host-2"), 20, "host-2 has counters")
        # Another host's errors are no evidence against this one.
        self.fabric.trees[1].write("infiniband/mlx5_0/ports/1/counters/symbol_error", 10)
        mesh.agents[2].kill()
        mesh.rdma[2] = SLOW
        mesh.start_agent(2)
        self.fabric.trees[2].write("infiniband/mlx5_0/ports/1/counters/symbol_error", 1211)

        def incident():
            found = mesh.get("/api/v1/incidents").json()["open"]
            return next((each for each in found
                         if each["kind"] == "host" and each["culprit"] == mesh.addresses[2] and each["counters"]), None)

        eventually(incident, 40, lambda: f"an incident with counters: {mesh.get('/api/v1/incidents').body}")
        told = incident()
        [counter] = told["counters"]
        self.assertEqual({name: counter[name] for name in ("device", "port", "counter", "kind", "moved")},
                         {"device": "mlx5_0", "port": 1, "counter": "symbol_error_total", "kind": "error", "moved": 1204})
        self.assertTrue(told["sentence"].endswith(", and port mlx5_0/1: symbol_error +1,204 in the same minute"), told)
        shown = mesh.cli("incidents", told["id"], "--url", mesh.url)
        self.assertIn("symbol_error_total", shown.stdout, shown.stderr)


if __name__ == "__main__":
    unittest.main()

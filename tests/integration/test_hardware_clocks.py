"""Unmodified agents on a stand-in libibverbs whose NICs have clocks of different rates and widths.

The stand-in delays what a device sends by a known time, and its timestamps are of that time whenever
its threads run; so that, both ways, is the network time that Redis has to show, whatever the clocks
count in.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

from mesh import Mesh
from processes import eventually

PROGRAMS = pathlib.Path(os.environ.get("PINGLOOM_BIN", "."))
LIBRARY = pathlib.Path(os.environ.get("PINGLOOM_BIN", ".")).parent / "fake_verbs"
# Kilohertz, bits of the counter, delay of what the device sends in microseconds. The first counter
# wraps every 55 s, the last one starts 0.5 s before its wrap.
NICS = [
    {"clock_khz": 78125, "mask_bits": 32, "offset": 0, "delay_us": 300},
    {"clock_khz": 1000000, "mask_bits": 64, "offset": 0, "delay_us": 500},
    {"clock_khz": 156250, "mask_bits": 41, "offset": 2**41 - 78125000, "delay_us": 900},
]


class HardwareClocks(unittest.TestCase):
    def start(self, nics, **options):
        mesh = Mesh(self, hosts=len(nics), protocols=("rdma",), interval="50ms", window="2s",
                    **options)
        for index, nic in enumerate(nics):
            config = mesh.directory / f"nic-{index}"
            attributes = " ".join(f"{key}={value}" for key, value in nic.items())
            config.write_text(f"device mlx5_{index} {attributes}\n"
                              "port 1 link=ethernet state=active mtu=1024\n"
                              f"gid 3 {mesh.addresses[index]} v2\n")
            mesh.rdma[index] = "{ device: auto }"
            mesh.environment[index] = {"LD_LIBRARY_PATH": str(LIBRARY),
                                       "PINGLOOM_FAKE_VERBS": str(config)}
        return mesh.start()

    def test_redis_shows_the_true_delays_by_hardware_clocks(self):
        mesh = self.start(NICS)
        rows = mesh.wait_for_rows("rdma", state="ok")
        delay = {address: nic["delay_us"] * 1000 for address, nic in zip(mesh.addresses, NICS)}
        for (source, destination), row in rows.items():
            self.assertEqual(row["clock"], "hardware")
            self.assertEqual(row["device"], f"mlx5_{mesh.addresses.index(source)}")
            true = delay[source] + delay[destination]
            # Exact but for the ticks that timestamps are cut to, and the percentiles' buckets.
            self.assertGreater(row["network_ns"]["min"], true * 0.98, row)
            self.assertLess(row["network_ns"]["max"], true * 1.02, row)
            self.assertEqual(row["anomalous"].get("negative", 0), 0, row)

    def check_clock(self, device):
        directory = tempfile.TemporaryDirectory(prefix="pingloom-clock-")
        self.addCleanup(directory.cleanup)
        config = pathlib.Path(directory.name) / "nics"
        config.write_text(f"device mlx5_0 {device}\nport 1\ngid 3 10.0.0.1 v2\n")
        return subprocess.run(
            [PROGRAMS / "pingloom", "devices", "--address", "10.0.0.1", "--clock"], text=True, check=False,
            capture_output=True, timeout=60,
            env={**os.environ, "LD_LIBRARY_PATH": str(LIBRARY), "PINGLOOM_FAKE_VERBS": str(config)})

    def test_a_clock_is_compared_with_the_hosts(self):
        # This counter wraps every 0.86 s.
        honest = self.check_clock("clock_khz=78125 mask_bits=26")
        self.assertEqual(honest.returncode, 0, honest)
        self.assertRegex(honest.stdout, r"clock +hardware, 78125 kHz, repeats after 0\.9 s")
        self.assertIn("plausible", honest.stdout)
        # Ticks of 1 ns that are said to be ticks of 6.4 ns.
        lying = self.check_clock("clock_khz=1000000 said_khz=156250 mask_bits=64")
        self.assertEqual(lying.returncode, 1, lying)
        self.assertIn("the ticks are not what the device says they are", lying.stdout)

    def test_a_device_without_timestamps_says_software(self):
        mesh = self.start([NICS[0], {"delay_us": 100}])
        rows = mesh.wait_for_rows("rdma")
        one, two = mesh.addresses
        self.assertEqual(rows[one, two]["clock"], "hardware")
        self.assertEqual(rows[two, one]["clock"], "software")

    def test_a_queue_pair_in_error_is_made_anew(self):
        mesh = self.start(NICS[:2])
        mesh.wait_for_rows("rdma", state="ok")

        def endpoint():
            log = mesh.agents[1].log()
            return [line for line in log.splitlines() if "endpoint on mlx5_1" in line][-1]

        before = endpoint()
        with open(mesh.directory / "nic-1.faults", "a") as faults:
            faults.write("pair_error mlx5_1\n")
        eventually(lambda: endpoint() != before, 10, "a new queue pair")
        answered = "pingloom_agent_pings_answered_total{protocol=\"rdma\"}"
        count = mesh.agent_metrics(1)[answered]
        eventually(lambda: mesh.agent_metrics(1)[answered] > count, 10, "which peers ping")
        mesh.assert_all_alive()
        eventually(lambda: set(mesh.states("rdma").values()) == {"ok"}, 20,
                   lambda: f"all ok again: {mesh.states('rdma')}")


if __name__ == "__main__":
    unittest.main()

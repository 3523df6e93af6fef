"""The demo of the README, on a subnet and directory of its own."""

import subprocess
import tempfile
import unittest

from mesh import ROOT, private_subnet


class Demo(unittest.TestCase):
    def test_a_short_demo_measures_every_pair(self):
        with tempfile.TemporaryDirectory(prefix="pingloom-it-") as directory:
            demo = subprocess.run(
                [str(ROOT / "scripts" / "demo.sh"), "--hosts", "4", "--pages", "--dta", "--duration", "12", "--http",
                 "127.0.0.1:0", "--run-dir", directory, "--subnet", private_subnet() + ".0/24"],
                capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL)
            self.assertEqual(demo.returncode, 0, demo.stdout + demo.stderr)
            self.assertIn("http://127.0.0.1:", demo.stdout)
            self.assertRegex(demo.stdout, r"pages +curl http://127.0.0.1:[0-9]+/metrics")
            self.assertRegex(demo.stdout, r"demo +events +2 +lists")
            self.assertIn("by demo", demo.stdout, "the latest value of a key of the C++ program")
            left = subprocess.run(["pgrep", "-f", directory], capture_output=True, text=True)
            self.assertEqual(left.stdout, "", "the demo leaves nothing running")


if __name__ == "__main__":
    unittest.main()

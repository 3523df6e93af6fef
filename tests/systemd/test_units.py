"""The units as systemd reads them: known keys, and exposure no higher than promised. Needs no root and starts nothing."""

import pathlib
import re
import subprocess
import unittest

UNITS = pathlib.Path(__file__).resolve().parents[2] / "systemd"
# `systemd-analyze security`: 0 is confined, 10 is exposed. Agent and collector need devices.
MOST_EXPOSED = {"pingloom-controller": 2.5, "pingloom-agent": 3.5, "pingloom-collector": 3.5}
# Since systemd 254; those before start again after RestartSec each time.
NEWER = {"RestartSteps", "RestartMaxDelaySec"}


class Units(unittest.TestCase):
    def test_exposure(self):
        for name, most in MOST_EXPOSED.items():
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", UNITS / f"{name}.service"],
                                  capture_output=True, text=True, check=False)
            found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
            self.assertIsNotNone(found, done.stdout + done.stderr)
            print(f"\n{name}: {found[1]} (at most {most})")
            self.assertLessEqual(float(found[1]), most)

    def test_keys_are_known(self):
        for name in MOST_EXPOSED:
            done = subprocess.run(["systemd-analyze", "--man=no", "verify", UNITS / f"{name}.service"], capture_output=True,
                                  text=True, check=False)
            # Of other units on this machine, and of the program, which is not installed here, it may say what it likes.
            said = [line for line in done.stderr.splitlines() if str(UNITS) in line or "Unknown" in line]
            self.assertEqual([line for line in said if not any(key in line for key in NEWER)], [])

    def test_each_has_what_an_operator_relies_on(self):
        for name in MOST_EXPOSED:
            text = (UNITS / f"{name}.service").read_text()
            for line in ("Type=notify", "TimeoutStartSec=infinity", "After=multi-user.target", "WatchdogSec=20s", "TimeoutStopSec=5s",
                         "Restart=on-failure", "RestartPreventExitStatus=2",
                         f"User={name}", "ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet="):
                self.assertIn(f"\n{line}\n", text, name)
            # Containers have the agent's folder mounted, and shall see the next agent's socket there.
            self.assertEqual("\nRuntimeDirectoryPreserve=yes\n" in text, name == "pingloom-agent", name)
            self.assertRegex(text, r"\nCPUQuota=\d+%\nMemoryMax=\d+[MG]\n")


if __name__ == "__main__":
    unittest.main()

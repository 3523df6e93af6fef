"""The units as systemd reads them: known keys, and exposure no higher than promised. Needs no root and starts nothing."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

UNITS = pathlib.Path(__file__).resolve().parents[2] / "systemd"
# `systemd-analyze security`: 0 is confined, 10 is exposed. Agent and collector need devices.
MOST_EXPOSED = {"pingloom-controller": 2.5, "pingloom-agent": 3.5, "pingloom-collector": 3.5, "pingloom-translator": 3.5}
# A collector saves what analytics have learned before it ends.
STOPS_WITHIN = {"pingloom-controller": "5s", "pingloom-agent": "5s", "pingloom-collector": "30s", "pingloom-translator": "5s"}
DROP_IN = "restart-steps.conf"  # only where systemd is 254 or newer


class Units(unittest.TestCase):
    def test_exposure(self):
        for name, most in MOST_EXPOSED.items():
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", UNITS / f"{name}.service"],
                                  capture_output=True, text=True, check=False)
            found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
            self.assertIsNotNone(found, done.stdout + done.stderr)
            print(f"\n{name}: {found[1]} (at most {most})")
            self.assertLessEqual(float(found[1]), most)

    def complaints(self, folder, name):
        """What systemd says about a unit in the folder. Complaints about this machine's units and about the program, which is not
        installed here, do not count."""
        done = subprocess.run(["systemd-analyze", "--man=no", "verify", folder / f"{name}.service"], capture_output=True,
                              text=True, check=False)
        return [line for line in done.stderr.splitlines() if str(folder) in line or "Unknown" in line]

    def test_keys_are_known(self):
        for name in MOST_EXPOSED:
            self.assertEqual(self.complaints(UNITS, name), [])

    def test_the_drop_in_s_keys_are_known_since_254(self):
        shown = subprocess.run(["systemctl", "--version"], capture_output=True, text=True, check=True).stdout
        version = int(re.match(r"systemd (\d+)", shown)[1])
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            for name in MOST_EXPOSED:
                shutil.copy(UNITS / f"{name}.service", folder)
                (folder / f"{name}.service.d").mkdir()
                shutil.copy(UNITS / DROP_IN, folder / f"{name}.service.d")
                unknown = {key for key in ("RestartSteps", "RestartMaxDelaySec") if any(key in line for line in self.complaints(folder, name))}
                self.assertEqual(unknown, set() if version >= 254 else {"RestartSteps", "RestartMaxDelaySec"})

    def test_each_has_what_an_operator_relies_on(self):
        for name in MOST_EXPOSED:
            text = (UNITS / f"{name}.service").read_text()
            for line in ("Type=notify", "TimeoutStartSec=infinity", "After=multi-user.target", "WatchdogSec=20s",
                         f"TimeoutStopSec={STOPS_WITHIN[name]}", "Restart=on-failure", "RestartPreventExitStatus=2",
                         f"User={name}", "ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet="):
                self.assertIn(f"\n{line}\n", text, name)
            # Containers have the agent's folder mounted, and shall see the next agent's socket there.
            self.assertEqual("\nRuntimeDirectoryPreserve=yes\n" in text, name == "pingloom-agent", name)
            self.assertRegex(text, r"\nCPUQuota=\d+%\nMemoryMax=\d+[MG]\n")


if __name__ == "__main__":
    unittest.main()

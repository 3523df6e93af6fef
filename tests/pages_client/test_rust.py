"""The Rust crate for metric pages: its own tests, its examples and its format, with Debian's toolchain.

A missing toolchain is a failure. Cargo fetches nothing and writes into the build folder only."""

import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

CRATE = pathlib.Path(__file__).resolve().parents[2] / "rust/pingloom-pages"
BUILD = pathlib.Path(os.environ["PINGLOOM_BUILD"]) / "rust"

# One of its tests makes as many pages as a process may have, and each needs a descriptor.
HARD_LIMIT = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (HARD_LIMIT, HARD_LIMIT))


class Rust(unittest.TestCase):
    def run_tool(self, *command, **more):
        environment = {**os.environ, "CARGO_HOME": str(BUILD / "home"), "CARGO_TARGET_DIR": str(BUILD / "target"),
                       "RUSTC": "/usr/bin/rustc", "RUSTDOC": "/usr/bin/rustdoc", "RUSTFLAGS": "-D warnings"}
        done = subprocess.run(command, cwd=CRATE, env={**environment, **more}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_the_crate(self):
        said = self.run_tool("/usr/bin/cargo", "test", "--offline", "--locked")
        self.assertIn("test result: ok", said)

    def test_the_example_runs_without_an_agent(self):
        with tempfile.TemporaryDirectory(prefix="pingloom-rust-") as folder:
            self.run_tool("/usr/bin/cargo", "run", "--quiet", "--offline", "--locked", "--example", "orders", "--", "1",
                          PINGLOOM_PAGES_SOCKET=f"{folder}/pages.sock")

    def test_its_format(self):
        sources = sorted(str(path) for path in CRATE.rglob("*.rs"))
        self.run_tool("/usr/bin/rustfmt", "--check", "--edition", "2021", *sources)


if __name__ == "__main__":
    unittest.main()

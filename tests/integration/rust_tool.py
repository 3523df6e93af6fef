"""Rust for tests: offline, with all that it makes in the build folder."""

import os
import subprocess

from mesh import ROOT


def test_writer(build):
    """The path of rust/pingloom-pages/tests/programs/writer.rs, once it is built. `build`: the build folder."""
    environment = {**os.environ, "CARGO_HOME": str(build / "rust/home"), "RUSTC": "/usr/bin/rustc",
                   "CARGO_TARGET_DIR": str(build / "rust/target"), "RUSTFLAGS": "-D warnings"}
    subprocess.run(["/usr/bin/cargo", "build", "--quiet", "--offline", "--locked", "--example", "test_writer"],
                   cwd=ROOT / "rust/pingloom-pages", env=environment, check=True)
    return str(build / "rust/target/debug/examples/test_writer")

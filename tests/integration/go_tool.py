"""Go for tests: offline, by the standard library alone, with a cache in the build folder."""

import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "go/pingloompages"


def go(build, directory, *arguments, tool="go", **environment):
    """The output of `go ARGUMENTS` in the directory. Fails if it fails, or if there is no Go. `build`: the build folder."""
    path = shutil.which(tool)
    if path is None:
        raise AssertionError(f"there is no {tool}: install golang-go, which scripts/packages.txt lists")
    cache = pathlib.Path(build).resolve() / "go-cache"
    done = subprocess.run([path, *map(str, arguments)], cwd=directory, capture_output=True, text=True, env={
        **os.environ, "GOCACHE": str(cache), "GOPATH": str(cache / "path"), "GOPROXY": "off", "GOFLAGS": "-mod=mod",
        "GO111MODULE": "on", "GOTOOLCHAIN": "local", "GOMAXPROCS": "2", "CGO_ENABLED": "0", **environment})
    if done.returncode != 0:
        raise AssertionError(f"{tool} {' '.join(map(str, arguments))}: {done.stdout}{done.stderr}")
    return done.stdout

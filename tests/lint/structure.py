"""Imports point down the list of folders only, no file outgrows its subject, and no path of a build machine slips in."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What each folder of src/ may use besides itself. ARCHITECTURE.md draws the same.
MAY_USE = {
    "common": set(),
    "net": {"common"},
    "wire": {"common"},
    "rdma": {"common", "net", "wire"},
    "plan": {"common", "wire"},
    "pinglist": {"common", "wire", "plan"},
    "http": {"common"},
    "probe": {"common", "net", "wire", "rdma", "plan"},
    "agent": {"common", "net", "wire", "rdma", "plan", "http", "probe"},
    "controller": {"common", "wire", "plan", "pinglist", "http"},
    "cli": {"common", "net", "wire", "rdma", "plan", "pinglist", "http", "probe", "agent", "controller"},
}
MOST_LINES = 600
SOURCES = (".h", ".cpp", ".py", ".sh", ".js", ".ts", ".tsx", ".css")


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def import_faults(path, text):
    folder = path.relative_to(ROOT / "src").parts[0]
    for used in re.findall(r'^#include "([a-z]+)/', text, re.MULTILINE):
        if used in MAY_USE and used != folder and used not in MAY_USE[folder]:
            yield f"{path.relative_to(ROOT)}: src/{folder} may not use src/{used}"


def faults(path):
    if path.suffix not in SOURCES or not path.exists():
        return
    text = path.read_text()
    lines = text.count("\n")
    if lines > MOST_LINES:
        yield f"{path.relative_to(ROOT)}: {lines} lines; split it (at most {MOST_LINES})"
    if path.suffix == ".h" and "#pragma once" not in text:
        yield f"{path.relative_to(ROOT)}: no #pragma once"
    if (ROOT / "src") in path.parents and path.suffix in (".h", ".cpp"):
        yield from import_faults(path, text)


def main():
    found = [fault for path in tracked() for fault in faults(path)]
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Imports point down the list of folders only, web/ has no import circle, files stay short, docs have every metric."""

import graphlib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What each folder of src/ may use besides itself. ARCHITECTURE.md draws the same.
MAY_USE = {
    "common": set(),
    "localise": {"common"},
    "net": {"common"},
    "wire": {"common"},
    "rdma": {"common", "net", "wire"},
    "store": {"common", "net", "wire", "rdma"},
    "plan": {"common", "wire"},
    "pinglist": {"common", "wire", "plan"},
    "keys": {"common", "net", "wire", "plan"},
    "http": {"common"},
    "probe": {"common", "net", "wire", "rdma", "plan"},
    "pages": {"common", "net", "wire", "rdma"},
    "report": {"common", "wire"},
    "translator": {"common", "net", "keys", "wire", "rdma", "store", "http"},
    "agent": {"common", "net", "keys", "wire", "rdma", "store", "report", "plan", "http", "translator", "probe", "pages"},
    "collector": {"common", "net", "keys", "wire", "rdma", "store", "http", "pages"},
    "controller": {"common", "localise", "net", "keys", "wire", "plan", "pinglist", "http"},
    "cli": {"common", "net", "keys", "wire", "rdma", "store", "plan", "pinglist", "http", "probe", "agent", "controller", "pages", "collector", "translator"},
}
# The rooms of src/controller, likewise; at its root lie main, the controller that wires them, and its configuration.
CONTROLLER_ROOMS = {
    "model": set(),
    "history/codec": {"model"},
    "history/sql": set(),
    "history": {"model", "history/codec", "history/sql"},
    "verdict": {"model"},
    "cluster": {"model", "history", "history/sql", "verdict"},
    "control": {"model", "history", "verdict"},
    "relay": {"model", "control"},
    "redis": {"model"},
    "alerts": {"model"},
    "collectors": {"model"},
    "http": {"model", "history/codec", "history/sql", "history", "control", "redis", "alerts", "collectors"},
}
MOST_LINES = 600
SOURCES = (".h", ".cpp", ".go", ".rs", ".py", ".sh", ".js", ".ts", ".tsx", ".css")


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def import_faults(path, text):
    folder = path.relative_to(ROOT / "src").parts[0]
    for used in re.findall(r'^#include "([a-z]+)/', text, re.MULTILINE):
        if used in MAY_USE and used != folder and used not in MAY_USE[folder]:
            yield f"{path.relative_to(ROOT)}: src/{folder} may not use src/{used}"


def room_of(path):
    """The room of a path below src/controller: its folder, "" at the root."""
    return str(pathlib.PurePath(path).parent).removeprefix(".")


def room_faults(path, text):
    below = path.relative_to(ROOT / "src")
    if below.parts[0] != "controller":
        return
    room = room_of(below.relative_to("controller"))
    if not room:
        return
    if room not in CONTROLLER_ROOMS:
        yield f"{path.relative_to(ROOT)}: tests/lint/structure.py does not know the room {room}"
        return
    for used in map(room_of, re.findall(r'^#include "controller/([^"]+)"', text, re.MULTILINE)):
        if used != room and used not in CONTROLLER_ROOMS[room]:
            yield f"{path.relative_to(ROOT)}: controller/{room} may not use controller/{used or 'its root'}"


def web_circles(paths):
    web = [path for path in paths if (ROOT / "web/src") in path.parents and path.suffix in (".ts", ".tsx")]
    imports = {path.stem: re.findall(r"'\./(\w+)'", path.read_text()) for path in web if path.exists()}
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        yield f"web/src: files import each other in a circle: {', '.join(error.args[1])}"


# The names that the daemons' sources spell out, alone in a string or before its labels.
METRIC = re.compile(r'"(pingloom_[a-z0-9_]*[a-z0-9])(?:["{ ])')


def unexplained_metrics(path, text, explained):
    for metric in sorted(set(METRIC.findall(text)) - explained):
        yield f"{path.relative_to(ROOT)}: docs/metrics.md does not have {metric}"


def faults(path, explained):
    if path.suffix not in SOURCES or not path.exists():
        return
    text = path.read_text()
    lines = text.count("\n")
    if lines > MOST_LINES:
        yield f"{path.relative_to(ROOT)}: {lines} lines; split it (at most {MOST_LINES})"
    if path.suffix == ".h" and "#pragma once" not in text:
        yield f"{path.relative_to(ROOT)}: no #pragma once"
    if path.suffix in (".h", ".cpp") and (other := re.search(r"\bkMost[A-Z]\w*", text)):
        yield f"{path.relative_to(ROOT)}: limits are called kMax... and kMin..., not {other[0]}"
    if (ROOT / "src") in path.parents and path.suffix in (".h", ".cpp"):
        yield from import_faults(path, text)
        yield from room_faults(path, text)
        yield from unexplained_metrics(path, text, explained)


def main():
    explained = set(re.findall(r"pingloom_[a-z0-9_]+", (ROOT / "docs/metrics.md").read_text()))
    paths = tracked()
    found = [fault for path in paths for fault in faults(path, explained)] + list(web_circles(paths))
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

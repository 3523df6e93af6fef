#!/usr/bin/env python3
"""Takes a cable of a fabric with real agents out of service, and checks that the history, the API and the command line tell
which flows moved, from where to where."""

import subprocess
import time

from fabric_mesh import CONTROLLER, run_check
from processes import binary, eventually

AGENTS_NOTICE = 1  # seconds; a flow is traced again at once if it loses a PING


def ip(node, *words):
    subprocess.run(["ip", "-n", f"plf-{node}", *words], check=True, capture_output=True)


def take_out():
    """leaf0 chooses among what is left by itself. leaf1 does not know of the cable, and its packets are lost until it is told."""
    ip("leaf0", "link", "set", "spine0", "down")
    time.sleep(AGENTS_NOTICE)
    ip("leaf1", "route", "replace", "10.1.0.0/24", "via", "10.2.1.3", "dev", "spine1")


def changes(mesh, query=""):
    return mesh.get(f"history/paths?probe=rdma{query}")["changes"]


def names(routers):
    return [router.get("name") for router in routers]


def check(mesh):
    mesh.wait_until_traced()
    assert changes(mesh) == [], "flows moved before"
    take_out()
    found = eventually(lambda: changes(mesh), 60, "a change of paths")
    for change in found:
        before, after, hop = names(change["before"]), names(change["after"]), change["hop"]
        assert hop == 2 and len(before) == len(after) == 3, change
        assert (before[1], after[1]) == ("spine0", "spine1"), change
        assert before[0] == after[0] and before[2] == after[2], change
        assert change["flows"] == 1 or change["of"], change
    one = found[0]
    pair = f"&source={one['source']}&destination={one['destination']}"
    assert one in changes(mesh, pair), "the pair's own question"
    moved = next(path for path in mesh.get(f"paths/rdma/{one['source']}/{one['destination']}")["forward"]
                 if path["path"] == one["path"])
    assert names(moved["hops"]) == names(one["after"]), moved
    for words in (["path", one["source"], one["destination"]], ["events", "--probe", "rdma"]):
        shown = subprocess.run(["ip", "netns", "exec", "plf-management", binary("pingloom"), *words, "--url",
                                f"http://{CONTROLLER}:8080"], stdout=subprocess.PIPE, text=True, check=True).stdout
        assert "hop 2: spine0 -> spine1" in shown, shown
    print(f"{sum(change['flows'] for change in found)} flows moved, in {len(found)} records")


if __name__ == "__main__":
    run_check(check, layout="2x2x4")

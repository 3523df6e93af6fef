#!/usr/bin/env python3
"""Runs a sparse plan on a fabric with real agents, and checks that the controller adds pairs until the plan's flows cross each
link often enough in both directions."""

import subprocess
import time

from fabric_mesh import CONTROLLER, run_check
from processes import binary, eventually

FLOWS = 8 * (3 * 2 + 1)  # across racks, and within
PLAN = "plan: { full: rack, across: { targets: 3, paths: 2, cover: 2 } }"


def cover(mesh):
    found = mesh.get("fabric")["cover"]
    return found[0] if found else None


def check(mesh):
    began = time.monotonic()
    first = eventually(lambda: (known := cover(mesh)) and known["flows"] == FLOWS and known, 90, "all flows traced")
    assert first["pairs"] == 0 and first["few"], first
    assert first["covered"] == first["links"] - len(first["few"]), first
    added = eventually(lambda: (known := cover(mesh)) and known["pairs"] > 0 and known, 90, "pairs are added")

    def settled():
        known = cover(mesh)
        return known if all(link["state"] != "chosen" for link in known["few"]) else None
    last = eventually(settled, 180, lambda: f"nothing is left to choose: {cover(mesh)}")
    assert last["pairs"] >= added["pairs"], (added, last)
    assert last["covered"] > first["covered"] and len(last["few"]) < len(first["few"]), (first, last)
    shown = subprocess.run(["ip", "netns", "exec", "plf-management", binary("pingloom"), "fabric", "--url",
                            f"http://{CONTROLLER}:8080"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert f"{last['covered']} of {last['links']} link directions are crossed by at least 2" in shown, shown
    print(f"{first['covered']} of {first['links']} directions were covered, and {last['covered']} of {last['links']} are with "
          f"{last['pairs']} more pairs, {time.monotonic() - began:.0f} s after the start")


if __name__ == "__main__":
    run_check(check, layout="4x4x8", probe=PLAN)

#!/usr/bin/env python3
"""Probes a fabric by TCP with real agents, breaks a link, and checks that connections which nobody answered are traced from
their very ports up to the link."""

import subprocess

from fabric_mesh import CONTROLLER, fabric, run_check
from processes import binary, eventually

DEAD = ("spine1", "leaf0")  # nothing goes from the one to the other


def trace_of(mesh, source, destination):
    found = mesh.get(f"paths/tcp/{source}/{destination}")["forward"]
    return found[0] if found else None


def names(trace):
    return [hop.get("name") for hop in trace["hops"]]


def pairs(mesh):
    return [(source, destination) for source in mesh.hosts.values() for destination in mesh.hosts.values()
            if source != destination]


def leaf_of(address):
    return "leaf" + address.split(".")[2]


def check_well(mesh):
    """Every pair is traced to its end, over its leaves and any spine."""
    traces = eventually(lambda: (all_of := {pair: trace_of(mesh, *pair) for pair in pairs(mesh)})
                        and all(all_of.values()) and all_of, 90, "every pair is traced", interval=0.5)
    for (source, destination), trace in traces.items():
        assert trace["state"] == "traced" and trace["end"] == "reached" and trace["source_port"] > 0, trace
        way = names(trace)
        if leaf_of(source) == leaf_of(destination):
            assert way == [leaf_of(source)], (source, destination, trace)
        else:
            assert way in ([leaf_of(source), f"spine{spine}", leaf_of(destination)] for spine in range(2)), trace
    return traces


def check_dead(mesh, before):
    fabric("fault", "add", f"link={DEAD[0]}-{DEAD[1]},100%")
    upward = [pair for pair in pairs(mesh) if leaf_of(pair[0]) != DEAD[1] and leaf_of(pair[1]) == DEAD[1]]

    def stopped():
        found = [(pair, trace) for pair in upward if (trace := trace_of(mesh, *pair)) and trace["end"] == "silent"]
        return [each for each in found if names(each[1])[1:] == [DEAD[0]]]
    found = eventually(stopped, 90, lambda: f"a trace ends at {DEAD[0]}: {[trace_of(mesh, *pair) for pair in upward]}",
                       interval=0.5)
    for pair, trace in found:
        assert trace["changes"] == 0 and "broken" not in trace, "another connection is no change"
        assert before[pair]["source_port"] in [each["source_port"] for each in trace["before"]], (before[pair], trace)
    (source, destination), trace = found[0]
    shown = subprocess.run(["ip", "netns", "exec", "plf-management", binary("pingloom"), "path", source, destination, "--url",
                            f"http://{CONTROLLER}:8080"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert f"connection from port {trace['source_port']}  partial (silent)" in shown, shown
    assert mesh.get("history/paths?probe=tcp")["changes"] == [], "no flow has moved"
    return len(found), len(upward)


def check(mesh):
    found, upward = check_dead(mesh, check_well(mesh))
    print(f"{found} of {upward} pairs show a connection that ends at {DEAD[0]}")


if __name__ == "__main__":
    run_check(check, layout="2x2x4", probe="interval: 200ms", protocol="tcp")

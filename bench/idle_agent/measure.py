#!/usr/bin/env python3
"""What an agent costs that is registered and has nothing to probe: processor time and memory.

    bench/idle_agent/measure.py --bin build/release/bin --seconds 60
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time
import urllib.request

CONTROLLER = """pinglist: {folder}/pinglist.yaml
control: 127.0.0.1:{port}
http: 127.0.0.1:{http}
state_dir: {folder}/controller
redis: embedded
"""
AGENT = """controller: 127.0.0.1:{port}
host: idle
addresses: [127.0.66.1]
port: {agent}
state_dir: {folder}/agent
rdma: {{ device: soft }}
"""
PINGLIST = "version: 1\nprobes:\n  - { name: others, protocol: rdma, mesh: [127.0.66.2, 127.0.66.3] }\n"


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("idle_agent: no VmRSS")


def alive(http):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{http}/api/v1/status", timeout=2) as answer:
            return json.load(answer)["agents"]["alive"] == 1
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--port", type=int, default=29730, help="this one and the next two")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pingloom-idle-") as folder:
        values = {"folder": folder, "port": args.port, "http": args.port + 1, "agent": args.port + 2}
        for name, text in (("controller", CONTROLLER), ("agent", AGENT)):
            pathlib.Path(folder, f"{name}.yaml").write_text(text.format(**values))
        pathlib.Path(folder, "pinglist.yaml").write_text(PINGLIST)
        children = []
        try:
            for name in ("controller", "agent"):
                log = open(pathlib.Path(folder, f"{name}.log"), "w")
                children.append(subprocess.Popen([args.bin / f"pingloom-{name}", "--config",
                                                  f"{folder}/{name}.yaml"], stdout=log, stderr=log))
            deadline = time.monotonic() + 20
            while not alive(values["http"]):
                if time.monotonic() > deadline:
                    raise SystemExit("idle_agent: the agent does not register:\n"
                                     + pathlib.Path(folder, "agent.log").read_text()
                                     + pathlib.Path(folder, "controller.log").read_text())
                time.sleep(0.2)
            agent = children[1].pid
            time.sleep(2)
            before, start = processor_seconds(agent), time.monotonic()
            time.sleep(args.seconds)
            used = processor_seconds(agent) - before
            share = used / (time.monotonic() - start)
            print(f"idle agent: {100 * share:.3f} % of a core over {args.seconds:.0f} s, "
                  f"{resident_mib(agent):.1f} MiB resident")
        finally:
            for child in reversed(children):
                child.terminate()
                child.wait()


if __name__ == "__main__":
    main()

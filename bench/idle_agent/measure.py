#!/usr/bin/env python3
"""What an agent costs that is registered and has nothing to probe: processor time and memory, its heartbeats included.

    bench/idle_agent/measure.py --bin build/release/bin --seconds 60
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "report"))
import figures  # noqa: E402

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
http: none
rdma: {{ device: soft }}
"""
PINGLIST = "version: 1\nprobes:\n  - { name: others, protocol: rdma, mesh: [127.0.66.2, 127.0.66.3] }\n"


def processor_seconds(pid):
    """By the process' CPU clock, whose number clock_getcpuclockid(3) would give: /proc counts in ticks of 10 ms."""
    return time.clock_gettime(~pid << 3 | 2)


def resident_mib(pid, kind):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{kind}:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"idle_agent: no {kind}")


def alive(http):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{http}/api/v1/status", timeout=2) as answer:
            return json.load(answer)["agents"]["alive"] == 1
    except OSError:
        return False


def end(child):
    child.terminate()
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"),
                        help="where the daemons are (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=60, help="how long to measure (default: %(default)s)")
    parser.add_argument("--port", type=int, default=29730, help="the first of three ports to use (default: %(default)s)")
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
            print(figures.line("CPU of an agent with nothing to probe", "% of a core", [100 * share]))
            print(figures.line("resident memory", "MiB", [resident_mib(agent, "VmRSS")]))
            print(figures.line("of it not pages of files", "MiB", [resident_mib(agent, "RssAnon")]))
        finally:
            for child in reversed(children):
                end(child)


if __name__ == "__main__":
    main()

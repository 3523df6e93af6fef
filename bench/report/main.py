"""Measures the benchmarks and writes what they print into docs/benchmarks.md and bench/report/results.json."""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

import comparison
import figures
import machine
import page
from sections import ROOT, SECTIONS

FLAT = re.compile(r"\[\s+([^\[\]{}]*?)\s+\]")


def parser_of_sections(prog, verb, description):
    """A parser of the options that choose sections."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("--only", action="append", metavar="SECTION", default=[],
                        help=f"{verb} this section only; may be given more than once")
    parser.add_argument("--list", action="store_true", help="list the sections and what keeps them from running here")
    return parser


def parse_sections(parser, names):
    """The options, whose sections are among these names."""
    given = parser.parse_args()
    unknown = set(given.only) - set(names)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; --list names them")
    return given


def arguments():
    parser = parser_of_sections(
        "bench/report.sh", "measure",
        "Builds and runs the benchmarks, writes their tables and drawings into docs/, and tells which figures moved by more "
        "than the machine's own limit since the last report. Progress goes to standard error.")
    parser.add_argument("--quick", action="store_true", help="make fewer runs: about a quarter of the time")
    parser.add_argument("--write", action="store_true", help="measure nothing; write the page from the kept results")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE",
                        help="write the page to FILE, and leave docs/benchmarks.md and the kept results as they are")
    return parse_sections(parser, (section.name for section in SECTIONS))


def say(text):
    print(f"report: [{time.monotonic() - BEGIN:5.0f} s] {text}", file=sys.stderr, flush=True)


BEGIN = time.monotonic()


def load_results():
    return load(machine.RESULTS)


def load_profiles():
    return load(machine.PROFILES)


def load(name):
    path = ROOT / name
    return json.loads(path.read_text()) if path.exists() else {}


def to_text(results):
    """JSON with a figure on each line."""
    return FLAT.sub(lambda match: f"[{' '.join(match[1].split())}]", json.dumps(results, indent=1)) + "\n"


def obstacle(section):
    """Why a section cannot be run here; None if it can."""
    return next((reason for reason in (need() for need in section.needs) if reason), None)


def build(chosen):
    targets = sorted({target for section in chosen for target in section.targets})
    say(f"building {' '.join(targets)}")
    commands = [["cmake", "--preset", "release", "-DPINGLOOM_BENCH=ON", "-DPINGLOOM_TESTS=ON"],
                ["cmake", "--build", "--preset", "release", "--target", *(set(targets) - {"web"})]]
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise SystemExit(f"{done.stdout[-4000:]}\nreport: the build failed")
    if "web" in targets:  # without it the dashboard's sections are not run, and say why
        subprocess.run(["cmake", "--build", "--preset", "release", "--target", "web"], cwd=ROOT, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)


def measure(section, quick, earlier):
    """The result of a section. `earlier` is its last one, or empty."""
    reason = obstacle(section)
    if reason:
        return earlier | {"not_run": reason}
    command = section.arguments(quick)
    say(f"{section.name}: {command} (at most {section.seconds} s)")
    began, processor = time.monotonic(), [machine.processor_seconds()]
    load, times = machine.load(), machine.processor_times()
    output, reason = machine.run(shlex.split(command), ROOT, section.seconds)
    took, stolen = time.monotonic() - began, machine.stolen(times, machine.processor_times())
    processor.append(machine.processor_seconds())
    found = figures.parse(output)
    if not reason and not found:
        reason = "it printed no figures"
    if reason:
        say(f"{section.name}: FAILED, {reason}")
        return earlier | {"not_run": f"it failed ({reason})"}
    say(f"{section.name}: {len(found)} figures in {took:.0f} s")
    result = {"mode": "quick" if quick else "full", "date": machine.today(), "commit": machine.commit(ROOT),
              "machine": machine.description(), "load": load, "stolen": stolen, "command": command,
              "processor": round(sum(processor) / 2, 4),
              "figures": {name: [figure.unit, *(int(sample) if sample == int(sample) else sample
                                                for sample in figure.samples)] for name, figure in found.items()}}
    if "figures" in earlier:
        result["compared"] = f"{earlier['commit']} of {earlier['date']}"
        result["moved"] = comparison.compare(found, page.figures_of(earlier), section.limit_of,
                                             earlier["processor"] / result["processor"])
    return result


def write(results, out):
    text = page.write((ROOT / machine.PAGE).read_text(), results, SECTIONS, load_profiles())
    (out or ROOT / machine.PAGE).write_text(text)
    if out is None:
        (ROOT / machine.RESULTS).write_text(to_text(results))
        for name, drawing in page.drawings(results, SECTIONS).items():
            (ROOT / machine.PAGE).with_name(name).write_text(drawing)


def main():
    given = arguments()
    chosen = [section for section in SECTIONS if not given.only or section.name in given.only]
    if given.list:
        for section in chosen:
            print(f"{section.name:<22}{obstacle(section) or section.arguments(given.quick)}")
        return 0
    results = load_results()
    if given.write:
        write(results, given.out)
        return 0
    try:
        os.nice(-15)  # other programs on the machine disturb less
    except OSError:
        pass
    build(chosen)
    for section in chosen:
        results[section.name] = measure(section, given.quick, results.get(section.name, {}))
        write(results, given.out)
    say("done")
    print(page.summary({section.name: results[section.name] for section in chosen}, chosen))
    return 1 if any("it failed" in results[section.name].get("not_run", "") for section in chosen) else 0


if __name__ == "__main__":
    sys.exit(main())

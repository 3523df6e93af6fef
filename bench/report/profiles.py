"""Records where the CPU time of benchmarks goes, keeps it in bench/report/profiles.json and writes docs/benchmarks.md."""

import pathlib
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

import folding
import machine
import main
from sections import BIN, DASHBOARD, ROOT, SECTIONS, program

SECONDS = 240  # the time limit of a profile
RECORD = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "-o"]


@dataclass
class Profile:
    section: str
    command: str  # a short form of the section's
    load: dict = field(default_factory=dict)  # which processes and threads are not what is measured (folding.fold)


GENERATOR = "load generator"
PROFILES = [
    Profile("agent_scale", f"{BIN}/agent_scale --seconds 8 --runs 1", {"agent_scale/agent_scale": "limit: bare loop"}),
    Profile("agent_scale_rdma", f"{BIN}/agent_scale --rdma --seconds 8 --runs 1",
            {"agent_scale/agent_scale": "limit: bare loop"}),
    Profile("controller_rows", f"{BIN}/controller_rows --rounds 20 --runs 1",
            {"controller_rows": "load generator, and limits"}),
    Profile("controller_rows_paced", f"{BIN}/controller_rows --rate 100000 --rounds 15 --runs 1",
            {"controller_rows": "load generator, and limits"}),
    Profile("soft_rc", f"{BIN}/soft_rc_bench --runs 3 --soft-only --only 'READ 64 KiB, MTU 1024'"),
    Profile("fleet_mesh", f"{BIN}/fleet --rows 2000 --window 20s --pushes 1 --windows 1 --restarts 0", {"fleet": GENERATOR}),
    Profile("fleet_steady", f"{BIN}/fleet_steady --seconds 60", {"fleet_steady": GENERATOR}),
    Profile("fleet_cluster", f"/usr/bin/python3 -B tests/integration/postgres.py {BIN}/fleet_cluster --rows 500 --windows 4 "
                             "--kills 0", {"fleet_cluster": GENERATOR, "fleet_agents": GENERATOR}),
    Profile("viewers", f"{DASHBOARD} bench/dashboard/viewers.mjs --viewers 200 --hosts 1000 --windows 5",
            {"node": "viewers of the benchmark"}),
]


def arguments():
    parser = main.parser_of_sections(
        "bench/profile.sh", "profile",
        "Runs benchmarks in a short form under perf, and writes into docs/benchmarks.md where their CPU time goes. It builds "
        "what it runs first. Progress goes to standard error.")
    return main.parse_sections(parser, (profile.section for profile in PROFILES))


def section_of(profile):
    return next(section for section in SECTIONS if section.name == profile.section)


def obstacle(profile):
    return program("perf")() or main.obstacle(section_of(profile))


def script(data):
    """What perf has recorded, as text."""
    with tempfile.TemporaryFile("w+") as text:
        subprocess.run(["perf", "script", "-i", data, *folding.FIELDS], stdout=text, stderr=subprocess.DEVNULL, check=True)
        text.seek(0)
        yield from (line.rstrip("\n") for line in text)


def take(profile):
    """The kept form of a profile, or the reason why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        data = str(pathlib.Path(folder) / "perf.data")
        _, reason = machine.run([*RECORD, data, "--", *shlex.split(profile.command)], ROOT, SECONDS)
        if reason:
            return None, reason
        lines = list(script(data))
    samples = sum(1 for line in lines if folding.SAMPLE.match(line))
    if not samples:
        return None, "perf has recorded nothing"
    return {"date": machine.today(), "commit": machine.commit(ROOT), "machine": machine.description(),
            "command": profile.command, "samples": samples, "rows": folding.fold(lines, profile.load)}, None


def profile_sections(chosen):
    """Takes the profiles and writes each down at once. Gives how many could not be taken."""
    failed = 0
    for profile in chosen:
        reason, made = obstacle(profile), None
        if not reason:
            main.say(f"{profile.section}: {profile.command}")
            made, reason = take(profile)
        if reason:
            main.say(f"{profile.section}: FAILED, {reason}")
            failed += 1
            continue
        kept = main.load_profiles() | {profile.section: made}
        (ROOT / machine.PROFILES).write_text(main.to_text(dict(sorted(kept.items()))))
        main.write(main.load_results(), None)
    main.say("done")
    return failed


def run():
    given = arguments()
    chosen = [profile for profile in PROFILES if not given.only or profile.section in given.only]
    if given.list:
        for profile in chosen:
            print(f"{profile.section:<22}{obstacle(profile) or profile.command}")
        return 0
    main.build([section_of(profile) for profile in chosen])
    return 1 if profile_sections(chosen) else 0


if __name__ == "__main__":
    sys.exit(run())

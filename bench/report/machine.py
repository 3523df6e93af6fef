"""What the report tells about the machine, and how it runs a program that may hang."""

import datetime
import os
import pathlib
import signal
import subprocess
import tempfile
import time

PAGE, RESULTS, PROFILES = "docs/benchmarks.md", "bench/report/results.json", "bench/report/profiles.json"


def commit(root):
    def git(*words):
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--", ".", f":!{PAGE}", f":!{RESULTS}", f":!{PROFILES}", ":!docs/*.svg")
    return git("rev-parse", "--short=10", "HEAD") + (" with changes" if changed else "")


def today():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")


def description():
    """Processors and kernel."""
    model = next((line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), os.uname().machine)
    return f"{os.cpu_count()} processors ({model}), Linux {os.uname().release}"


def load():
    return f"{os.getloadavg()[0]:.1f}"


def processor_times():
    """All processor time so far, and of it what the machine's host took away, in ticks."""
    fields = [int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return sum(fields[:8]), fields[7]


def stolen(before, after):
    everything = after[0] - before[0]
    return f"{100 * (after[1] - before[1]) / everything:.1f}" if everything else "0.0"


def processor_seconds():
    """CPU seconds of a fixed piece of work: the limit of sections that have none of their own."""
    best = None
    for _ in range(3):
        before = time.process_time()
        total = 0
        for i in range(1_000_000):
            total += i * i & 0xFF
        spent = time.process_time() - before
        best = spent if best is None else min(best, spent)
    return best


def end_group(child):
    """Ends a program and all that it started: first as Ctrl-C does, so that it can clean up."""
    for what, patience in ((signal.SIGINT, 10), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(child.pid, what)
            child.wait(patience)
            break
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    try:
        os.killpg(child.pid, signal.SIGKILL)  # what it left behind
    except ProcessLookupError:
        pass


def run(argv, root, seconds):
    """Runs a program in a process group of its own. Gives its output, and the reason if it failed or took too long."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        try:
            child = subprocess.Popen(argv, cwd=root, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                     start_new_session=True)
        except OSError as error:
            return "", f"{argv[0]} cannot be started: {error.strerror}"
        reason = None
        try:
            code = child.wait(seconds)
            if code:
                reason = f"it ended with code {code}" if code > 0 else f"it was killed by signal {-code}"
        except subprocess.TimeoutExpired:
            reason = f"it was ended after its time limit of {seconds} s"
        finally:
            end_group(child)
        out.seek(0)
        err.seek(0)
        complaint = err.read().strip().splitlines()
        if reason and complaint:
            reason += f": {complaint[-1]}"
        return out.read(), reason

"""Starts the programs under test and makes sure that none outlives the test."""

import ctypes
import os
import pathlib
import re
import signal
import subprocess
import time

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)
# What a sanitizer writes into a program's log: a thread's race ends nothing, and a leak shows at the end only.
REPORT = re.compile(r"Sanitizer: |: runtime error: ")


def binary(name):
    directory = os.environ.get("PINGLOOM_BIN")
    if not directory:
        raise RuntimeError("PINGLOOM_BIN must name the folder with the programs, e.g. build/release/bin")
    return str(pathlib.Path(directory, name))


def die_with_parent(and_then=None):
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if and_then:
        and_then()


class Process:
    """One program in a session of its own, with its log in a file."""

    def __init__(self, name, arguments, log_path, environment=None, inside=None):
        """`inside`: called in the new process before the program is executed."""
        self.name = name
        self.log_path = pathlib.Path(log_path)
        self._log = open(self.log_path, "ab")
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=self._log,
                                        stderr=subprocess.STDOUT, start_new_session=True,
                                        preexec_fn=lambda: die_with_parent(inside),
                                        env={**os.environ, **(environment or {})})

    @property
    def pid(self):
        return self.process.pid

    def running(self):
        return self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """SIGKILL to this process alone, as the kernel's OOM killer would."""
        self.process.kill()
        self.process.wait(10)

    def stop(self, seconds=20):
        """An orderly end. Returns the exit code."""
        self.process.terminate()
        return self.process.wait(seconds)

    def log(self):
        return self.log_path.read_text(errors="replace")

    def tail(self, lines=25):
        return "\n".join(self.log().splitlines()[-lines:])

    def discard(self):
        """Kills it with everything it has started itself."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if self.running():
            self.process.kill()
        self.process.wait(10)
        self._log.close()


def discard_all(processes):
    """Kills them all; then fails where a sanitizer has found something in one of them."""
    for process in processes:
        process.discard()
    for path in dict.fromkeys(process.log_path for process in processes):
        log = path.read_text(errors="replace")
        found = REPORT.search(log)
        if found:
            raise AssertionError(f"{path.name}:\n{log[max(0, found.start() - 200):][:6000]}")


def children(pid, name):
    """Pids of the processes called `name` that `pid` has started."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            text = (entry / "stat").read_text()
        except OSError:
            continue
        command = text[text.index("(") + 1:text.rindex(")")]
        parent = int(text[text.rindex(")") + 2:].split()[1])
        if parent == pid and command == name:
            found.append(int(entry.name))
    return found


def eventually(condition, seconds, what, interval=0.05):
    """What `condition` returns once it is true; fails with `what` when it is not in time.

    OSErrors of the condition count as "not yet": processes are starting and ending all the time. KeyErrors
    do, too: a metric or a row is missing until its part of the process has started.
    """
    deadline = time.monotonic() + seconds
    last = None
    while True:
        try:
            result = condition()
            if result:
                return result
            last = result
        except (OSError, EOFError, KeyError) as failure:
            last = failure
        if time.monotonic() > deadline:
            text = what() if callable(what) else what
            raise AssertionError(f"not within {seconds} s: {text} (last: {last!r})")
        time.sleep(interval)

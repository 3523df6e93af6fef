#!/usr/bin/env python3
"""scripts/lab.sh --shell gives a real terminal: size, Ctrl-C and exit code included."""

import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import sys
import termios
import time

LAB = pathlib.Path(__file__).resolve().parents[2] / "scripts/lab.sh"
PROMPT = rb"lab:\S*# "


def wait_for(terminal, pattern, seconds):
    """What came until the pattern matched."""
    text = b""
    deadline = time.monotonic() + seconds
    while not re.search(pattern, text):
        readable, _, _ = select.select([terminal], [], [], deadline - time.monotonic())
        if not readable:
            sys.exit(f"FAILED: no {pattern!r} within {seconds} s in {text!r}")
        text += os.read(terminal, 4096)
    return text


def main():
    child, terminal = pty.fork()
    if child == 0:
        os.execv(LAB, [str(LAB), "--hosts", "1", "--shell"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 111, 0, 0))
    wait_for(terminal, PROMPT, 120)
    os.write(terminal, b"tty; stty size\n")
    wait_for(terminal, rb"/dev/hvc0\s+33 111[^#]*" + PROMPT, 20)
    print("a terminal of 33 x 111", flush=True)
    os.write(terminal, b"echo waiting; sleep 1000\n")
    wait_for(terminal, rb"[\r\n]waiting", 20)
    time.sleep(0.5)  # the sleep has to be there
    os.write(terminal, b"\x03")
    wait_for(terminal, PROMPT, 20)
    print("Ctrl-C ended the command, not the guest", flush=True)
    os.write(terminal, b"exit 7\n")
    while True:
        try:
            if not os.read(terminal, 4096):
                break
        except OSError:  # the other end is closed
            break
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 7:
        sys.exit(f"FAILED: exit code {code} instead of 7")
    print("the shell's exit code came back")


if __name__ == "__main__":
    main()

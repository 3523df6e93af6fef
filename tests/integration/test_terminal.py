"""`pingloom top` on a terminal: keys, a resize, a mesh that goes away, and the terminal given back."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
import unittest

from mesh import Mesh
from processes import binary


class Terminal:
    """A program on a pseudo-terminal; what it wrote is in `output`."""

    def __init__(self, arguments, rows=24, columns=80):
        self.output = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(arguments[0], arguments)
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, text, seconds=15):
        """Reads on until `text` appears in what comes from now on."""
        deadline = time.monotonic() + seconds
        fresh = ""
        while text not in fresh:
            if time.monotonic() > deadline:
                raise AssertionError(f"{text!r} did not appear within {seconds} s; new: {fresh!r}")
            if select.select([self.fd], [], [], 0.1)[0]:
                more = os.read(self.fd, 65536).decode(errors="replace")
                fresh += more
                self.output += more
        return fresh

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def end(self, seconds=10):
        """The exit code."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.output += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = None
                return os.waitstatus_to_exitcode(status)
        raise AssertionError("it did not end")

    def discard(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


class Top(unittest.TestCase):
    def setUp(self):
        self.mesh = Mesh(self, hosts=3, interval="100ms", window="1s").start()
        self.mesh.wait_for_rows("udp", state="ok")
        self.terminal = Terminal([binary("pingloom"), "top", "--url", self.mesh.url])
        self.addCleanup(self.terminal.discard)
        self.terminal.read_until(self.mesh.addresses[2])

    def test_keys(self):
        terminal = self.terminal
        self.assertIn("network_p99", terminal.output)
        terminal.press("s")
        terminal.read_until("rtt")
        terminal.press("p")
        terminal.read_until("PAUSED")
        terminal.press("/" + self.mesh.addresses[1] + " ok\n")
        terminal.read_until("filter: ")
        terminal.press("\x1b[B\x1b[A")
        terminal.resize(12, 70)
        terminal.read_until("PROBE")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)
        self.assertIn("\x1b[?1049l", terminal.output, "the terminal is given back")

    def test_the_controller_goes_away(self):
        self.mesh.controller.kill()
        self.terminal.read_until("/api/v1/")  # the error names what it asked for
        self.mesh.start_controller()
        self.terminal.read_until("q quit")
        os.kill(self.terminal.pid, signal.SIGINT)
        self.assertEqual(self.terminal.end(), 0)
        self.assertIn("\x1b[?1049l", self.terminal.output)


if __name__ == "__main__":
    unittest.main()

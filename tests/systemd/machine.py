"""Makes hosts with a real systemd: systemd-nspawn on an overlay above a Debian that debootstrap made once.

Needs root, systemd-nspawn, debootstrap and overlayfs. The Debian is kept in the build folder. A machine has no way out but
the addresses that it is given; it ends with the test.
"""

import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("PINGLOOM_BUILD", "build/release"))
# A small server has these packages, and none of pingloom's dependencies.
INCLUDED = "systemd,systemd-sysv,dbus,iproute2,procps,ca-certificates"
# A running system changes these by itself.
VOLATILE = ("proc", "sys", "dev", "run", "tmp", "var/tmp", "var/log", "var/cache", "var/lib/systemd", "var/lib/dpkg", "var/lib/apt",
            "var/lib/dbus", "root", "etc/machine-id", "etc/.pwd.lock", "etc/ld.so.cache", "etc/mtab", "etc/resolv.conf", "etc/hostname")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def missing():
    """Says why no machine can be made here, or returns ""."""
    if os.geteuid() != 0:
        return "not root"
    for program in ("systemd-nspawn", "debootstrap"):
        if not shutil.which(program):
            return f"no {program}: scripts/install-packages.sh test"
    if not re.search(r"\boverlay$", pathlib.Path("/proc/filesystems").read_text(), re.MULTILINE):
        return "this kernel has no overlayfs"
    return ""


def base():
    """Makes the Debian that all machines share and none changes."""
    made = BUILD / "systemd" / "base"
    if not made.exists():
        part = made.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={INCLUDED}", "bookworm", part],
                       check=True, stdout=subprocess.DEVNULL)
        part.rename(made)
    return made.resolve()


_numbers = itertools.count()


def connect(*places):
    """Joins machines by a switch. Each place is a pair of a machine and the address, with its prefix length, that it gets there.
    The switch is a bridge in the first machine."""
    switch = places[0][0]
    switch.run("ip", "link", "add", "switch", "type", "bridge")
    switch.run("ip", "link", "set", "switch", "up")
    for number, (machine, address) in enumerate(places):
        port = f"port{number}"
        subprocess.run(["nsenter", "-t", switch.init(), "-n", "ip", "link", "add", port, "master", "switch", "up", "type", "veth",
                        "peer", "name", "cable", "netns", machine.init()], check=True)
        machine.run("ip", "address", "add", address, "dev", "cable")
        machine.run("ip", "link", "set", "cable", "up")


class Machine:
    def __init__(self, case, addresses):
        """`addresses` are IPv4 addresses with prefix lengths, which an interface of the machine gets."""
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pingloom-systemd-"))
        self.root = self.directory / "root"
        self._process = None
        self._name = f"pingloom-{os.getpid()}-{next(_numbers)}"
        case.addClassCleanup(self.end)
        for name in ("upper", "work", "root"):
            (self.directory / name).mkdir()
        options = f"lowerdir={base()},upperdir={self.directory}/upper,workdir={self.directory}/work"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, self.root], check=True)
        self._boot()
        if not addresses:
            return
        self.run("ip", "link", "add", "fabric0", "type", "veth", "peer", "name", "fabric1")
        for address in addresses:
            self.run("ip", "address", "add", address, "dev", "fabric0")
        for end in ("fabric0", "fabric1"):
            self.run("ip", "link", "set", end, "up")

    def _boot(self):
        with open(self.directory / "console", "wb") as console:
            self._process = subprocess.Popen(
                ["systemd-nspawn", "-q", "-D", self.root, "--register=no", "--keep-unit", "--boot", "--private-network",
                 "--console=pipe", f"--machine={self._name}"],
                stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT, start_new_session=True)
        deadline = time.monotonic() + 60
        while self.init() is None or self.run("systemctl", "is-system-running", check=False).stdout.strip() != "running":
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise AssertionError("the machine does not boot: " + (self.directory / "console").read_text()[-2000:])
            time.sleep(0.2)

    def init(self):
        """Returns the pid of the machine's first process, as this host sees it."""
        pid = self._process.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return children[0] if children else None

    def run(self, *command, check=True, timeout=120):
        """Runs a command in the machine. Its output is text."""
        done = subprocess.run(["nsenter", "-t", self.init(), "-a", "--", "env", "-i", f"PATH={PATH}", "HOME=/root", "LANG=C.UTF-8", *command],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=timeout, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
        return done

    def property(self, unit, name):
        return self.run("systemctl", "show", "-p", name, "--value", unit).stdout.strip()

    def files(self):
        """Returns every path that is not volatile."""
        found = set()
        for folder, folders, files in os.walk(self.root):
            inside = os.path.relpath(folder, self.root)
            folders[:] = [name for name in folders if os.path.normpath(os.path.join(inside, name)) not in VOLATILE]
            found.update(os.path.normpath(os.path.join(inside, name)) for name in folders + files)
        return found - set(VOLATILE)

    def state(self):
        """Returns what an installation may leave behind: files, users, groups, units, packages."""
        units = self.run("systemctl", "list-unit-files", "--no-legend", "--no-pager").stdout
        return {
            "files": self.files(),
            "users": set((self.root / "etc/passwd").read_text().splitlines()),
            "groups": set((self.root / "etc/group").read_text().splitlines()),
            "units": {line.split()[0] for line in units.splitlines() if line},
            "running": set(self.run("systemctl", "list-units", "--no-legend", "--plain", "--type=service", "pingloom*", "redis*").stdout.splitlines()),
            "packages": set(self.run("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n").stdout.splitlines()),
        }

    def journal(self, unit, lines=40):
        return self.run("journalctl", "-u", unit, "-n", str(lines), "--no-pager", "-o", "cat").stdout

    def end(self):
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)  # an orderly shutdown
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(20)
        subprocess.run(["umount", self.root], check=False)
        shutil.rmtree(self.directory, ignore_errors=True)

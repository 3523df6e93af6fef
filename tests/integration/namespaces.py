"""Namespaces for one test process: what it mounts, drops or counts concerns nobody else."""

import ctypes
import os
import subprocess
import unittest

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
MNT_DETACH = 2
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
LIBC = ctypes.CDLL(None, use_errno=True)

_in_user_namespace = False


def _call(result):
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def _become_root_of_a_user_namespace():
    global _in_user_namespace
    user, group = os.getuid(), os.getgid()
    _call(LIBC.unshare(CLONE_NEWUSER))
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    _in_user_namespace = True


def unshare(flags):
    """Moves this process, and all it starts from now on, into namespaces of its own."""
    if os.geteuid() != 0 and not _in_user_namespace:
        _become_root_of_a_user_namespace()
    _call(LIBC.unshare(flags))


class or_skip:
    """Skips the test, with the reason, where the kernel does not permit what is within, or a
    command is missing."""

    def __enter__(self):
        return self

    def __exit__(self, kind, failure, _):
        if isinstance(failure, FileNotFoundError):
            raise unittest.SkipTest(f"{failure.filename} is not installed") from failure
        if isinstance(failure, OSError):
            raise unittest.SkipTest(f"not permitted here: {failure}") from failure
        if isinstance(failure, subprocess.CalledProcessError):
            raise unittest.SkipTest(f"{failure.cmd[0]} is not permitted here: "
                                    f"{failure.stderr.decode(errors='replace').strip()}") from failure


def mount_small_disk(case, path, size):
    """An empty file system of `size` bytes at `path`, in memory, that this process and what it
    starts from now on see, until the test ends."""
    with or_skip():
        unshare(CLONE_NEWNS)
        _call(LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
        path.mkdir()
        _call(LIBC.mount(b"tmpfs", str(path).encode(), b"tmpfs", 0, f"size={size}".encode()))
        case.addCleanup(LIBC.umount2, str(path).encode(), MNT_DETACH)


def bind(path, place):
    """Shows `path` at `place` to the calling process alone, and to what it starts from now on."""
    unshare(CLONE_NEWNS)
    _call(LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    _call(LIBC.mount(str(path).encode(), str(place).encode(), None, MS_BIND, None))


def try_mounts():
    """Raises OSError where this process may not mount."""
    child = os.fork()
    if child == 0:
        try:
            bind("/sys/class", "/sys/class")
        except OSError as failure:
            os._exit(failure.errno)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    error = os.waitstatus_to_exitcode(status)
    if error != 0:
        raise OSError(error, os.strerror(error))


def fill(path):
    """A file at `path` that takes all the room there is."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass


def enter(descriptor):
    """Moves the calling thread into the network namespace that `descriptor` is open on."""
    _call(LIBC.setns(descriptor, CLONE_NEWNET))

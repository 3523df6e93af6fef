"""The faults, by kind, each a function that inflicts it on a World and takes it back.

A fault calls world.lifted() when it has ended; the recovery counts from there, or from its return."""

import collections
import importlib

Fault = collections.namedtuple("Fault", "name meaning data seen needs inflict undo apart goal")
# What a fault with a mesh of its own tells of it; the others are watched. Rows, seconds, bytes by kind of process.
Outcome = collections.namedtuple("Outcome", "rows lost twice connected shown peaks failure",
                                 defaults=(0, 0, 0, 0.0, 0.0, {}, ""))
KINDS = ("processes", "network", "disk", "redis", "clock", "files", "pages", "fleet", "cluster")
ALL = {}


def fault(meaning, data, seen, needs=(), undo=None, apart=False, goal=5.0):
    """`meaning`: what happens. `data`: what becomes of results. `seen`: what the operator sees.
    `needs`: "fabric", "disks", "several" (controllers), or files of the build. `undo`: called when all is counted.
    `goal`: seconds that the recovery may take.
    What it returns: rows that it has destroyed itself, which are lost then and no others; `apart`: an Outcome."""

    def register(function):
        name = function.__name__
        ALL[name] = Fault(name, meaning, data, seen, needs, function, undo, apart, goal)
        return function

    return register


def load():
    for kind in KINDS:
        importlib.import_module(f"faults.{kind}")
    return ALL

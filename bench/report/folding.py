"""Folds what `perf script` prints into rows: each process and thread, its share of the CPU time, and what it runs."""

import re
from collections import Counter
from dataclasses import dataclass, field

# The arguments of `perf script` whose output is read here.
FIELDS = ["--show-task-events", "-F", "comm,pid,tid,period,ip,sym,dso"]
SAMPLE = re.compile(r"^\s*(?P<thread>\S.*?)\s+(?P<pid>\d+)/\d+\s+(?P<period>\d+)\s+[0-9a-f]+ (?P<symbol>.*) \((?P<object>.*)\)$")
PROGRAM = re.compile(r"PERF_RECORD_COMM exec: (?P<name>.*):(?P<pid>\d+)/\d+$")
FORK = re.compile(r"PERF_RECORD_FORK\((?P<child>\d+):\d+\):\((?P<parent>\d+):\d+\)$")

PROGRAMS = "build/release/bin/"
LONG_NAMES = ("pingloom-controller", "pingloom-collector", "pingloom-translator")  # the kernel cuts them to 15 letters
KERNEL, ALLOCATION, OWN, TEMPLATES = "the kernel", "memory allocation", "own functions", "templates of std and Boost"
ALLOCATING = re.compile(r"(__libc_|__GI___libc_|_int_)?(malloc|free|calloc|realloc|memalign|cfree)\b|unlink_chunk|tcache_"
                        r"|malloc_consolidate|sysmalloc|_int_free_|operator (new|delete)")
LIBRARIES = {"libc.so": "libc", "libm.so": "libm", "libstdc++.so": "libstdc++", "libjemalloc.so": ALLOCATION,
             "libprotobuf": "protobuf", "libzstd.so": "zstd", "libzmq.so": "ZeroMQ", "libhiredis.so": "hiredis",
             "libsqlite3.so": "SQLite", "libpq.so": "libpq", "libz.so": "zlib", "libisal.so": "ISA-L",
             "libcrypto.so": "OpenSSL", "libssl.so": "OpenSSL", "libyaml-cpp.so": "yaml-cpp", "ld-linux": "the loader",
             "redis-": "redis-server's functions", "[vdso]": "reading the clock"}

LEAST_PROCESS, LEAST_THREAD = 1, 2  # in percent of all CPU time; what has less is joined with others
LEAST_SPENT, LEAST_FUNCTION = 2, 1  # in percent of a row's CPU time
MOST_FUNCTIONS = 5


@dataclass
class Spent:
    """The CPU time of a thread, by what was run and by the program's own function."""

    what: Counter = field(default_factory=Counter)
    own: Counter = field(default_factory=Counter)

    @property
    def total(self):
        return self.what.total()

    def add(self, symbol, path, period):
        what = kind(symbol, path)
        self.what[what] += period
        if what == OWN:
            self.own[short(symbol)] += period

    def __add__(self, other):
        return Spent(self.what + other.what, self.own + other.own)


def kind(symbol, path):
    """What a sample is counted as, by its symbol and by the file or other object that the symbol lies in."""
    name = path.rpartition("/")[2]
    if ALLOCATING.match(symbol) and PROGRAMS not in path and path.startswith("/"):
        return ALLOCATION
    if PROGRAMS in path:
        return TEMPLATES if symbol.startswith(("std::", "boost::", "void std::", "void boost::", "__gnu_cxx::")) else OWN
    for prefix, known in LIBRARIES.items():
        if name.startswith(prefix):
            return known
    if name.startswith("[") and name != "[unknown]" or name.endswith(".ko"):
        return KERNEL
    return name.partition(".so")[0] if path.startswith("/") else "code without a name"


def short(symbol):
    """A function's name without namespaces, parameters of templates and the suffixes of the compiler."""
    name = symbol.replace("(anonymous namespace)", "anonymous")
    name = re.sub(r"\{lambda.*?#(\d+)\}(?:::operator\(\))?", "lambda", name)
    for brackets in (r"<[^<>]*>", r"\([^()]*\)"):
        while (less := re.sub(brackets, "", name)) != name:
            name = less
    name = re.sub(r" ?\[clone.*|\.(isra|part|constprop|cold|lto_priv)\b.*| const\b", "", name).split(" ")[-1]
    parts = name.split("::")
    while len(parts) > 1 and re.fullmatch(r"[a-z0-9_]*", parts[0]):
        parts.pop(0)
    return "::".join(parts)


def whole_name(name):
    return next((each for each in LONG_NAMES if len(name) == 15 and each.startswith(name)), name)


def threads(lines):
    """The CPU time by the name of the process and by that of the thread."""
    programs, found = {}, {}
    for line in lines:
        if match := SAMPLE.match(line):
            thread = whole_name(match["thread"])
            process = programs.get(match["pid"], thread)
            spent = found.setdefault((process, thread), Spent())
            spent.add(match["symbol"].partition("+0x")[0], match["object"], int(match["period"]))
        elif match := PROGRAM.search(line):
            programs[match["pid"]] = whole_name(match["name"])
        elif (match := FORK.search(line)) and match["child"] != match["parent"] and match["parent"] in programs:
            programs[match["child"]] = programs[match["parent"]]
    return found


def fold(lines, own_load):
    """The rows of a profile. `own_load` tells what a process, or a thread ("PROCESS/THREAD"), is to the benchmark if it is
    not what is measured: rows of these come last."""
    found = threads(lines)
    everything = sum(spent.total for spent in found.values()) or 1
    measured, load = {}, {}
    for (process, thread), spent in found.items():
        label = own_load.get(f"{process}/{thread}", own_load.get(process))
        if label:
            load[label] = load.get(label, Spent()) + spent
        else:
            measured.setdefault(process, {})[thread] = spent
    rows, others = [], Spent()
    for process, of in sorted(measured.items(), key=lambda item: -sum(spent.total for spent in item[1].values())):
        together = sum(of.values(), Spent())
        if 100 * together.total < LEAST_PROCESS * everything:
            others += together
        else:
            rows += process_rows(process, of, together, everything)
    rows += [row(label, "", spent, everything) for label, spent in load.items()]
    if 200 * others.total >= LEAST_PROCESS * everything:
        rows.append(row("other processes", "", others, everything))
    return rows


def process_rows(process, of, together, everything):
    """A row of the process, and one of each thread that matters if several do."""
    rows = [row(process, "", together, everything)]
    shown = {thread: spent for thread, spent in of.items() if 100 * spent.total >= LEAST_THREAD * everything}
    if len(shown) > 1:
        for thread, spent in sorted(shown.items(), key=lambda item: -item[1].total):
            rows.append(row(process, thread, spent, everything))
    return rows


def row(process, thread, spent, everything):
    def shares(counted, least, most):
        biggest = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        return [[name, percent(time, spent.total)] for name, time in biggest if 100 * time >= least * spent.total][:most]

    return {"process": process, "thread": thread, "share": percent(spent.total, everything),
            "spent": shares(spent.what, LEAST_SPENT, None), "own": shares(spent.own, LEAST_FUNCTION, MOST_FUNCTIONS)}


def percent(part, whole):
    return round(100 * part / whole, 1)

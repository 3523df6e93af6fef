"""What agents made against what the controller's history holds, row by row.

Made is what the tap saw agents send, and what lay in the spool of an agent when it was killed. Held is
what the history has, read from its file or database. Both are read by code that shares nothing with the product's."""

import collections
import ipaddress
import pathlib
import sqlite3
import struct
import subprocess

import batches
import history

Audit = collections.namedtuple("Audit", "rows lost twice altered unknown")
Audit.faults = property(lambda self: self.lost + self.twice + self.altered + self.unknown)


def block(identity, probe, source, path, incarnation, index, sequence, content):
    """(id, Key, sequence, rows) of a line of the table `blocks`."""
    rows = {destination: tuple(row[name] for name in batches.COUNTS) for destination, row in history.rows_of(content).items()}
    return identity, batches.Key(probe, str(ipaddress.ip_address(source)), path, incarnation, index), sequence, rows


class SqliteBlocks:
    """The windows of a history in a file."""

    def __init__(self, path):
        self._path = path
        self._last = 0

    def more(self):
        """The blocks that have come since the call before."""
        connection = sqlite3.connect(f"file:{self._path}?mode=ro", uri=True, timeout=10)
        try:
            found = [block(*line) for line in connection.execute(
                "SELECT id, probe, source, path, incarnation, start_ns / window_ns, sequence, content FROM blocks"
                " WHERE minute = 0 AND id > ? ORDER BY id", (self._last,))]
        except sqlite3.OperationalError as failure:
            raise OSError(str(failure)) from failure
        finally:
            connection.close()
        self._last = found[-1][0] if found else self._last
        return found


class PostgresBlocks:
    """The windows of a history in PostgreSQL."""

    # Transactions of several controllers do not end in the order of their ids.
    LATE = 1000

    def __init__(self, server):
        """`server()`: the primary as it is now (postgres.py)."""
        self._server = server
        self._seen = set()

    def more(self):
        """The blocks that have come since the call before."""
        after = max(self._seen, default=0) - self.LATE
        try:
            lines = self._server().sql(
                "SELECT id, probe, encode(source, 'hex'), path, incarnation, start_ns / window_ns, sequence,"
                f" encode(content, 'hex') FROM blocks WHERE minute = 0 AND id > {after} ORDER BY id", "pingloom")
        except subprocess.CalledProcessError as failure:
            raise OSError(failure.stderr) from failure
        found = [self._parsed(line) for line in lines if int(line.partition("|")[0]) not in self._seen]
        self._seen.update(each[0] for each in found)
        return found

    @staticmethod
    def _parsed(line):
        identity, probe, source, path, incarnation, index, sequence, content = line.split("|")
        return block(int(identity), probe, bytes.fromhex(source), int(path), int(incarnation), int(index), int(sequence),
                     bytes.fromhex(content))


class Accounts:
    """`tap`: the file of what was sent. `ledger`: SqliteBlocks or PostgresBlocks. Memory: one set entry for each window
    ever held."""

    def __init__(self, tap, ledger):
        self._tap = pathlib.Path(tap)
        self._ledger = ledger
        self._read = 0        # bytes of the tap's file
        self._waiting = {}    # (Key, sequence): rows; made and not yet held
        self._held = set()    # hashes of Key: of all that is held
        self._names = collections.defaultdict(set)  # by incarnation, which is its start in nanoseconds: sequences made
        self.sent = collections.Counter()           # pings in held rows, by (source, incarnation)
        self._counts = collections.Counter()        # since the last audit
        self.overdue = set()  # names of windows

    def make(self, batch):
        self._names[batch.incarnation].add(batch.sequence)
        for key, rows in batch.windows.items():
            if hash(key) not in self._held:
                self._waiting.setdefault((key, batch.sequence), rows)

    def read_tap(self):
        with open(self._tap, "rb") as file:
            file.seek(self._read)
            data = file.read()
        at = 0
        while at + 4 <= len(data):
            length = struct.unpack_from("!I", data, at)[0]
            if at + 4 + length > len(data):
                break
            self.make(batches.parse_batch(data[at + 4:at + 4 + length]))
            at += 4 + length
        self._read += at

    def read_ledger(self):
        found = self._ledger.more()
        self.read_tap()  # what was held by then was sent before it
        for _, key, sequence, rows in found:
            self._hold(key, sequence, rows)

    def _hold(self, key, sequence, rows):
        counts = self._counts
        counts["rows"] += len(rows)
        if key.path == 0:
            self.sent[key.source, key.incarnation] += sum(row[0] for row in rows.values())
        if hash(key) in self._held:
            counts["twice"] += len(rows)
            return
        self._held.add(hash(key))
        made = self._waiting.pop((key, sequence), None)
        if made is None:
            counts["unknown"] += len(rows)
            return
        counts["lost"] += len(made.keys() - rows.keys())
        counts["unknown"] += len(rows.keys() - made.keys())
        counts["altered"] += sum(made[to] != rows[to] for to in made.keys() & rows.keys())

    def settled(self, destroyed=0):
        """True when all that was made before this call is held, but for so many rows: those are `overdue` then."""
        self.read_tap()
        made = set(self._waiting)
        self.read_ledger()
        self.overdue = made & self._waiting.keys()
        return sum(len(self._waiting[name]) for name in self.overdue) <= destroyed

    def gaps(self):
        """Batches between the first and the last of a start of an agent that nobody has seen."""
        return sum(max(sequences) - len(sequences) for sequences in self._names.values())

    def audit(self, lost=()):
        """What was found since the audit before. Call when settled() or given up; `lost`: what is
        still waiting then, as waiting_now() named it."""
        for name in lost:
            rows = self._waiting.pop(name, None)
            self._counts["lost"] += len(rows or ())
        counts, self._counts = self._counts, collections.Counter()
        return Audit(*(counts[name] for name in Audit._fields))

    def waiting_now(self):
        return set(self._waiting)

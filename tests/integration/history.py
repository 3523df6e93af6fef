"""The controller's history (the tables are described in src/controller/history/ledger_schema.h), read as it
lies on disk: what was committed, exactly once or not."""

import collections
import ctypes
import ctypes.util
import ipaddress
import itertools
import sqlite3

ZSTD = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
ZSTD.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_isError.argtypes = [ctypes.c_size_t]

# The first columns of a block's counts (docs/history-format.md).
COUNTS = ("sent", "received", "lost", "refused", "unreachable")
SAME, BYTES, DIFFERENCES, NUMBERS = range(4)

Window = collections.namedtuple("Window", "index incarnation sequence start_ns window_ns rows")


def decompress(data):
    size = ZSTD.ZSTD_getFrameContentSize(data, len(data))
    buffer = ctypes.create_string_buffer(max(size, 1))
    written = ZSTD.ZSTD_decompress(buffer, size, data, len(data))
    if ZSTD.ZSTD_isError(written):
        raise ValueError("not a zstd frame")
    return buffer.raw[:written]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def column(data, at, size):
    """`size` numbers of a column, and where the next one begins."""
    if size == 0:
        return [], at
    kind, at = varint(data, at)
    if kind == NUMBERS:
        numbers = []
        for _ in range(size):
            number, at = varint(data, at)
            numbers.append(number)
        return numbers, at
    base, at = varint(data, at)
    if kind == SAME:
        return [base] * size, at
    each = data[at:at + size]
    if kind == BYTES:
        return [base + byte for byte in each], at + size
    numbers = []
    for byte in each:
        base += -(byte + 1 >> 1) if byte & 1 else byte >> 1
        numbers.append(base)
    return numbers, at + size


def sums(data, at):
    """Numbers kept as their differences."""
    size, at = varint(data, at)
    if size == 0:
        return [], at
    first, at = varint(data, at)
    more, at = column(data, at, size - 1)
    return list(itertools.accumulate([first, *more])), at


def destinations_of(head):
    at = 0
    for _ in range(3):  # protocol, clock, minute
        _, at = varint(head, at)
    length, at = varint(head, at)
    v4, at = sums(head, at + length)
    high, at = sums(head, at)
    low, at = sums(head, at)
    mask = (1 << 64) - 1
    return [str(ipaddress.IPv4Address(address)) for address in v4] + [
        str(ipaddress.IPv6Address((h & mask) << 64 | l & mask)) for h, l in zip(high, low)]


def rows_of(content):
    """{destination: {"sent": ..., "received": ...}}, of all blocks"""
    rows = {}
    while content:
        block, content = block_of(content)
        rows |= block
    return rows


def block_of(block):
    """The rows of the first block, and the bytes after it."""
    if block[0] != 1:
        raise ValueError(f"a block of version {block[0]}")
    sizes, at = [], 1
    for _ in range(6):
        size, at = varint(block, at)
        sizes.append(size)
    destinations = destinations_of(decompress(block[at:at + sizes[0]]))
    counts = decompress(block[at + sizes[0]:at + sizes[0] + sizes[1]])
    rows = {destination: {} for destination in destinations}
    _, at = varint(counts, 0)  # how jitter is kept
    for name in COUNTS:
        numbers, at = column(counts, at, len(destinations))
        for destination, number in zip(destinations, numbers):
            rows[destination][name] = number
    return rows, block[at + sum(sizes):]


def windows(mesh, probe, source):
    """What the ledger has of a source: from the mesh's database if it has one (postgres.py), else from its file."""
    if getattr(mesh, "postgres", None) is not None:
        found = mesh.postgres.sql(
            "SELECT start_ns / window_ns, incarnation, sequence, start_ns, window_ns, encode(content, 'hex') FROM blocks "
            f"WHERE minute = 0 AND probe = '{probe}' AND source = '\\x{ipaddress.ip_address(source).packed.hex()}' "
            "ORDER BY id", "pingloom")
        rows = [line.split("|") for line in found]
        return [Window(*map(int, row[:5]), rows_of(bytes.fromhex(row[5]))) for row in rows]
    path = mesh.directory / "controller" / "history.sqlite"
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    try:
        found = connection.execute(
            "SELECT start_ns / window_ns, incarnation, sequence, start_ns, window_ns, content FROM blocks"
            " WHERE minute = 0 AND probe = ? AND source = ? ORDER BY id", (probe, ipaddress.ip_address(source).packed))
        return [Window(*row[:5], rows_of(row[5])) for row in found]
    except sqlite3.OperationalError as failure:
        raise OSError(str(failure)) from failure
    finally:
        connection.close()


def incarnations(mesh, probe, source):
    return sorted({window.incarnation for window in windows(mesh, probe, source)})


def assert_contiguous(case, mesh, probe, source, per_window=None):
    """No window of this source is missing between the first and the last of each incarnation, and
    none was counted twice. `per_window`: pings a pair can have in a window."""
    by_incarnation = collections.defaultdict(list)
    for window in windows(mesh, probe, source):
        by_incarnation[window.incarnation].append(window)
    case.assertTrue(by_incarnation, f"no history of {probe} {source}")
    for incarnation, found in by_incarnation.items():
        where = f"{probe} {source} incarnation {incarnation}"
        indexes = sorted({window.index for window in found})
        case.assertEqual(indexes, list(range(indexes[0], indexes[-1] + 1)), f"{where}: a gap")
        counted = collections.Counter((window.index, destination)
                                      for window in found for destination in window.rows)
        twice = [key for key, times in counted.items() if times > 1]
        case.assertEqual(twice, [], f"{where}: counted twice")
        sequences = [window.sequence for window in found]
        case.assertEqual(sequences, sorted(sequences), f"{where}: out of order")
        for window in found:
            case.assertEqual(window.start_ns, window.index * window.window_ns, where)
            for row in window.rows.values():
                case.assertEqual(row["sent"], row["received"] + row["lost"] + row["refused"]
                                 + row["unreachable"], where)
                if per_window:
                    case.assertLessEqual(row["sent"], per_window + 1, where)
        if per_window:
            # All but the first and last of a run are whole. Where the machine is too busy pings are
            # skipped, not sent late, so a part of them may be missing.
            inner = [row["sent"] for window in found
                     if indexes[0] < window.index < indexes[-1] for row in window.rows.values()]
            if inner:
                case.assertGreater(sum(inner), 0.5 * per_window * len(inner), where)

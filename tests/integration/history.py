"""The controller's history (the tables are described in src/controller/ledger_schema.h), read as it
lies on disk: what was committed, exactly once or not."""

import collections
import ctypes
import ctypes.util
import ipaddress
import sqlite3

ZSTD = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
ZSTD.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_isError.argtypes = [ctypes.c_size_t]

# Fields of wire.Row and wire.Report (control.proto).
ROW_COUNTS = {2: "sent", 3: "received", 4: "lost", 5: "refused", 6: "unreachable"}
REPORT_ROWS = 8

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


def fields(data):
    """(number, value) of a protobuf message; a value is an int or the bytes of a nested one."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"unexpected wire type {key & 7}")
        yield key >> 3, value


def rows_of(report):
    """{destination: {"sent": ..., "received": ...}}"""
    rows = {}
    for number, value in fields(report):
        if number != REPORT_ROWS:
            continue
        row = dict.fromkeys(ROW_COUNTS.values(), 0)
        destination = None
        for field, content in fields(value):
            if field == 1:
                destination = str(ipaddress.ip_address(content))
            elif field in ROW_COUNTS:
                row[ROW_COUNTS[field]] = content
        rows[destination] = row
    return rows


def windows(mesh, probe, source):
    path = mesh.directory / "controller" / "history.sqlite"
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    try:
        found = connection.execute(
            "SELECT window_index, incarnation, sequence, start_ns, window_ns, report FROM windows"
            " WHERE probe = ? AND source = ? ORDER BY id", (probe, ipaddress.ip_address(source).packed))
        return [Window(*row[:5], rows_of(decompress(row[5]))) for row in found]
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

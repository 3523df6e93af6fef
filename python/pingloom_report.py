"""Reports of telemetry from Python applications, which a translator writes into a collector's memory by RDMA.

    import pingloom_report
    reporter = pingloom_report.Reporter("10.0.0.9")
    reporter.key_write(1, b"queue-7", b"...")
    reporter.increment(3, b"link-4")

The module needs only libpingloom-report, at the path in PINGLOOM_REPORT_LIBRARY or where the system looks. All threads
may report. Reports leave in datagrams of many, after 10 ms at the latest; flush() sends them at once. No call blocks.
"""

import ctypes
import ctypes.util
import os

__all__ = ["Reporter", "Status"]


class _Options(ctypes.Structure):
    _fields_ = [("translator", ctypes.c_char_p), ("reporter", ctypes.c_uint32), ("datagram", ctypes.c_size_t),
                ("forget", ctypes.c_int), ("key_file", ctypes.c_char_p)]


class Status(ctypes.Structure):
    """What became of the reports; the fields are those of pingloom_reporter_status in pingloom/report.h."""
    _fields_ = [("taken", ctypes.c_uint64), ("sent", ctypes.c_uint64), ("skipped", ctypes.c_uint64),
                ("datagrams", ctypes.c_uint64), ("repeated", ctypes.c_uint64), ("last_error", ctypes.c_int)]


def _load():
    path = os.environ.get("PINGLOOM_REPORT_LIBRARY")
    if not path:
        path = ctypes.util.find_library("pingloom-report") or "libpingloom-report.so.0"
    slow = ctypes.CDLL(path)  # calls release the interpreter's lock
    fast = ctypes.PyDLL(path)  # calls keep the lock, which is faster: they never wait
    pointer, size, table = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint16
    text = ctypes.c_char_p
    for function, arguments, result in (
            (slow.pingloom_reporter_open, [pointer, pointer], ctypes.c_int),
            (slow.pingloom_reporter_close, [pointer], None),
            (slow.pingloom_reporter_flush, [pointer], None),
            (slow.pingloom_reporter_get_status, [pointer, pointer], None),
            (fast.pingloom_report_key_write, [pointer, table, text, size, text, size], ctypes.c_int),
            (fast.pingloom_report_append, [pointer, table, ctypes.c_uint32, text, size], ctypes.c_int),
            (fast.pingloom_report_increment, [pointer, table, text, size, ctypes.c_uint64], ctypes.c_int),
            (fast.pingloom_report_postcard, [pointer, table, text, size, ctypes.c_uint8, ctypes.c_uint8, text, size],
             ctypes.c_int)):
        function.argtypes, function.restype = arguments, result
    return slow, fast


_slow, _fast = _load()


def _taken(error):
    if error:
        raise ValueError(os.strerror(error))


def _number(value, bits, name):
    """ctypes would cut a number that is too large, and report for another table or key."""
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{name} is {value}, which is not in 0 to {(1 << bits) - 1}")
    return value


class Reporter:
    """`translator` is ADDRESS or ADDRESS:PORT and defaults to $PINGLOOM_TRANSLATOR or 127.0.0.1. `datagram` is the
    largest size of one in bytes. With `forget` lost datagrams are not sent again, and none waits for a slow translator,
    which saves 1 MiB of memory. `key_file` is the path of the key that the translator has for this reporter; it seals
    the datagrams. Keys and values are bytes. A report whose lengths or numbers are out of bounds raises ValueError;
    with a wrong length it counts as skipped."""

    def __init__(self, translator=None, reporter=0, datagram=0, forget=False, key_file=None):
        self._reporter = None
        options = _Options(translator.encode() if translator is not None else None, _number(reporter, 32, "reporter"), datagram, forget,
                           os.fsencode(key_file) if key_file is not None else None)
        made = ctypes.c_void_p()
        error = _slow.pingloom_reporter_open(ctypes.byref(options), ctypes.byref(made))
        if error:
            raise OSError(error, os.strerror(error))
        self._reporter = made

    def key_write(self, table, key, value):
        """Stores the latest value of a key."""
        _taken(_fast.pingloom_report_key_write(self._reporter, _number(table, 16, "table"), key, len(key), value,
                                               len(value)))

    def append(self, table, entry, list=0):
        """Appends an entry to a list of the table."""
        _taken(_fast.pingloom_report_append(self._reporter, _number(table, 16, "table"), _number(list, 32, "list"), entry,
                                            len(entry)))

    def increment(self, table, key, amount=1):
        """Adds to the count of a key, at most 2**48 - 1."""
        _taken(_fast.pingloom_report_increment(self._reporter, _number(table, 16, "table"), key, len(key),
                                               _number(amount, 48, "amount")))

    def postcard(self, table, key, hop, hops, value):
        """Reports one hop of the path of a key. `hop` counts from 0; `hops` is 0 if it is not known."""
        _taken(_fast.pingloom_report_postcard(self._reporter, _number(table, 16, "table"), key, len(key),
                                              _number(hop, 8, "hop"), _number(hops, 8, "hops"), value, len(value)))

    def flush(self):
        """Sends what has been reported so far."""
        _slow.pingloom_reporter_flush(self._reporter)

    @property
    def status(self):
        status = Status()
        _slow.pingloom_reporter_get_status(self._reporter, ctypes.byref(status))
        return status

    def close(self):
        reporter, self._reporter = self._reporter, None
        _slow.pingloom_reporter_close(reporter)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

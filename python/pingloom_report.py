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
import errno
import os
import re
import stat

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


# The limits of pingloom/report.h, which the library checks. They are repeated here for what errors say.
_MAX_KEY = 40
_MAX_VALUE = 255
_DATAGRAM = (344, 8900)  # a report with the longest key and value has to fit
_FORBIDDEN_MODE = 0o037  # of a key file


def _check_length(name, data, least, most):
    if not least <= len(data) <= most:
        raise ValueError(f"{name} has {len(data)} bytes, which is not in {least} to {most}")


def _refused(error, key, name, value, hop=0, hops=0):
    """Raises why a report was not taken. The library says only that something is out of bounds."""
    if error == errno.EBADF:
        raise ValueError("the reporter is closed")
    if error == errno.EINVAL:
        if key is not None:
            _check_length("key", key, 1, _MAX_KEY)
        _check_length(name, value, 1, _MAX_VALUE)
        if hops != 0 and hop >= hops:
            raise ValueError(f"hop is {hop}, which is not in 0 to {hops - 1}, because hops is {hops}")
    raise ValueError(os.strerror(error))


def _check_key_file(path):
    """Raises OSError if the file is not the file of a key. The library has the same rules."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EPERM, "key_file is not a regular file", path)
        if found.st_mode & _FORBIDDEN_MODE:
            raise OSError(errno.EPERM, f"key_file has the mode {stat.S_IMODE(found.st_mode):04o}, but must be closed to other users: "
                                       "0600 or 0640", path)
        if not re.fullmatch(rb"[0-9a-fA-F]{32}[\n\r ]*", os.read(file, 64)):
            raise OSError(errno.EINVAL, "key_file has no key, which is 32 hexadecimal digits", path)
    finally:
        os.close(file)


def _not_opened(error, translator, datagram, key_file):
    """Raises why a reporter could not be opened."""
    if error == errno.EINVAL and datagram != 0 and not _DATAGRAM[0] <= datagram <= _DATAGRAM[1]:
        raise OSError(error, f"datagram is {datagram}, which is not in {_DATAGRAM[0]} to {_DATAGRAM[1]}")
    if key_file is not None:
        _check_key_file(key_file)
    name = "translator"
    if translator is None:
        name, translator = "$PINGLOOM_TRANSLATOR", os.environ.get("PINGLOOM_TRANSLATOR") or "127.0.0.1"
    if error == errno.EINVAL:
        raise OSError(error, f"{name} is {translator!r}, which is not ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT")
    raise OSError(error, f"{os.strerror(error)}, for {name} {translator!r}")


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
    with a wrong length it counts as skipped. Options that are not valid, and a key file that cannot be used, raise
    OSError. Both say which argument it is, and what is allowed."""

    def __init__(self, translator=None, reporter=0, datagram=0, forget=False, key_file=None):
        self._reporter = None
        options = _Options(translator.encode() if translator is not None else None, _number(reporter, 32, "reporter"), datagram, forget,
                           os.fsencode(key_file) if key_file is not None else None)
        made = ctypes.c_void_p()
        error = _slow.pingloom_reporter_open(ctypes.byref(options), ctypes.byref(made))
        if error:
            _not_opened(error, translator, datagram, key_file)
        self._reporter = made

    def key_write(self, table, key, value):
        """Stores the latest value of a key."""
        error = _fast.pingloom_report_key_write(self._reporter, _number(table, 16, "table"), key, len(key), value,
                                                len(value))
        if error:
            _refused(error, key, "value", value)

    def append(self, table, entry, list=0):
        """Appends an entry to a list of the table."""
        error = _fast.pingloom_report_append(self._reporter, _number(table, 16, "table"), _number(list, 32, "list"), entry,
                                             len(entry))
        if error:
            _refused(error, None, "entry", entry)

    def increment(self, table, key, amount=1):
        """Adds to the count of a key, at most 2**48 - 1."""
        error = _fast.pingloom_report_increment(self._reporter, _number(table, 16, "table"), key, len(key),
                                                _number(amount, 48, "amount"))
        if error:
            _refused(error, key, "amount", bytes(8))

    def postcard(self, table, key, hop, hops, value):
        """Reports one hop of the path of a key. `hop` counts from 0; `hops` is 0 if it is not known."""
        error = _fast.pingloom_report_postcard(self._reporter, _number(table, 16, "table"), key, len(key),
                                               _number(hop, 8, "hop"), _number(hops, 8, "hops"), value, len(value))
        if error:
            _refused(error, key, "value", value, hop, hops)

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

"""libpingloom-pages as ctypes sees it, see pingloom/pages.h. Applications use pingloom_pages."""

import ctypes
import ctypes.util
import os


class Label(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class Shape(ctypes.Structure):
    _fields_ = [("lowest", ctypes.c_uint8), ("highest", ctypes.c_uint8), ("precision", ctypes.c_uint8)]


class Slot(ctypes.Structure):  # a counter, gauge or group
    _fields_ = [("slot", ctypes.c_void_p)]


class ScaledGauge(ctypes.Structure):
    _fields_ = [("gauge", Slot), ("unit", ctypes.c_double)]


class Slots(ctypes.Structure):  # a histogram
    _fields_ = [("slots", ctypes.c_void_p), ("shape", Shape)]


class Bounded(ctypes.Structure):  # a histogram with bounds of its own
    _fields_ = [("slots", ctypes.c_void_p), ("bounds", ctypes.c_void_p), ("bound_count", ctypes.c_size_t)]


class Exemplars(ctypes.Structure):
    _fields_ = [("slots", ctypes.c_void_p), ("count", ctypes.c_size_t)]


class Summary(ctypes.Structure):
    _fields_ = [("slots", ctypes.c_void_p), ("quantile_count", ctypes.c_size_t)]


class Options(ctypes.Structure):
    _fields_ = [("application", ctypes.c_char_p), ("labels", ctypes.POINTER(Label)), ("label_count", ctypes.c_size_t),
                ("socket", ctypes.c_char_p), ("on_error", ctypes.c_void_p), ("context", ctypes.c_void_p)]


class Metric(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("help", ctypes.c_char_p), ("labels", ctypes.POINTER(Label)),
                ("label_count", ctypes.c_size_t), ("group", ctypes.c_void_p), ("options", ctypes.c_uint),
                ("shape", Shape), ("unit", ctypes.c_double)]


HeartbeatCallback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Status(ctypes.Structure):
    """What the agent knows of this process; the fields are those of pingloom_pages_status in pingloom/pages.h."""
    _fields_ = [("connected", ctypes.c_int), ("owner", ctypes.c_uint64), ("pages", ctypes.c_uint32),
                ("known_pages", ctypes.c_uint32), ("metrics", ctypes.c_uint32), ("known_metrics", ctypes.c_uint32),
                ("refused", ctypes.c_uint64), ("error", ctypes.c_int), ("error_text", ctypes.c_char * 256)]


_POINTER, _SIZE, _ERROR = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
_U64, _DOUBLE = ctypes.c_uint64, ctypes.c_double
_MAKE = ([_POINTER] * 3, _ERROR)
_MAKE_LIST = ([_POINTER, _POINTER, _POINTER, _SIZE, _POINTER], _ERROR)
_FUNCTIONS = {  # by name: the arguments and the result
    "pages_open": ([_POINTER] * 2, _ERROR),
    "pages_close": ([_POINTER], None),
    "pages_get_status": ([_POINTER] * 2, None),
    "pages_keep_one_in": ([_POINTER], ctypes.c_uint32),
    "pages_on_heartbeat": ([_POINTER, HeartbeatCallback, _POINTER], None),
    "error_text": ([], ctypes.c_char_p),
    "shared_counter_make": _MAKE,
    "fraction_counter_make": _MAKE,
    "gauge_make": _MAKE,
    "scaled_gauge_make": _MAKE,
    "shared_histogram_make": _MAKE,
    "bounded_histogram_make": _MAKE_LIST,
    "summary_make": _MAKE_LIST,
    "exemplars_make": _MAKE,
    "info_make": ([_POINTER] * 2, _ERROR),
    "group_make": ([_POINTER] * 2, _ERROR),
    "metric_remove": ([_POINTER] * 2, _ERROR),
    "call_shared_counter_add": ([_POINTER, _U64], None),
    "call_shared_counter_set": ([_POINTER, _U64], None),
    "call_fraction_counter_add": ([_POINTER, _DOUBLE], None),
    "call_fraction_counter_set": ([_POINTER, _DOUBLE], None),
    "call_gauge_set": ([_POINTER, _DOUBLE], None),
    "call_gauge_add": ([_POINTER, _DOUBLE], None),
    "call_shared_histogram_observe": ([_POINTER, _U64], None),
    "call_bounded_histogram_observe": ([_POINTER, _DOUBLE, _U64], None),
    "call_bounded_histogram_set": ([_POINTER, _POINTER, _U64], None),
    "call_summary_set": ([_POINTER, _U64, _DOUBLE, _POINTER], None),
    "exemplar_put": ([_POINTER, _SIZE, _SIZE, _DOUBLE, _U64, _POINTER, _SIZE], _ERROR),
    "call_shared_counter_add_exemplar": ([_POINTER, _POINTER, _U64, _POINTER, _SIZE], _ERROR),
    "call_fraction_counter_add_exemplar": ([_POINTER, _POINTER, _DOUBLE, _POINTER, _SIZE], _ERROR),
    "call_shared_histogram_observe_exemplar": ([_POINTER, _POINTER, _U64, _POINTER, _SIZE], _ERROR),
    "call_bounded_histogram_observe_exemplar": ([_POINTER, _POINTER, _DOUBLE, _U64, _POINTER, _SIZE], _ERROR),
    "call_group_begin": ([_POINTER], None),
    "call_group_commit": ([_POINTER], None),
}


def _load():
    path = os.environ.get("PINGLOOM_PAGES_LIBRARY")
    if not path:
        path = ctypes.util.find_library("pingloom-pages") or "libpingloom-pages.so.0"
    libraries = ctypes.CDLL(path), ctypes.PyDLL(path)
    for library in libraries:
        for name, (arguments, result) in _FUNCTIONS.items():
            function = getattr(library, "pingloom_" + name)
            function.argtypes, function.restype = arguments, result
    return libraries


# Calls of the slow one release the interpreter's lock, because they may wait a little. Those of the fast one keep the
# lock, which is faster: they never wait. The slow one makes a metric, and the fast one makes its handle inert.
slow, fast = _load()

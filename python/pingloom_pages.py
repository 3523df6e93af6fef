"""Metric pages for Python applications: values that a collector reads from this process' memory by RDMA.

    import pingloom_pages
    pages = pingloom_pages.Pages("queue")
    done = pages.counter("jobs_done_total", "Jobs that were done.")
    took = pages.histogram("job_seconds", "How long a job took.")
    with took.time():
        work()
    done.add()

The module needs only libpingloom-pages, at the path in PINGLOOM_PAGES_LIBRARY or where the system looks. All threads
may update all metrics. It works without an agent, and in forked children (os.fork, multiprocessing), which have metrics
of their own that start at 0. An update is one call into the library. Make metrics once, not per update.
"""

import atexit
import bisect
import contextlib
import ctypes
import math
import operator
import os
import threading
import time
import weakref

import pingloom_pages_library as _library
from pingloom_pages_library import Status

__all__ = ["BoundedHistogram", "Counter", "FractionCounter", "Gauge", "Group", "Histogram", "Pages", "Status",
           "Summary"]

_OK, _BAD_ARGUMENT, _CONFLICT, _NO_METRIC = 0, 1, 2, 9
_EXEMPLARS = 2  # an option of a metric
_slow, _fast = _library.slow, _library.fast

# It is held while handles are made, removed or closed. A fork waits for it, so that it is free in the child.
_making = threading.RLock()
os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)

# By the address of the pages: what their thread calls lives until they are closed, even if nobody holds them any more.
_heartbeats = {}


@atexit.register
def _end_heartbeats():
    for pages in list(_heartbeats):
        _slow.pingloom_pages_on_heartbeat(pages, _library.HeartbeatCallback(), None)


def _labels(labels):
    """Returns the C array of a dictionary or of None, and its length."""
    for name, value in (labels or {}).items():
        if name is None or value is None:
            raise ValueError(f"label {name!r}: its {'name' if name is None else 'value'} is None; "
                             "give it a text, or leave the label out")
    items = [(str(name).encode(), str(value).encode()) for name, value in (labels or {}).items()]
    return (_library.Label * len(items))(*items), len(items)


class _Handle:
    _nothing = (None, None)  # the arguments of a handle that is inert

    def __init__(self, pages, kind, make, metric):
        self._handle = kind()
        self._ref = ctypes.byref(self._handle)
        with _making:
            pages._keep(self, make(pages._pages, metric, self._ref), metric._obj.key)

    def _make_inert(self):
        # The call keeps the interpreter's lock, so no other thread updates by a handle that is half inert.
        self._inert(*self._nothing, self._ref)


class _ExemplarHandle(_Handle):
    """A metric that may have exemplars."""

    def __init__(self, pages, kind, make, metric):
        self._exemplars = _library.Exemplars()
        self._exemplars_ref = ctypes.byref(self._exemplars)
        with _making:
            super().__init__(pages, kind, make, metric)
            if metric._obj.options & _EXEMPLARS:  # without the metric there are none, and its own error is told
                _slow.pingloom_exemplars_make(pages._pages, metric, self._exemplars_ref)

    def _make_inert(self):
        _fast.pingloom_exemplars_make(None, None, self._exemplars_ref)
        super()._make_inert()

    def _put(self, part, parts, value, labels, seconds):
        time_ns = 0 if seconds is None else min(max(round(seconds * 1e9), 1), _LARGEST)
        _kept(_fast.pingloom_exemplar_put(self._exemplars_ref, part, parts, value, time_ns, *_labels(labels)))


def _with_exemplar(update, *arguments):
    """Updates with an exemplar, the last argument. The value counts whatever the exemplar is, which ValueError tells."""
    *arguments, exemplar = arguments
    try:
        labels, wrong = _labels(exemplar), None
    except Exception as error:  # it is no dictionary, or something in it is no text
        labels, wrong = (None, 0), error
    error = update(*arguments, *labels)
    if wrong is not None:
        raise ValueError(f"no exemplar is kept, though the value counts: {wrong}") from wrong
    _kept(error)


def _kept(error):
    """Raises ValueError if an exemplar could not be kept."""
    if error != _OK:
        raise ValueError("no exemplar is kept, though the value counts: "
                         + _slow.pingloom_error_text().decode(errors="replace"))


_LARGEST = 2**64 - 1


def _whole(n):
    """Returns a number that a counter takes, or explains why it takes none."""
    try:
        whole = operator.index(n)
    except TypeError:
        raise TypeError(f"a counter counts whole numbers, not {n!r}: count in a smaller unit "
                        "(milliseconds, not seconds), or use fraction_counter") from None
    if whole < 0:
        raise ValueError(f"a counter only grows, so it cannot add {whole}: use a gauge for values that fall")
    if whole > _LARGEST:
        raise ValueError(f"a counter has 64 bits, so it cannot add {whole}: count in a larger unit")
    return whole


class Counter(_ExemplarHandle):
    _inert = _fast.pingloom_shared_counter_make
    _update = _fast.pingloom_call_shared_counter_add
    _update_with = _fast.pingloom_call_shared_counter_add_exemplar
    _set = _fast.pingloom_call_shared_counter_set

    def add(self, n=1, exemplar=None):
        """`n` is a whole number, not negative and below 2**64. Raises TypeError or ValueError otherwise. `exemplar` says
        which trace it belongs to, {"trace_id": "4bf9..."}; if it cannot be one, ValueError says so, and `n` counts."""
        if n.__class__ is not int or not 0 <= n <= _LARGEST:
            n = _whole(n)
        if exemplar is None:
            self._update(self._ref, n)
        else:
            _with_exemplar(self._update_with, self._ref, self._exemplars_ref, n, exemplar)

    def set(self, n):
        """Sets it to a number that is counted elsewhere and never falls."""
        self._set(self._ref, _whole(n))

    def put_exemplar(self, n, labels, seconds=None):
        """Keeps the exemplar of something counted elsewhere, at a time in seconds since 1970, or now."""
        self._put(0, 1, n, labels, seconds)


def _fraction(n):
    """Returns a number that a fraction counter takes, or explains why it takes none."""
    try:
        finite = math.isfinite(n)
    except TypeError:
        raise TypeError(f"a fraction counter counts numbers, not {n!r}") from None
    except OverflowError:  # a whole number beyond all doubles
        finite = False
    if not finite:
        raise ValueError(f"a fraction counter counts finite numbers, not {n}: leave this one out")
    if n < 0:
        raise ValueError(f"a counter only grows, so it cannot add {n}: use a gauge for values that fall")
    return n


class FractionCounter(_ExemplarHandle):
    """A counter of joules or euros: of numbers with fractions. It is a double, which is exact up to 2**53."""
    _inert = _fast.pingloom_fraction_counter_make
    _update = _fast.pingloom_call_fraction_counter_add
    _update_with = _fast.pingloom_call_fraction_counter_add_exemplar
    _set = _fast.pingloom_call_fraction_counter_set

    def add(self, n=1, exemplar=None):
        """`n` is a finite number and not negative. Raises TypeError or ValueError otherwise. `exemplar` is as in
        Counter.add()."""
        if n.__class__ is not float or not 0 <= n < math.inf:
            n = _fraction(n)
        if exemplar is None:
            self._update(self._ref, n)
        else:
            _with_exemplar(self._update_with, self._ref, self._exemplars_ref, n, exemplar)

    def set(self, value):
        """Sets it to a number that is counted elsewhere and never falls."""
        self._set(self._ref, _fraction(value))

    def put_exemplar(self, n, labels, seconds=None):
        """Keeps the exemplar of something counted elsewhere, at a time in seconds since 1970, or now."""
        self._put(0, 1, n, labels, seconds)


class Gauge(_Handle):
    _inert = _fast.pingloom_gauge_make
    _set = _fast.pingloom_call_gauge_set
    _add = _fast.pingloom_call_gauge_add

    def set(self, value):
        self._set(self._ref, value)

    def add(self, difference):
        self._add(self._ref, difference)


class _ScaledGauge(Gauge):
    """A gauge that is given its values in units. Those without a unit do not pay for the multiplication."""
    _inert = _fast.pingloom_scaled_gauge_make

    def __init__(self, pages, metric):
        super().__init__(pages, _library.ScaledGauge, _slow.pingloom_scaled_gauge_make, metric)
        self._unit = self._handle.unit

    def set(self, value):
        self._set(self._ref, value * self._unit)

    def add(self, difference):
        self._add(self._ref, difference * self._unit)


class Histogram(_ExemplarHandle):
    _inert = _fast.pingloom_shared_histogram_make
    _observe = _fast.pingloom_call_shared_histogram_observe
    _observe_with = _fast.pingloom_call_shared_histogram_observe_exemplar

    def __init__(self, pages, kind, make, metric, unit):
        super().__init__(pages, kind, make, metric)
        self._per_unit = 1 / unit

    def observe(self, value, exemplar=None):
        """`value` has the metric's own unit, seconds for ..._seconds. A negative value counts as 0. `exemplar` is as in
        Counter.add()."""
        units = min(max(round(value * self._per_unit), 0), _LARGEST)
        if exemplar is None:
            self._observe(self._ref, units)
        else:
            _with_exemplar(self._observe_with, self._ref, self._exemplars_ref, units, exemplar)

    @contextlib.contextmanager
    def time(self):
        """Observes how many seconds its block takes."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.observe(time.perf_counter() - begin)


def _units(value, unit):
    """Returns a sum in whole units. What a page cannot hold saturates."""
    units = value / unit
    if not units > 0:  # NaN, too
        return 0
    return _LARGEST if units >= _LARGEST else round(units)


class BoundedHistogram(_ExemplarHandle):
    """A histogram with bounds of its own."""
    _inert = _fast.pingloom_bounded_histogram_make
    _nothing = (None, None, None, 0)
    _observe = _fast.pingloom_call_bounded_histogram_observe
    _observe_with = _fast.pingloom_call_bounded_histogram_observe_exemplar
    _set = _fast.pingloom_call_bounded_histogram_set

    def __init__(self, pages, metric, bounds, unit):
        self._bounds = (ctypes.c_double * len(bounds))(*bounds)
        self._unit = unit
        super().__init__(pages, _library.Bounded, self._make_bounded, metric)

    def _make_bounded(self, pages, metric, ref):
        return _slow.pingloom_bounded_histogram_make(pages, metric, self._bounds, len(self._bounds), ref)

    def observe(self, value, exemplar=None):
        """Any number goes into its bucket. A negative one adds nothing to the sum. `exemplar` is as in Counter.add()."""
        units = _units(value, self._unit)
        if exemplar is None:
            self._observe(self._ref, value, units)
        else:
            _with_exemplar(self._observe_with, self._ref, self._exemplars_ref, value, units, exemplar)

    def put_exemplar(self, value, labels, seconds=None):
        """Keeps the exemplar of a value counted elsewhere, at a time in seconds since 1970, or now."""
        self._put(bisect.bisect_left(self._bounds, value), len(self._bounds) + 1, value, labels, seconds)

    def set(self, buckets, total):
        """Sets all of a histogram that is counted elsewhere: a count for each bound and one more, and the sum."""
        if len(buckets) != len(self._bounds) + 1:
            raise ValueError(f"{len(buckets)} buckets for {len(self._bounds)} bounds: give one more than there are bounds")
        self._set(self._ref, (ctypes.c_uint64 * len(buckets))(*map(_whole, buckets)), _units(total, self._unit))


class Summary(_Handle):
    """Quantiles that are computed elsewhere, with the count and the sum of all values."""
    _inert = _fast.pingloom_summary_make
    _nothing = (None, None, None, 0)
    _set = _fast.pingloom_call_summary_set

    def __init__(self, pages, metric, quantiles):
        self._quantiles = (ctypes.c_double * len(quantiles))(*quantiles)
        super().__init__(pages, _library.Summary, self._make_summary, metric)

    def _make_summary(self, pages, metric, ref):
        return _slow.pingloom_summary_make(pages, metric, self._quantiles, len(self._quantiles), ref)

    def set(self, count, total, values=()):
        """Sets all of it: how many values there were since the beginning, their sum, and the value of each quantile, which
        is NaN while it is not known. Readers may see some new values beside old ones unless it is in a group."""
        if len(values) != len(self._quantiles):
            raise ValueError(f"{len(values)} values for {len(self._quantiles)} quantiles: give one for each")
        self._set(self._ref, _whole(count), total, (ctypes.c_double * len(values))(*values))


class Group:
    """Metrics that are read together. Pass it to counter(), gauge() and others; update them within update()."""

    def __init__(self, pages):
        self._handle = _library.Slot()
        self._ref = ctypes.byref(self._handle)
        with _making:
            pages._keep(self, _slow.pingloom_group_make(pages._pages, self._ref), None)

    def _make_inert(self):
        _slow.pingloom_group_make(None, self._ref)

    @contextlib.contextmanager
    def update(self):
        """Readers see all updates of the block or none. Only one thread at a time may be in such a block."""
        _fast.pingloom_call_group_begin(self._ref)
        try:
            yield
        finally:
            _fast.pingloom_call_group_commit(self._ref)


class Pages:
    """`application` has 1 to 64 bytes and defaults to $OTEL_SERVICE_NAME or the program's name. `labels` are those of
    all metrics, which get those of $OTEL_RESOURCE_ATTRIBUTES, too, as far as they have room for more. `socket` is the
    agent's and defaults to $PINGLOOM_PAGES_SOCKET or /run/pingloom/pages.sock. Raises ValueError if one is invalid.
    """

    def __init__(self, application=None, labels=None, socket=None):
        self._pages = None
        self._handles = {}  # by name and labels, None for groups: weak sets
        self.last_error = ""
        array, count = _labels(labels)
        options = _library.Options(application.encode() if application is not None else None, array, count,
                           os.fsencode(socket) if socket is not None else None, None, None)
        pages = ctypes.c_void_p()
        if _slow.pingloom_pages_open(ctypes.byref(options), ctypes.byref(pages)) != _OK:
            raise ValueError(_slow.pingloom_error_text().decode(errors="replace"))
        self._pages = pages

    def counter(self, name, help="", labels=None, group=None, unit=1.0, exemplars=False):
        """The same name and labels give the same metric. Raises ValueError if they are invalid. If the agent has no
        page for the metric, or its group has no room, it counts where nobody reads, and last_error says why. `unit` is
        the worth of 1: with 1e-9 a counter of seconds is given nanoseconds. With `exemplars` it has room for one."""
        return Counter(self, _library.Slot, _slow.pingloom_shared_counter_make,
                       self._metric(name, help, labels, group, unit=unit, exemplars=exemplars))

    def fraction_counter(self, name, help="", labels=None, group=None, exemplars=False):
        """Like counter(), for numbers with fractions. Count whole numbers and nanoseconds with counter()."""
        return FractionCounter(self, _library.Slot, _slow.pingloom_fraction_counter_make,
                               self._metric(name, help, labels, group, exemplars=exemplars))

    def gauge(self, name, help="", labels=None, group=None, unit=1.0):
        """`unit` is the worth of 1 in the unit of the name: with 0.001 a gauge of seconds is given milliseconds."""
        metric = self._metric(name, help, labels, group, unit=unit)
        if unit == 1:
            return Gauge(self, _library.Slot, _slow.pingloom_gauge_make, metric)
        return _ScaledGauge(self, metric)

    def histogram(self, name, help="", labels=None, group=None, unit=1e-9, shape=(10, 34, 2),
                  exemplars=False):
        """`unit` is the smallest difference that the histogram resolves. The buckets go from unit * 2**shape[0] to
        unit * 2**shape[1], with 2**shape[2] of them per doubling. The default is 1 us to 17 s. With `exemplars` it
        has room for four: one for each quarter of its buckets."""
        metric = self._metric(name, help, labels, group, _library.Shape(*shape), unit, exemplars)
        return Histogram(self, _library.Slots, _slow.pingloom_shared_histogram_make, metric, unit)

    def bounded_histogram(self, name, bounds, help="", labels=None, group=None, unit=1e-9, exemplars=False):
        """`bounds` are the upper bounds of its buckets, 1 to 502 and ascending, in the unit of the name. `unit` is the
        smallest difference that its sum resolves. `exemplars` is as in histogram()."""
        metric = self._metric(name, help, labels, group, unit=unit, exemplars=exemplars)
        return BoundedHistogram(self, metric, bounds, unit)

    def summary(self, name, quantiles=(), help="", labels=None, group=None):
        """`quantiles` are at most 32 numbers from 0 to 1, ascending."""
        return Summary(self, self._metric(name, help, labels, group), quantiles)

    def info(self, name, help="", labels=None):
        """An info has no value. It consists of its labels, for example a version."""
        self._check(_slow.pingloom_info_make(self._pages, self._metric(name, help, labels, None)))

    def remove(self, name, labels=None):
        """Ends the metric with this name and these labels, whatever its kind: collectors drop its series. Returns whether
        there was one. Updates of its handles have no effect any more. If it is made again it begins with 0."""
        metric = self._metric(name, "", labels, None)
        with _making:
            error = _slow.pingloom_metric_remove(self._pages, metric)
            if error == _NO_METRIC:
                return False
            self._check(error)
            for handle in self._handles.pop(metric._obj.key, ()):
                handle._make_inert()
        return error == _OK

    def group(self):
        return Group(self)

    def on_heartbeat(self, callback):
        """Calls `callback()` once a second, just before the heartbeat that tells readers that the process lives: for
        values that have to be asked for, such as the length of a queue. It may update metrics, and may not make or
        remove them, or close the pages. Another callback takes its place, and None removes it."""
        if callback is not None and not callable(callback):
            raise TypeError(f"on_heartbeat: {callback!r} cannot be called")
        if self._pages is None:
            return  # they are closed
        self._callback = callback
        # The library is given the same object for as long as the pages are open.
        called = _heartbeats.setdefault(self._pages.value, _library.HeartbeatCallback(self._call_back))
        _slow.pingloom_pages_on_heartbeat(
            self._pages, _library.HeartbeatCallback() if callback is None else called, None)

    def _call_back(self, _):
        callback = self._callback
        if callback is not None:
            callback()

    def keep_one_in(self):
        """For tracers: of so many traces of this application keep one. 1 while a collector finds its values unusual:
        keep all. 0: no collector says."""
        return _fast.pingloom_pages_keep_one_in(self._pages)

    @property
    def status(self):
        status = Status()
        _slow.pingloom_pages_get_status(self._pages, ctypes.byref(status))
        return status

    def close(self):
        """The agent drops the metrics. Updates of handles that are still in use have no effect."""
        with _making:
            self._make_all_inert()
            pages, self._pages = self._pages, None
            # Other pages may get the address once these are closed.
            called = None if pages is None else _heartbeats.pop(pages.value, None)
        _slow.pingloom_pages_close(pages)
        del called

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _make_all_inert(self):
        for handles in self._handles.values():
            for handle in list(handles):
                handle._make_inert()

    def _metric(self, name, help_text, labels, group, shape=_library.Shape(), unit=1.0, exemplars=False):
        array, count = _labels(labels)
        options = _EXEMPLARS if exemplars else 0
        metric = _library.Metric(name.encode(), help_text.encode(), array, count, None, options, shape, unit)
        metric.key = (metric.name, frozenset((label.name, label.value) for label in array))
        if group is not None:
            metric.group = ctypes.cast(group._ref, ctypes.c_void_p)
        self._alive = (array, group)  # keeps them alive until the library has copied them
        return ctypes.byref(metric)

    def _follow(self, name, labels, followers):
        """Makes these inert with the handles of a metric, because they update its slots on their own."""
        key = self._metric(name, "", labels, None)._obj.key
        for each in followers:
            self._keep(each, _OK, key)

    def _keep(self, handle, error, key):
        self._check(error)
        self._handles.setdefault(key, weakref.WeakSet()).add(handle)

    def _check(self, error):
        if error == _OK:
            return
        self.last_error = _slow.pingloom_error_text().decode(errors="replace")
        if error in (_BAD_ARGUMENT, _CONFLICT):
            raise ValueError(self.last_error)

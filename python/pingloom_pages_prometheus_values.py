"""Values that count in metric pages, as prometheus_client expects them; pingloom_pages_prometheus_keeper makes them.

prometheus_client makes an object for each number: one for a counter or gauge, and for a histogram one for its sum and
one for each bucket. Here such an object updates a slot of a page. While it has no slot it updates memory of its own by
the same calls, so that the process's own /metrics shows it all the same.
"""

import ctypes
import os
import threading
import weakref

import pingloom_pages
import pingloom_pages_library as _library
from pingloom_pages_mirror import sum_unit

__all__ = ["CounterValue", "CountValue", "NumberValue", "Series", "SumValue", "wait_for_sums"]

_fast = _library.fast
_ABOVE = 2**64  # steps that no sum has
# Values that have something outside of the pages. A forked child's pages begin with 0, and it has to forget the rest.
_outside = weakref.WeakSet()
_summing = threading.RLock()  # it is one for all sums, because a forked child has to replace it


class Series:
    """What the values of one metric and label set have in common. It lives as long as one of them."""

    def __init__(self, name, labels, errors):
        self.name, self.labels, self.errors = name, labels, errors
        self.exemplars = None  # the handle that takes them, if the metric has room for them
        self.parts, self.bounds = [], []  # the values of a histogram or summary until it is complete


class _Value:
    """Any thread may use it. Subclasses say what its slot holds."""
    __slots__ = ("_series", "_cell", "_owned", "_slot", "_address", "_exemplar", "__weakref__")

    def __init__(self, series):
        self._series, self._exemplar = series, None
        self._cell, self._owned = self._kind(), True  # memory of its own, and later a view of the page
        self._slot = _library.Slot(ctypes.addressof(self._cell))
        self._address = ctypes.addressof(self._slot)  # ctypes passes a number faster than byref()

    def inc(self, amount):
        self._add(self._address, amount)

    def set(self, value, timestamp=None):
        self._set(self._address, value)

    def get(self):
        with pingloom_pages._making:  # the pages are not closed meanwhile
            return float(self._cell.value)

    def set_exemplar(self, exemplar):
        if self._exemplar is None:
            _outside.add(self)
        self._exemplar = exemplar
        if self._series.exemplars is None:
            return
        try:
            self._series.exemplars.put_exemplar(exemplar.value, exemplar.labels, exemplar.timestamp)
        except ValueError as error:  # it is longer than a page's may be
            self._series.errors[self._series.name] = str(error)

    def get_exemplar(self):
        return self._exemplar

    def enter(self, address):
        """Counts in the page's slot at this address from now on. It has counted nothing yet."""
        self._move(self._kind.from_address(address), False)

    def stay_outside(self):
        """Counts in memory of its own for good, because no page has room for it."""
        _outside.add(self)

    def _make_inert(self):
        # pingloom_pages calls it like a handle's when the metric is removed or the pages are closed.
        self._move(self._kind(self._cell.value), True)
        _outside.add(self)

    def _move(self, cell, owned):
        former = self._cell  # it lives until no update goes there any more
        self._cell, self._owned = cell, owned
        self._slot.slot = ctypes.addressof(cell)
        del former

    def begin_anew(self):
        """Forgets what a forked child has of its parent."""
        self._exemplar = None
        if self._owned:
            self._cell.value = 0


class NumberValue(_Value):
    """A gauge, or the sum of a summary."""
    __slots__ = ()
    _kind = ctypes.c_double
    _add = _fast.pingloom_call_gauge_add
    _set = _fast.pingloom_call_gauge_set


class CounterValue(_Value):
    """A counter. A number that is negative or not finite adds nothing."""
    __slots__ = ()
    _kind = ctypes.c_double
    _add = _fast.pingloom_call_fraction_counter_add
    _set = _fast.pingloom_call_fraction_counter_set


class CountValue(_Value):
    """The count of a summary or of a histogram's bucket."""
    __slots__ = ()
    _kind = ctypes.c_uint64
    _add = _fast.pingloom_call_shared_counter_add
    _set = _fast.pingloom_call_shared_counter_set

    def inc(self, amount):
        self._add(self._address, int(amount))

    def set(self, value, timestamp=None):
        self._set(self._address, int(value))


class SumValue(_Value):
    """The sum of a histogram. The page has whole steps, and the rest is kept here, so that small values add up."""
    __slots__ = ("_unit", "_rest")
    _kind = ctypes.c_uint64
    _set = _fast.pingloom_call_shared_counter_set

    def __init__(self, series):
        super().__init__(series)
        self._unit, self._rest = sum_unit(series.name), 0.0  # the rest is in steps, too
        _outside.add(self)

    def inc(self, amount):
        with _summing:
            self._put(self._cell.value + self._rest + amount / self._unit)

    def set(self, value, timestamp=None):
        with _summing:
            self._put(value / self._unit)

    def get(self):
        with _summing:
            return (self._cell.value + self._rest) * self._unit

    def _put(self, steps):
        # What the page cannot hold is in the rest. NaN is neither below nor above.
        whole = round(steps) if 0 <= steps < _ABOVE else _ABOVE - 1 if steps >= _ABOVE else 0
        self._rest = steps - whole
        self._set(self._address, whole)

    def begin_anew(self):
        super().begin_anew()
        self._rest = 0.0


def wait_for_sums():
    """When this returns, no thread reads a sum any more that it had in the pages before."""
    with _summing:
        pass


def _begin_anew():
    global _summing
    _summing = threading.RLock()  # another thread of the parent may have held it
    for value in list(_outside):
        value.begin_anew()


os.register_at_fork(after_in_child=_begin_anew)

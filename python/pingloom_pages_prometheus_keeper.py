"""Keeps the values of prometheus_client's metrics in metric pages: pingloom_pages_prometheus.keep_values()."""

import _thread
import collections
import ctypes
import functools
import os
import threading
import weakref

import prometheus_client
import prometheus_client.values
import pingloom_pages
from pingloom_pages_mirror import sum_unit
from pingloom_pages_prometheus_values import CounterValue, CountValue, NumberValue, Series, SumValue, wait_for_sums

__all__ = ["Keeper", "keep_values"]

_keeper = None  # the one that is at work


def keep_values(application=None, labels=None, socket=None, exemplars=False):
    """Lets the metrics of prometheus_client that are made from now on count in pages, and returns their Keeper.

    It is called keep_values because the pages keep the values themselves, where publish() copies them there. An update
    is a call into the library, a process that is killed loses nothing, and forked children have pages of their own that
    begin with 0, without PROMETHEUS_MULTIPROC_DIR and without a call in the child. The process's own /metrics goes on.
    Call it once, before metrics are made. Those that were made before it stay in memory and are in no page.

    Only counters, gauges, histograms and summaries have values. Infos, enums, gauges with a function and collectors of
    the application's have none: put them into a registry of their own, and publish() that.

    `exemplars` gives counters and histograms room for exemplars, which takes 16 slots more for a counter and 64 more
    for a histogram. Without it, exemplars are in the process's own /metrics only. The other arguments are those of
    pingloom_pages.Pages.
    """
    if _keeper is not None:
        raise RuntimeError("values are kept in pages already: call keep_values once, where the application begins")
    if {"PROMETHEUS_MULTIPROC_DIR", "prometheus_multiproc_dir"} & os.environ.keys():
        raise RuntimeError("PROMETHEUS_MULTIPROC_DIR is set, so prometheus_client keeps values in files: unset it. "
                           "Forked processes have pages of their own without it")
    return Keeper(pingloom_pages.Pages(application, labels, socket), exemplars)


class Keeper:
    """Makes values in the place of prometheus_client.values.ValueClass. keep_values() returns it."""
    _multiprocess = False

    def __init__(self, pages, exemplars):
        global _keeper
        self.pages, self._exemplars, self._errors = pages, exemplars, {}
        self._kept = {}  # by name and labels: a weak reference to the series whose metric it is
        self._begun = weakref.WeakValueDictionary()  # by thread, name and labels: series that lack some of their values
        self._ended = collections.deque()  # names and labels of series that nobody uses any more
        self._removing = threading.Lock()  # the thread has it that removes their metrics
        self._former = prometheus_client.values.ValueClass, prometheus_client.Gauge.set_function
        _keeper = prometheus_client.values.ValueClass = self
        prometheus_client.Gauge.set_function = self._watched(prometheus_client.Gauge.set_function)

    @property
    def errors(self):
        """What is kept in memory only and why, by name; everything else is in pages all the same."""
        return dict(self._errors)

    def close(self):
        """Ends it and closes the pages. The metrics go on in memory, and new ones are what they are without pages."""
        global _keeper
        prometheus_client.values.ValueClass, prometheus_client.Gauge.set_function = self._former
        _keeper = None
        with pingloom_pages._making:
            self._kept.clear()
            self.pages._make_all_inert()
        wait_for_sums()
        self.pages.close()

    def __call__(self, typ, metric_name, name, labelnames, labelvalues, help_text, **_):
        labels = dict(zip(labelnames, labelvalues))
        if typ == "histogram":
            return self._value_of_histogram(metric_name, labels, help_text)
        if typ == "summary":
            return self._value_of_summary(metric_name, name == metric_name + "_count", labels, help_text)
        series = Series(name, labels, self._errors)
        if typ == "counter":
            value = CounterValue(series)
            self._place(series, [value], functools.partial(self.pages.fraction_counter, name, help_text, labels), True)
        elif typ == "gauge":
            value = NumberValue(series)
            self._place(series, [value], functools.partial(self.pages.gauge, name, help_text, labels))
        else:
            value = NumberValue(series)
            self._leave_out([value], name, f"keep_values does not know what a {typ} is")
        return value

    def _value_of_histogram(self, name, labels, help_text):
        """Makes one of its values: the sum comes first, then the buckets come by their bounds, and the last is +Inf."""
        bound = labels.pop("le", None)
        series, value = self._part(name, labels, CountValue if bound else SumValue, not bound)
        if bound and bound != "+Inf":
            series.bounds.append(float(bound))
        elif bound:
            self._place(series, series.parts, functools.partial(
                self.pages.bounded_histogram, name, series.bounds, help_text, labels, unit=sum_unit(name)), True)
        return value

    def _value_of_summary(self, name, is_count, labels, help_text):
        """Makes one of its two values: the count comes first. Python's summaries have no quantiles."""
        series, value = self._part(name, labels, CountValue if is_count else NumberValue, is_count)
        if not is_count:
            self._place(series, series.parts, functools.partial(self.pages.summary, name, (), help_text, labels))
        return value

    def _part(self, name, labels, kind, is_first):
        """Makes a value of a series whose values one thread makes one after the other, and returns both."""
        place = (threading.get_ident(), *_key(name, labels))
        series = None if is_first else self._begun.get(place)
        if series is None:
            series = self._begun[place] = Series(name, labels, self._errors)
        value = kind(series)
        series.parts.append(value)
        return series, value

    def _place(self, series, values, make, may_have_exemplars=False):
        """Lets the values count in the slots of the metric that `make` makes."""
        key = _key(series.name, series.labels)
        series.parts = ()  # each of them holds the series, which ends with the last of them
        with pingloom_pages._making:
            self._replace(key)
            handle = self._make(series, make, may_have_exemplars and self._exemplars)
            if handle is None:
                self._leave_out(values)
                return
            self.pages._follow(series.name, series.labels, values)
            first = ctypes.c_void_p.from_buffer(handle._handle).value  # every kind of handle begins with its slots
            for i, value in enumerate(values):
                value.enter(first + 8 * i)
            self._kept[key] = weakref.ref(series)
            weakref.finalize(series, self._end, key).atexit = False
        self._remove_soon()

    def _replace(self, key):
        """Ends the metric of a former series with the same name and labels, so that the new one begins with 0."""
        former = self._kept.pop(key, None)
        if former is None:
            return
        name, labels = key
        self.pages.remove(name, dict(labels))
        if former() is not None:
            self._errors[name] = "its name and labels were made again: the former metric counts in memory only"

    def _make(self, series, make, exemplars):
        """Returns the handle of a metric, or None if no page takes it. Without room for exemplars it goes without."""
        for room in ({"exemplars": True}, {}) if exemplars else ({},):
            try:
                self.pages.last_error = ""
                handle = make(**room)
                why = self.pages.last_error
            except ValueError as error:
                why = str(error)
            if not why:
                series.exemplars = handle if room else None
                return handle
            self._errors[series.name] = why
        return None

    def _leave_out(self, values, name=None, why=None):
        for value in values:
            value.stay_outside()
        if why:
            self._errors[name] = why

    def _watched(self, set_function):
        """Returns Gauge.set_function. With a function a gauge has no value, and its page would show 0."""
        @functools.wraps(set_function)
        def watched(gauge, function):
            set_function(gauge, function)
            series = getattr(getattr(gauge, "_value", None), "_series", None)  # a gauge that was made before has none
            if series is None:
                return
            with pingloom_pages._making:
                kept = self._kept.get(_key(series.name, series.labels))
                if kept is not None and kept() is series:
                    del self._kept[_key(series.name, series.labels)]
                    self.pages.remove(series.name, series.labels)
            self._errors[series.name] = ("it has a function that only /metrics asks: put the gauge into a registry "
                                         "of its own, and publish() that")
        return watched

    def _end(self, key):
        # The interpreter calls it in any thread, which may hold any locks, when nobody uses a series any more.
        if key in self._kept:
            self._ended.append(key)
            self._remove_soon()

    def _remove_soon(self):
        if not self._ended or not self._removing.acquire(blocking=False):
            return
        try:
            _thread.start_new_thread(self._remove, ())  # it waits for nothing, as threading.Thread does
        except RuntimeError:  # there are too many threads, and the next series tries again; or the process ends
            self._removing.release()

    def _remove(self):
        while self._ended:
            with pingloom_pages._making:  # a fork waits for it, so a child does not miss one that was just taken
                name, labels = key = self._ended.popleft()
                kept = self._kept.get(key)
                if kept is not None and kept() is None:  # otherwise it was made again
                    del self._kept[key]
                    self.pages.remove(name, dict(labels))
        self._removing.release()
        self._remove_soon()  # what ended after the last look

    def begin_anew(self):
        """Is called in forked children, where the thread that removes metrics does not run."""
        self._removing = threading.Lock()
        self._remove_soon()


def _key(name, labels):
    return name, tuple(sorted(labels.items()))


def _begin_anew():
    if _keeper is not None:
        _keeper.begin_anew()


os.register_at_fork(after_in_child=_begin_anew)

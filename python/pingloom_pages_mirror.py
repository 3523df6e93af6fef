"""Copies metrics that another library counts into metric pages, round by round. The bridges from Prometheus' and
OpenTelemetry's libraries use it.

Counters are fraction counters. The sum of a histogram is kept in steps of 1e-9 in names with `_seconds`, of 1 in names
with `_bytes`, and of 1e-6 otherwise, and saturates at 2^64 of them. One thread at a time.
"""

import math
import time

__all__ = ["Mirror", "sum_unit"]

_ROOMS = 16  # metrics that are made again in one round to have room for exemplars
_REST = 65  # seconds; the slots of metrics that were removed are free after 60
_AHEAD = 60  # seconds; what is further ahead of the clock was there before the clock was set back
_NEVER = -1  # before any exemplar
_FAILED = object()  # instead of a metric that could not be made


def sum_unit(name):
    """Returns the step of a histogram's sum. All processes have the same one for a name."""
    if "_seconds" in name:
        return 1e-9
    return 1.0 if "_bytes" in name else 1e-6


class Mirror:
    """Between begin() and end() every metric is given once. end() removes those that were not given. `errors` has what
    could not be published and why, by name."""

    def __init__(self, pages):
        self.pages, self.errors = pages, {}
        self._metrics = {}  # by kind, name and labels; an info is None
        self._seen = set()
        self._exemplars = {}  # by key: when the latest exemplar was given that its metric has, or None if it has no room
        self._again = {}  # by key: when a metric that had no page is tried again
        self._rooms = 0  # how many metrics may be made again in this round
        self._full = False  # whether a metric has been lost that way, because there was no page

    def begin(self):
        self._seen.clear()
        self._rooms = _ROOMS

    def end(self):
        ended = self._metrics.keys() - self._seen
        for key in ended:
            self._exemplars.pop(key, None)
            self._again.pop(key, None)
            if self._metrics.pop(key) is not _FAILED:
                _, name, labels = key
                self.pages.remove(name, dict(labels))
        # What could not be made beside one that has ended, as another kind, is tried again.
        names = {name for _, name, _ in ended}
        for key in [key for key, made in self._metrics.items() if made is _FAILED and key[1] in names]:
            del self._metrics[key]
            self._again.pop(key, None)
            self.errors.pop(key[1], None)

    def counter(self, name, help_text, labels, value, exemplar=None):
        """`exemplar` has labels, a value, and a timestamp in seconds, which may be None."""
        made = self._metric("counter", name, labels, lambda **room: self.pages.fraction_counter(
            name, help_text, labels, **room), exemplar is not None)
        if made is None:
            return
        try:
            made.set(value)
        except ValueError as error:  # it is negative or NaN
            self.errors[name] = str(error)
        self._put("counter", name, labels, made, [exemplar] if exemplar else [])

    def gauge(self, name, help_text, labels, value):
        made = self._metric("gauge", name, labels, lambda: self.pages.gauge(name, help_text, labels))
        if made is not None:
            made.set(value)

    def info(self, name, help_text, labels):
        self._metric("info", name, labels, lambda: self.pages.info(name, help_text, labels))

    def histogram(self, name, help_text, labels, bounds, counts, total, exemplars=()):
        """`counts` are those of each bucket by itself, of which there is one more than there are bounds. `exemplars` are
        like those of counter()."""
        made = self._metric("histogram", name, labels, lambda **room: self.pages.bounded_histogram(
            name, bounds, help_text, labels, unit=sum_unit(name), **room), bool(exemplars))
        if made is None:
            return
        try:
            made.set(counts, total)
        except ValueError as error:  # its bounds have changed
            self.errors[name] = str(error)
        self._put("histogram", name, labels, made, exemplars)

    def summary(self, name, help_text, labels, quantiles, values, count, total):
        """`quantiles` are ascending, and `values` has one for each of them."""
        made = self._metric("summary", name, labels, lambda: self.pages.summary(name, quantiles, help_text, labels))
        if made is None:
            return
        try:
            made.set(count, total, values)
        except ValueError as error:  # its quantiles have changed
            self.errors[name] = str(error)

    def keep(self, family):
        """Keeps the metrics of a family that could not be copied as they are."""
        self._seen.update(key for key in self._metrics if key[1] == family or key[1].startswith(family + "_"))

    def _put(self, kind, name, labels, made, exemplars):
        """Gives a metric the exemplars that are later than those it has, in their order."""
        if not exemplars:
            return
        key = (kind, name, tuple(sorted(labels.items())))
        latest = self._exemplars.get(key)
        if latest is None:
            return
        soon = time.time() + _AHEAD
        if latest > soon:
            latest = _NEVER

        def when(exemplar):
            return exemplar.timestamp if (exemplar.timestamp or 0) <= soon else 0  # older than any other

        for exemplar in sorted(exemplars, key=lambda each: when(each) or 0):
            if exemplar.timestamp is not None and when(exemplar) <= latest:
                continue
            try:
                made.put_exemplar(exemplar.value, exemplar.labels, exemplar.timestamp)
            except ValueError as error:  # it is longer than a page's may be
                self.errors[name] = str(error)
            if exemplar.timestamp is not None:
                self._exemplars[key] = when(exemplar)

    def _make_room(self, key, make):
        """Makes a metric again that has its first exemplar: without any it takes a small part of the room. Where there is
        no page with so much room, the metric goes without for good."""
        _, name, labels = key
        again = key in self._metrics
        if again and (self._metrics[key] is _FAILED or self._rooms == 0):
            return
        if again and self._full:
            self._exemplars[key] = None
            return
        if again:
            self._rooms -= 1
            self.pages.remove(name, dict(labels))
            del self._metrics[key]
        made, why, later = self._try(lambda: make(exemplars=True))
        if why:
            self._exemplars[key] = None
            self.errors[name] = why
            self._full = self._full or (again and later)
        else:
            self._metrics[key], self._exemplars[key] = made, _NEVER

    def _try(self, make):
        """Returns a metric, why there is none or "", and whether there may be one later."""
        try:
            self.pages.last_error = ""
            return make(), self.pages.last_error, True
        except ValueError as error:
            return None, str(error), False

    def _metric(self, kind, name, labels, make, has_exemplars=False):
        key = (kind, name, tuple(sorted(labels.items())))
        self._seen.add(key)
        if self._again and self._again.get(key, math.inf) <= time.monotonic():
            del self._again[key]
            self._metrics.pop(key, None)
            self.errors.pop(name, None)
        if has_exemplars and key not in self._exemplars:
            self._make_room(key, make)
        if key not in self._metrics:
            made, why, later = self._try(make)
            self._metrics[key] = _FAILED if why else made
            if why:
                self.errors[name] = why
            if why and later:  # there is no page for it
                self._again[key] = time.monotonic() + _REST
        return None if self._metrics[key] is _FAILED else self._metrics[key]

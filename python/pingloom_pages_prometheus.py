"""Publishes the metrics of prometheus_client as metric pages, so that a collector reads them without HTTP.

    import pingloom_pages_prometheus
    pingloom_pages_prometheus.publish("queue")

That is all an application changes. A thread copies the registry into pages every second, and the application's own
updates stay as they are. Counters and histograms keep their names, labels, buckets and exemplars (pingloom_pages_mirror
says how values are kept), and summaries their quantiles, if they have any. `_created` times are left out.

    pingloom_pages_prometheus.keep_values("queue")

This keeps the values in the pages themselves, without a thread and in forked workers, too.
"""

import threading

import prometheus_client
import pingloom_pages
import pingloom_pages_mirror
from pingloom_pages_prometheus_keeper import Keeper, keep_values

__all__ = ["Keeper", "Publisher", "keep_values", "publish"]


def publish(application=None, registry=prometheus_client.REGISTRY, labels=None, socket=None, period=1.0):
    """Starts a Publisher that ends with the process. The arguments are those of Publisher and of pingloom_pages.Pages."""
    return Publisher(pingloom_pages.Pages(application, labels, socket), registry, period)


class Publisher:
    """Copies the registry into `pages` at once and then every `period` seconds."""

    def __init__(self, pages, registry=prometheus_client.REGISTRY, period=1.0):
        self.pages, self.registry = pages, registry
        self._mirror = pingloom_pages_mirror.Mirror(pages)
        self._ended = threading.Event()
        self._copy()
        self._thread = threading.Thread(target=self._run, args=(period,), name="pingloom-pages", daemon=True)
        self._thread.start()

    @property
    def errors(self):
        """What could not be published and why, by name; everything else is published all the same."""
        return dict(self._mirror.errors)

    def close(self):
        """Ends the thread and closes the pages."""
        self._ended.set()
        self._thread.join()
        self.pages.close()

    def _run(self, period):
        while not self._ended.wait(period):
            self._copy()

    def _copy(self):
        try:
            families = list(self.registry.collect())
        except Exception as error:  # a collector of the application's failed; the next copy tries again
            self._mirror.errors["registry"] = repr(error)
            return
        self._mirror.begin()
        for family in families:
            try:
                self._copy_family(family)
            except Exception as error:  # a value that is no number, of a collector of the application's
                self._mirror.errors[family.name] = repr(error)
                self._mirror.keep(family.name)
        self._mirror.end()

    def _copy_family(self, family):
        if family.type == "histogram":
            self._copy_histograms(family)
        elif family.type == "summary":
            self._copy_summaries(family)
        else:
            self._copy_samples(family)

    def _copy_samples(self, family):
        for sample in family.samples:
            if sample.name == family.name + "_created":
                continue
            if family.type == "info":
                self._mirror.info(sample.name, family.documentation, sample.labels)
            elif family.type == "counter":
                self._mirror.counter(sample.name, family.documentation, sample.labels, sample.value, sample.exemplar)
            else:
                self._mirror.gauge(sample.name, family.documentation, sample.labels, sample.value)

    def _copy_histograms(self, family):
        histograms = {}  # by labels without `le`: bounds, counts up to each, the sum, and exemplars
        for sample in family.samples:
            labels = {name: value for name, value in sample.labels.items() if name != "le"}
            found = histograms.setdefault(tuple(sorted(labels.items())), ([], [], [], []))
            if sample.name == family.name + "_bucket":
                if sample.labels["le"] != "+Inf":
                    found[0].append(float(sample.labels["le"]))
                found[1].append(int(sample.value))
                if sample.exemplar is not None:
                    found[3].append(sample.exemplar)
            elif sample.name == family.name + "_sum":
                found[2].append(sample.value)
        for labels, (bounds, below, total, exemplars) in histograms.items():
            # Updates between two buckets' values may make a later one smaller.
            counts = [max(now - before, 0) for before, now in zip([0, *below], below)]
            self._mirror.histogram(family.name, family.documentation, dict(labels), bounds, counts, sum(total),
                                   exemplars)

    def _copy_summaries(self, family):
        summaries = {}  # by labels without `quantile`: the value of each quantile, the count and the sum
        for sample in family.samples:
            labels = {name: value for name, value in sample.labels.items() if name != "quantile"}
            found = summaries.setdefault(tuple(sorted(labels.items())), ({}, [], []))
            if sample.name == family.name and "quantile" in sample.labels:
                found[0][float(sample.labels["quantile"])] = sample.value
            elif sample.name == family.name + "_count":
                found[1].append(int(sample.value))
            elif sample.name == family.name + "_sum":
                found[2].append(sample.value)
        for labels, (values, count, total) in summaries.items():
            if not count:
                raise ValueError(f"{family.name} has no sample {family.name}_count, so nobody knows whether it has values")
            quantiles = sorted(values)
            self._mirror.summary(family.name, family.documentation, dict(labels), quantiles,
                                 [values[each] for each in quantiles], sum(count), sum(total))

"""The real prometheus_client with its values in metric pages."""

import contextlib
import gc
import math
import multiprocessing
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import prometheus_client.values
from prometheus_client import CollectorRegistry, Counter, Enum, Gauge, Histogram, Info, Summary, generate_latest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/integration")]
import pingloom_pages_prometheus  # noqa: E402
from processes import eventually  # noqa: E402
from scripted_agent import Agent  # noqa: E402


class Case(unittest.TestCase):
    exemplars = False

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pingloom-values-")
        self.addCleanup(folder.cleanup)
        self.socket = folder.name + "/pages.sock"
        self.agent = Agent(self.socket)
        self.addCleanup(self.agent.stop)
        self.registry = CollectorRegistry()
        self.keeper = pingloom_pages_prometheus.keep_values("tested", socket=self.socket, exemplars=self.exemplars)
        self.addCleanup(lambda: prometheus_client.values.ValueClass is self.keeper and self.keeper.close())

    def settled(self, owner=0):
        def all_known():
            status = self.keeper.pages.status
            return status.connected and status.metrics == status.known_metrics
        eventually(all_known, 10, "every metric is known to the agent")
        return self.agent.owners[owner]

    def sample(self, name, **labels):
        """What the process's own /metrics shows."""
        return self.registry.get_sample_value(name, labels)


def update_all(registry):
    """Updates metrics of every kind in every way."""
    jobs = Counter("jobs", "Jobs.", ["kind"], registry=registry)
    jobs.labels("mail").inc()
    jobs.labels(kind="mail").inc(1.5)
    jobs.labels("print").inc(0)
    failures = Counter("failures", "Failures.", registry=registry)
    with contextlib.suppress(RuntimeError), failures.count_exceptions():
        raise RuntimeError
    depth = Gauge("depth", "Depth.", registry=registry)
    depth.set(7)
    depth.inc(0.5)
    depth.dec(10)
    running = Gauge("running", "Running.", ["of"], registry=registry)
    with running.labels("a").track_inprogress():
        running.labels("b").set(running.labels("a")._value.get())
    took = Histogram("job_seconds", "Took.", buckets=(0.005, 0.1, 2.5), registry=registry)
    for seconds in (0.005, 0.006, 0.1, 7):
        took.observe(seconds)
    size = Summary("job_bytes", "Size.", registry=registry)
    size.observe(100)
    size.observe(0.5)


class Values(Case):
    def test_every_kind_counts_in_the_pages_and_in_metrics(self):
        update_all(self.registry)
        owner = self.settled()
        self.assertEqual({name: metric[3] for name, metric in owner.metrics.items()},
                         {"jobs_total": 2, "failures_total": 2, "depth": 2, "running": 2, "job_seconds": 3,
                          "job_bytes": 5})
        self.assertEqual([owner.definitions[name][1] for name in ("failures_total", "depth")], [1 | 8, 0],
                         "one gauge is a counter with fractions")
        self.assertEqual(owner.slot("failures_total", kind="d"), 1)
        self.assertEqual(owner.slot("depth", kind="d"), -2.5)
        self.assertEqual([owner.slot("job_seconds", i) for i in range(5)], [7_111_000_000, 1, 2, 0, 1])
        self.assertEqual((owner.slot("job_bytes"), owner.slot("job_bytes", 1, kind="d")), (2, 100.5))
        self.assertEqual(self.keeper.errors, {})
        shown = self.registry
        self.keeper.close()
        usual = CollectorRegistry()
        update_all(usual)
        for ours, theirs in zip(shown.collect(), usual.collect()):
            for one, other in zip(ours.samples, theirs.samples):
                self.assertEqual(one[:2], other[:2])
                if not one.name.endswith("_created"):
                    self.assertAlmostEqual(one.value, other.value, places=9, msg=one.name)
        self.assertIn(b'job_seconds_bucket{le="0.1"} 3.0\n', generate_latest(shown))

    def test_a_gauge_is_set_to_the_time(self):
        now = Gauge("now_seconds", "Now.", registry=self.registry)
        now.set_to_current_time()
        self.assertAlmostEqual(self.settled().slot("now_seconds", kind="d"), time.time(), delta=10)
        now._value.set(5.0, timestamp=time.time())  # as newer versions do
        self.assertEqual(self.sample("now_seconds"), 5)
        now.set(math.nan)
        self.assertTrue(math.isnan(self.sample("now_seconds")))

    def test_small_and_negative_values_of_a_histogram_add_up(self):
        ratio = Histogram("loss_ratio", "Loss.", buckets=(0.5,), registry=self.registry)
        size = Histogram("size_bytes", "Size.", buckets=(0.5,), registry=self.registry)
        for _ in range(1000):
            ratio.observe(1e-7)
            size.observe(0.25)
        owner = self.settled()
        self.assertEqual((owner.slot("loss_ratio"), owner.slot("size_bytes")), (100, 250))
        self.assertAlmostEqual(self.sample("loss_ratio_sum"), 1e-4)
        ratio.observe(-1)
        size.observe(1e30)
        self.assertEqual((owner.slot("loss_ratio"), owner.slot("size_bytes")), (0, 2**64 - 1), "a page saturates")
        self.assertAlmostEqual(self.sample("loss_ratio_sum"), 1e-4 - 1)
        self.assertAlmostEqual(self.sample("size_bytes_sum") / 1e30, 1)
        ratio.observe(3)
        self.assertEqual(owner.slot("loss_ratio"), 2_000_100)
        ratio.observe(math.nan)
        self.assertTrue(math.isnan(self.sample("loss_ratio_sum")))

    def test_values_are_set_and_a_counter_ignores_what_it_cannot_count(self):
        jobs = Counter("jobs", "Jobs.", registry=self.registry)
        took = Histogram("job_seconds", "Took.", buckets=(1,), registry=self.registry)
        jobs.inc(2)
        for wrong in (math.nan, math.inf):
            jobs.inc(wrong)
        self.assertEqual(self.sample("jobs_total"), 2)
        with self.assertRaises(ValueError):
            jobs.inc(-1)
        jobs._value.set(0)  # newer versions' reset()
        took._buckets[0].set(3.0)
        took._sum.set(1.5)
        shown = [self.sample(name) for name in ("jobs_total", "job_seconds_count", "job_seconds_sum")]
        self.assertEqual(shown, [0, 3, 1.5])
        self.assertEqual([self.settled().slot("job_seconds", i) for i in range(3)], [1_500_000_000, 3, 0])

    def test_threads_lose_nothing(self):
        jobs = Counter("jobs", "Jobs.", registry=self.registry)
        depth = Gauge("depth", "Depth.", registry=self.registry)
        took = Histogram("job_seconds", "Took.", buckets=(1,), registry=self.registry)
        size = Summary("job_bytes", "Size.", registry=self.registry)

        def work():
            for _ in range(20_000):
                jobs.inc()
                depth.inc(0.5)
                took.observe(0.25)
                size.observe(2)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        owner = self.settled()
        self.assertEqual((owner.slot("jobs_total", kind="d"), owner.slot("depth", kind="d")), (160_000, 80_000))
        self.assertEqual([owner.slot("job_seconds", i) for i in range(3)], [40_000_000_000_000, 160_000, 0])
        self.assertEqual((owner.slot("job_bytes"), owner.slot("job_bytes", 1, kind="d")), (160_000, 320_000))

    def test_what_is_killed_has_lost_nothing(self):
        program = ("import os, signal, sys, pingloom_pages_prometheus\n"
                   "keeper = pingloom_pages_prometheus.keep_values('killed', socket=sys.argv[1])\n"
                   "from prometheus_client import Counter\n"
                   "jobs = Counter('jobs', 'Jobs.')\n"
                   "while not keeper.pages.status.known_metrics: pass\n"
                   "jobs.inc(7)\n"
                   "os.kill(os.getpid(), signal.SIGKILL)\n")
        self.assertEqual(self.run_program(program).returncode, -9)
        self.assertEqual(self.agent.owners[-1].slot("jobs_total", kind="d"), 7)

    def run_program(self, program):
        return subprocess.run([sys.executable, "-B", "-c", program, self.socket], capture_output=True, text=True,
                              timeout=60, env=dict(os.environ, PYTHONPATH=str(ROOT / "python")))

    def test_the_interpreter_ends_while_metrics_end(self):
        program = ("import sys, pingloom_pages_prometheus\n"
                   "pingloom_pages_prometheus.keep_values('ending', socket=sys.argv[1])\n"
                   "from prometheus_client import Counter, Histogram\n"
                   "jobs, took = Counter('jobs', 'Jobs.', ['i']), Histogram('job_seconds', 'Took.', ['i'])\n"
                   "kept = [jobs.labels(str(i)) for i in range(50)] + [took.labels(str(i)) for i in range(50)]\n"
                   "kept.append(kept)\n"
                   "jobs.clear()\n"
                   "took.remove('7')\n"
                   "del kept[:30]\n")
        done = self.run_program(program)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))

    def test_metrics_of_before_stay_where_they_are(self):
        self.keeper.close()
        early = Counter("early", "Early.", registry=self.registry)
        early.inc(3)
        self.keeper = pingloom_pages_prometheus.keep_values("tested", socket=self.socket)
        late = Counter("late", "Late.", registry=self.registry)
        early.inc()
        late.inc()
        self.assertEqual(list(self.settled(-1).metrics), ["late_total"])
        self.assertEqual((self.sample("early_total"), self.sample("late_total")), (4, 1))

    def test_it_is_called_once_and_without_files(self):
        with self.assertRaisesRegex(RuntimeError, "call keep_values once, where the application begins"):
            pingloom_pages_prometheus.keep_values("again")
        self.keeper.close()
        self.assertIs(prometheus_client.values.ValueClass, prometheus_client.values.MutexValue)
        for name in ("PROMETHEUS_MULTIPROC_DIR", "prometheus_multiproc_dir"):
            with unittest.mock.patch.dict(os.environ, {name: "/tmp"}):
                with self.assertRaisesRegex(RuntimeError, "unset it"):
                    pingloom_pages_prometheus.keep_values("tested")

    def test_after_the_end_metrics_go_on_in_memory(self):
        update_all(self.registry)
        jobs = Counter("more", "More.", registry=self.registry)
        jobs.inc(2)
        before = generate_latest(self.registry)
        self.keeper.close()
        self.assertEqual(generate_latest(self.registry), before)
        jobs.inc()
        self.assertEqual(self.sample("more_total"), 3)
        self.assertIs(type(Counter("fresh", "Fresh.")._value), prometheus_client.values.MutexValue)

    def test_what_has_no_value_is_in_no_page(self):
        Info("build", "Build.", registry=self.registry).info({"version": "1"})
        Enum("state", "State.", states=["idle", "busy"], registry=self.registry).state("busy")
        depth = Gauge("depth", "Depth.", registry=self.registry)
        depth.set_function(lambda: 17)
        Gauge("plain", "Plain.", registry=self.registry).set(1)
        owner = self.settled()
        eventually(lambda: list(owner.living.values()) == ["plain"], 10, "the gauge with a function is gone")
        self.assertEqual(self.sample("depth"), 17)
        self.assertIn("publish() that", self.keeper.errors["depth"])
        self.assertEqual(self.sample("build_info", version="1"), 1)


class Removal(Case):
    def test_label_sets_end_and_begin_anew(self):
        jobs = Counter("jobs", "Jobs.", ["kind"], registry=self.registry)
        took = Histogram("job_seconds", "Took.", ["kind"], buckets=(1,), registry=self.registry)
        size = Summary("job_bytes", "Size.", ["kind"], registry=self.registry)
        for kind in ("a", "b"):
            jobs.labels(kind).inc(5)
            took.labels(kind).observe(2)
            size.labels(kind).observe(3)
        owner = self.settled()
        self.assertEqual(len(owner.living), 6)
        for metric in (jobs, took, size):
            metric.remove("a")
        eventually(lambda: sorted(owner.living.values()) == ["job_bytes", "job_seconds", "jobs_total"], 10,
                   "one set is left")
        jobs.labels("a").inc(1)
        jobs.remove("a")
        jobs.labels("a").inc(2)  # at once
        eventually(lambda: len(owner.living) == 4 and owner.slot("jobs_total", kind="d") == 2, 10, "it is back")
        self.assertEqual(self.sample("jobs_total", kind="a"), 2)
        for metric in (jobs, took, size):
            metric.clear()
        eventually(lambda: not owner.living, 10, "all are gone")
        self.assertEqual(self.keeper.errors, {})

    def test_a_held_child_goes_on_in_memory_when_it_is_made_again(self):
        jobs = Counter("jobs", "Jobs.", ["kind"], registry=self.registry)
        held = jobs.labels("a")
        held.inc(5)
        jobs.remove("a")
        fresh = jobs.labels("a")
        fresh.inc(1)
        held.inc(2)
        self.assertEqual((held._value.get(), fresh._value.get()), (7, 1))
        owner = self.settled()
        eventually(lambda: owner.slot("jobs_total", kind="d") == 1, 10, "the one that was made last is in the page")
        self.assertIn("made again", self.keeper.errors["jobs_total"])
        del held
        gc.collect()
        time.sleep(0.2)
        fresh.inc()
        self.assertEqual(owner.slot("jobs_total", kind="d"), 2, "the end of the former one does not touch it")
        eventually(lambda: len(owner.living) == 1, 10, "there is one")

    def test_threads_make_and_remove_the_same_labels(self):
        jobs = Counter("jobs", "Jobs.", ["kind"], registry=self.registry)

        def work(kind):
            for _ in range(200):
                jobs.labels(kind).inc()
                try:
                    jobs.remove(kind)
                except KeyError:
                    pass  # another thread was first

        threads = [threading.Thread(target=work, args=(kind,)) for kind in "aabb"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        jobs.clear()
        eventually(lambda: self.keeper.pages.status.metrics == 0, 10, "none is left")
        jobs.labels("a").inc(3)
        owner = self.settled()
        eventually(lambda: owner.slot("jobs_total", kind="d") == 3, 10, "a new one is there")

    def test_a_child_in_a_circle_ends_with_the_garbage(self):
        depth = Gauge("depth", "Depth.", ["queue"], registry=self.registry)
        depth.labels("a").itself = depth.labels("a")
        owner = self.settled()
        depth.clear()
        gc.collect()
        eventually(lambda: not owner.living, 10, "it is removed")


class OutsideOfPages(Case):
    def test_what_no_page_takes_counts_in_memory_and_is_told(self):
        long_name, long_label = "long_" + 200 * "x", 300 * "y"
        Counter(long_name, "Too long.", registry=self.registry).inc(2)
        labelled = Gauge("labelled", "Labelled.", ["a"], registry=self.registry)
        labelled.labels(long_label).set(3)
        labelled.labels("short").set(4)
        wide = Histogram("wide", "Wide.", buckets=range(600), registry=self.registry)
        twice = Histogram("twice", "Twice.", buckets=(1, 1, 2), registry=self.registry)
        for histogram in (wide, twice):
            histogram.observe(1.5)
        other = Gauge("labelled", "Labelled.", ["a"], registry=None)
        other.labels("b").set(1)
        conflict = Summary("labelled", "Another kind.", registry=None)
        conflict.observe(5)
        self.assertEqual((self.sample(long_name + "_total"), self.sample("labelled", a=long_label)), (2, 3))
        for name in ("wide", "twice"):
            self.assertEqual((self.sample(name + "_sum"), self.sample(name + "_count")), (1.5, 1))
        self.assertEqual(conflict._sum.get(), 5)
        self.assertEqual(list(self.settled().metrics), ["labelled"])
        self.assertEqual(self.keeper.errors.keys(), {long_name + "_total", "labelled", "wide", "twice"})
        self.assertIn("ascending", self.keeper.errors["twice"])

    def test_where_there_is_no_room(self):
        make = self.keeper.pages.fraction_counter

        def full(*arguments, **more):
            made = make(*arguments, **more)
            self.keeper.pages.last_error = "there are no more pages"
            return made

        with unittest.mock.patch.object(self.keeper.pages, "fraction_counter", full):
            jobs = Counter("jobs", "Jobs.", registry=self.registry)
        jobs.inc(2)
        self.assertEqual(self.sample("jobs_total"), 2)
        self.assertEqual(self.keeper.errors, {"jobs_total": "there are no more pages"})

    def test_an_unknown_type_counts_in_memory(self):
        value = prometheus_client.values.ValueClass("odd", "odd", "odd", (), (), "Odd.")
        value.inc(2)
        self.assertEqual(value.get(), 2)
        self.assertIn("does not know", self.keeper.errors["odd"])

    def test_exemplars_are_in_metrics_only(self):
        jobs = Counter("jobs", "Jobs.", registry=self.registry)
        jobs.inc(2, exemplar={"trace_id": "aaaa"})
        self.assertEqual(jobs._value.get_exemplar()[:2], ({"trace_id": "aaaa"}, 2))
        self.assertEqual(self.settled().definitions["jobs_total"][1], 1 | 8)
        self.assertEqual(self.keeper.errors, {})


class Exemplars(Case):
    exemplars = True

    def test_exemplars_are_in_the_pages(self):
        jobs = Counter("jobs", "Jobs.", registry=self.registry)
        took = Histogram("job_seconds", "Took.", buckets=(0.005, 0.1, 2.5), registry=self.registry)
        wide = Histogram("wide_seconds", "Wide.", buckets=range(480), registry=self.registry)
        Gauge("depth", "Depth.", registry=self.registry).set(1)
        jobs.inc(1.5, exemplar={"trace_id": "aaaa"})
        took.observe(0.05, exemplar={"trace_id": "bbbb"})
        took.observe(7, exemplar={"trace_id": "cccc"})
        wide.observe(7, exemplar={"trace_id": "dddd"})
        owner = self.settled()

        def exemplar(name, slot):
            raw = struct.pack("<16Q", *(owner.slot(name, slot + i) for i in range(16)))
            return raw[42:46], struct.unpack_from("<d", raw, 24)[0]

        self.assertEqual(exemplar("jobs_total", 1), (b"aaaa", 1.5))
        self.assertEqual(exemplar("job_seconds", 5 + 16), (b"bbbb", 0.05))
        self.assertEqual(exemplar("job_seconds", 5 + 3 * 16), (b"cccc", 7))
        self.assertEqual(self.keeper.errors,
                         {"wide_seconds": "wide_seconds: with its exemplars it is larger than a page"})
        self.assertEqual([owner.slot("wide_seconds", i) for i in (0, 1 + 7)], [7_000_000_000, 1], "it goes without")
        self.assertEqual(took._buckets[1].get_exemplar().labels, {"trace_id": "bbbb"})
        jobs.inc(1, exemplar={"trace_id": "x" * 100})
        self.assertIn("96 bytes", self.keeper.errors["jobs_total"])
        self.assertEqual(owner.slot("jobs_total", kind="d"), 2.5)


class Fork(Case):
    exemplars = True

    def setUp(self):
        super().setUp()
        self.jobs = Counter("jobs", "Jobs.", ["kind"], registry=self.registry)
        self.took = Histogram("took_ratio", "Took.", buckets=(1,), registry=self.registry)
        self.outside = Gauge("outside_" + 200 * "x", "Too long.", registry=self.registry)
        self.jobs.labels("a").inc(5, exemplar={"trace_id": "aaaa"})
        self.took.observe(1.1e-7)
        self.outside.set(3)
        self.settled()

    def child(self):
        """Returns what a child sees of itself before and after its updates."""
        def seen():
            return [self.sample("jobs_total", kind="a"), self.sample("took_ratio_count"), self.sample("took_ratio_sum"),
                    self.sample(self.outside._name), self.jobs.labels("a")._value.get_exemplar() is None]
        before = seen()
        self.jobs.labels("a").inc(1)
        self.took.observe(0.5)
        self.outside.inc(0.25)
        return before == [0, 0, 0, 0, True] and seen() == [1, 1, 0.5, 0.25, True]

    def check(self, child_owner):
        self.assertEqual(self.agent.owners[0].slot("jobs_total", kind="d"), 5)
        self.assertEqual(child_owner.slot("jobs_total", kind="d"), 1)
        self.assertEqual([child_owner.slot("took_ratio", i) for i in range(3)], [500_000, 1, 0])
        self.assertEqual([self.sample("jobs_total", kind="a"), self.sample(self.outside._name)], [5, 3])
        self.assertIsNotNone(self.jobs.labels("a")._value.get_exemplar())

    def test_os_fork(self):
        end_reading, end_writing = os.pipe()
        process = os.fork()
        if process == 0:
            good = self.child()
            eventually(lambda: self.keeper.pages.status.known_metrics == 2, 10, "the agent knows the child")
            self.jobs.labels("b").inc()
            self.jobs.remove("b")  # a thread of the child removes it
            eventually(lambda: self.keeper.pages.status.metrics == 2, 10, "it is removed")
            os.write(end_writing, b"good" if good else b"bad")
            time.sleep(600)
        self.addCleanup(os.waitpid, process, 0)
        self.addCleanup(os.kill, process, 9)
        self.assertEqual(os.read(end_reading, 9), b"good")
        self.check(self.agent.owners[1])
        eventually(lambda: sorted(self.agent.owners[1].living.values()) == ["jobs_total", "took_ratio"], 10,
                   "it is gone")

    def test_multiprocessing_while_threads_update(self):
        context = multiprocessing.get_context("fork")
        stop, noise = threading.Event(), Histogram("noise", "Noise.", buckets=(1,), registry=self.registry)

        def update():
            while not stop.is_set():
                noise.observe(0.5)

        threads = [threading.Thread(target=update) for _ in range(3)]
        for thread in threads:
            thread.start()

        def run(results):
            good = self.child()
            noise.observe(0.25)
            results.put(good and self.sample("noise_sum") == 0.25)

        try:
            for _ in range(10):
                results = context.SimpleQueue()
                process = context.Process(target=run, args=(results,))
                process.start()
                self.assertTrue(results.get())
                process.join(10)
                self.assertEqual(process.exitcode, 0)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_the_example(self):
        before = len(self.agent.owners)
        environment = dict(os.environ, PINGLOOM_PAGES_SOCKET=self.socket, PYTHONPATH=str(ROOT / "python"))
        program = ROOT / "examples/pages/prometheus_workers.py"
        subprocess.run([sys.executable, "-B", program, "--seconds", "1.5"], check=True, timeout=60, env=environment)
        owners = [owner for owner in self.agent.owners[before:] if "requests_done_total" in owner.metrics]
        self.assertEqual(len(owners), 3, "each worker has pages of its own")
        for owner in owners:
            self.assertGreater(owner.slot("requests_done_total", kind="d"), 0)
            self.assertGreater(sum(owner.slot("request_seconds", 1 + i) for i in range(6)), 0)


if __name__ == "__main__":
    unittest.main()

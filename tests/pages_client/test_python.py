"""The Python module, with an agent and without."""

import gc
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/integration")]
import pingloom_pages  # noqa: E402
from processes import eventually  # noqa: E402
from scripted_agent import Agent  # noqa: E402


class Python(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pingloom-python-")
        self.addCleanup(folder.cleanup)
        self.socket = folder.name + "/pages.sock"

    def settled(self, pages):
        def all_known():
            status = pages.status
            return status.connected and status.metrics == status.known_metrics
        return eventually(all_known, 10, "every metric is known to the agent")

    def agent(self):
        agent = Agent(self.socket)
        self.addCleanup(agent.stop)
        return agent

    def test_a_callback_before_each_heartbeat_updates_values(self):
        called = threading.Event()
        with pingloom_pages.Pages("tested", socket=self.socket) as pages:
            length = pages.gauge("queue_length", "Jobs that wait.")
            calls = []

            def ask():
                calls.append(len(calls))
                length.set(17)
                if len(calls) == 2:
                    called.set()
            pages.on_heartbeat(ask)
            self.assertTrue(called.wait(10))
            pages.on_heartbeat(None)
            before = len(calls)
            time.sleep(1.2)
            self.assertEqual(len(calls), before)
            with self.assertRaisesRegex(TypeError, "cannot be called"):
                pages.on_heartbeat(17)
            pages.on_heartbeat(ask)  # and it ends with the pages

    def test_a_callback_outlives_what_holds_the_pages_and_ends_with_the_process(self):
        program = ("import gc, time, pingloom_pages\n"
                   f"pages = pingloom_pages.Pages('tested', socket={self.socket!r})\n"
                   "calls = []\n"
                   "pages.on_heartbeat(lambda: calls.append(1))\n"
                   "del pages\n"
                   "gc.collect()\n"
                   "time.sleep(2.2)\n"
                   "print(len(calls) > 0)\n")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, PYTHONPATH=str(ROOT / "python")))
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("True\n", "", 0))

    def test_what_is_removed_is_forgotten_and_its_handles_are_inert(self):
        agent = self.agent()
        with pingloom_pages.Pages("tested", {"service": "x"}, self.socket) as pages:
            made = {"counter": pages.counter, "gauge": pages.gauge, "histogram": pages.histogram,
                    "bounded": lambda *rest: pages.bounded_histogram(rest[0], (1, 2), *rest[1:]),
                    "summary": lambda *rest: pages.summary(rest[0], (0.5,), *rest[1:])}
            handles = {name: make(name, "Help.", {"till": "7", "town": "a"}) for name, make in made.items()}
            other = pages.counter("counter", labels={"till": "8"})
            again = pages.counter("counter", labels={"town": "a", "till": 7})
            pages.info("info", labels={"version": "1"})
            self.assertTrue(self.settled(pages))
            owner = agent.owners[0]
            again.add(3)
            self.assertEqual(len(owner.living), 7)
            for name in made:
                self.assertFalse(pages.remove(name, {"till": "7"}))
                self.assertTrue(pages.remove(name, {"till": 7, "town": "a"}))
            self.assertTrue(pages.remove("info", {"version": "1"}))
            self.assertFalse(pages.remove("info", {"version": "1"}))
            with self.assertRaisesRegex(ValueError, "not a metric's name"):
                pages.remove("no name")
            eventually(lambda: list(owner.living.values()) == ["counter"], 10, "one is left")
            slot = owner.metrics["counter"]
            page = owner.pages[slot[0]]
            before = bytes(page[64:])
            for handle in (handles["counter"], again, handles["gauge"]):
                handle.add(5)
            handles["histogram"].observe(1)
            handles["bounded"].observe(1)
            handles["summary"].set(1, 2, (3,))
            self.assertEqual(bytes(page[64:]), before, "nothing is written where others may be")
            other.add(9)
            pages.counter("counter", labels={"till": "7", "town": "a"}).add(2)
            self.assertTrue(self.settled(pages))
            self.assertEqual(owner.slot("counter"), 2, "it begins anew")
        with self.assertRaises(ValueError):
            pages.remove("counter", {"till": "8"})

    def exemplar(self, owner, name, slot):
        """Labels, value and time of an exemplar that begins at a slot of the metric, whose checksum is right."""
        words = [owner.slot(name, slot + i) for i in range(16)]
        raw = struct.pack("<16Q", *words)
        checksum = 14695981039346656037
        for byte in raw[8:]:
            checksum = (checksum ^ byte) * 1099511628211 % 2**64
        self.assertEqual(words[0], checksum)
        self.assertEqual(words[1] % 2, 0)
        time_ns, value = struct.unpack_from("<Qd", raw, 16)
        strings, at = [], 32
        while at < 128 and (raw[at] or len(strings) % 2):
            strings.append(raw[at + 1:at + 1 + raw[at]].decode())
            at += 1 + raw[at]
        return dict(zip(strings[::2], strings[1::2])), value, time_ns / 1e9

    def test_exemplars_are_behind_their_metrics(self):
        agent = self.agent()
        with pingloom_pages.Pages("tested", socket=self.socket) as pages:
            counter = pages.counter("jobs_total", exemplars=True)
            took = pages.histogram("job_seconds", exemplars=True)
            waits = pages.bounded_histogram("wait_seconds", (0.1, 1), exemplars=True)
            plain = pages.counter("plain_total")
            self.assertTrue(self.settled(pages))
            owner = agent.owners[0]
            trace = {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"}
            began = time.time()
            counter.add(3, trace)
            took.observe(5e-6, {"trace_id": "fast"})
            took.observe(10.0, {"trace_id": "slow"})
            waits.observe(0.5, {"trace_id": "w"})
            plain.add(1, trace)
            labels, value, at = self.exemplar(owner, "jobs_total", 1)
            self.assertEqual((labels, value), (trace, 3))
            self.assertTrue(began - 1 <= at <= time.time() + 1)
            self.assertEqual(self.exemplar(owner, "job_seconds", 99)[:2], ({"trace_id": "fast"}, 5000))
            self.assertEqual(self.exemplar(owner, "job_seconds", 99 + 3 * 16)[:2], ({"trace_id": "slow"}, 1e10))
            self.assertEqual(self.exemplar(owner, "wait_seconds", 4 + 16)[:2], ({"trace_id": "w"}, 0.5))
            waits.put_exemplar(7, {"trace_id": "x"}, 12.5)
            self.assertEqual(self.exemplar(owner, "wait_seconds", 4 + 2 * 16), ({"trace_id": "x"}, 7, 12.5))
            counter.put_exemplar(8, {"trace_id": "y"})
            self.assertEqual(self.exemplar(owner, "jobs_total", 1)[:2], ({"trace_id": "y"}, 8))
            self.assertEqual((owner.slot("jobs_total"), owner.slot("plain_total")), (3, 1))

            took_sum = owner.slot("job_seconds")
            for bad in ({}, {"a": ""}, {"a b": "c"}, {"a": "x" * 200}, {"a": None}, {None: "a"}, {"a": "\ud800"}, "no labels"):
                for update in (counter.add, took.observe, waits.observe):
                    with self.assertRaisesRegex(ValueError, "no exemplar is kept, though the value counts: ."):
                        update(1, bad)
            self.assertEqual(owner.slot("jobs_total"), 3 + 8)
            self.assertEqual(owner.slot("job_seconds"), took_sum + 8 * 10**9)
            self.assertEqual([owner.slot("wait_seconds", 1 + i) for i in range(3)], [0, 1 + 8, 0])
            with self.assertRaisesRegex(ValueError, "though the value counts: .* more than 96 bytes"):
                counter.add(1, {"a": "x" * 200})
            self.assertEqual(self.exemplar(owner, "jobs_total", 1)[:2], ({"trace_id": "y"}, 8))
            page = owner.pages[owner.metrics["jobs_total"][0]]
            self.assertTrue(pages.remove("jobs_total"))
            before = bytes(page[64:])
            counter.add(1, {"trace_id": "late"})
            self.assertEqual(bytes(page[64:]), before, "nothing is written where others may be")

    def test_handles_become_inert_under_the_interpreters_lock(self):
        with pingloom_pages.Pages("tested", socket="/nonexistent") as pages:
            handles = [pages.counter("a_total", exemplars=True), pages.gauge("b"), pages.histogram("c_seconds", exemplars=True),
                       pages.bounded_histogram("d_seconds", (1, 2), exemplars=True), pages.summary("e", (0.5,))]
            with unittest.mock.patch.object(pingloom_pages, "_slow", None):  # its calls release the lock
                for handle in handles:
                    handle._make_inert()
                    self.assertIsInstance(handle._inert, pingloom_pages._fast._FuncPtr)
            for handle in handles:
                if hasattr(handle, "_exemplars"):
                    self.assertEqual((handle._exemplars.slots, handle._exemplars.count), (None, 0))
            handles[3].observe(1.5, {"a": "b"})
            handles[4].set(1, 1, (1,))

    def test_values_are_where_the_agent_reads_them(self):
        agent = self.agent()
        with pingloom_pages.Pages("tested", {"service": "x"}, self.socket) as pages:
            counter = pages.counter("jobs_total", "Jobs.", {"kind": "a"})
            gauge = pages.gauge("depth")
            histogram = pages.histogram("job_seconds")
            pages.info("tested_info", labels={"version": "1"})
            counter.add()
            counter.add(41)
            gauge.set(2.5)
            gauge.add(-1)
            histogram.observe(0.001)
            with histogram.time():
                time.sleep(0.01)
            histogram.observe(-1)
            self.assertTrue(self.settled(pages))
            owner = agent.owners[0]
            self.assertEqual(owner.slot("jobs_total"), 42)
            self.assertEqual(owner.slot("depth", kind="d"), 1.5)
            self.assertGreaterEqual(owner.slot("job_seconds"), 11_000_000)
            buckets = [owner.slot("job_seconds", 1 + i) for i in range(98)]
            self.assertEqual(sum(buckets), 3)
            self.assertEqual(buckets[0], 1)
            self.assertEqual(owner.header("jobs_total")[6:], (0, 1 + 1 + 99, 4))
            again = pages.counter("jobs_total", "Jobs.", {"kind": "a"})
            again.add()
            self.assertEqual(owner.slot("jobs_total"), 43)

    def test_a_summary_is_set_at_once(self):
        agent = self.agent()
        with pingloom_pages.Pages("tested", socket=self.socket) as pages:
            summary = pages.summary("wait_seconds", (0.5, 0.99), "Waits.")
            count_only = pages.summary("count_only")
            summary.set(7, 1.75, (0.25, float("nan")))
            count_only.set(3, 4)
            with self.assertRaisesRegex(ValueError, "1 values for 2 quantiles"):
                summary.set(8, 2, (0.25,))
            for wrong in ((0.9, 0.5), (1.5,), (0.1,) * 33):
                with self.assertRaises(ValueError):
                    pages.summary("wrong", wrong)
            with self.assertRaisesRegex(ValueError, "no label 'quantile'"):
                pages.summary("wrong", (0.5,), labels={"quantile": "0.5"})
            self.assertTrue(self.settled(pages))
            owner = agent.owners[0]
            self.assertEqual({name: metric[3] for name, metric in owner.metrics.items()}, {"wait_seconds": 5, "count_only": 5})
            self.assertEqual((owner.slot("wait_seconds"), owner.slot("count_only")), (7, 3))
            self.assertEqual([owner.slot("wait_seconds", i, kind="d") for i in (1, 2)], [1.75, 0.25])
            self.assertEqual(str(owner.slot("wait_seconds", 3, kind="d")), "nan")
            self.assertEqual(owner.slot("count_only", 1, kind="d"), 4)
        summary.set(1, 1, (1, 1))  # an inert handle harms nobody

    def test_labels_and_a_name_come_from_the_environment(self):
        agent = self.agent()
        variables = {"OTEL_RESOURCE_ATTRIBUTES": "k8s.pod.name=queue-0,kind=environment", "OTEL_SERVICE_NAME": "named"}
        with unittest.mock.patch.dict(os.environ, variables), pingloom_pages.Pages(socket=self.socket) as pages:
            pages.counter("jobs_total", labels={"kind": "a"})
            self.assertTrue(self.settled(pages))
        self.assertEqual(agent.owners[0].registration, b"\x05named\x00")
        definition = agent.owners[0].definitions["jobs_total"]
        self.assertTrue(definition.endswith(b"\x0ck8s_pod_name\x07\x00queue-0\x04kind\x01\x00a"), definition)

    def test_groups(self):
        agent = self.agent()
        with pingloom_pages.Pages("tested", socket=self.socket) as pages:
            group = pages.group()
            one, two = (pages.counter(name, group=group) for name in ("one", "two"))
            self.assertTrue(self.settled(pages))
            owner = agent.owners[0]
            with group.update():
                one.add()
                self.assertEqual(owner.header("one")[6] % 2, 1)
                two.add()
            self.assertEqual(owner.header("one")[6], 2)
            with self.assertRaises(RuntimeError), group.update():
                raise RuntimeError
            self.assertEqual(owner.header("one")[6], 4)

    def test_mistakes(self):
        with self.assertRaises(ValueError):
            pingloom_pages.Pages("x" * 65)
        pages = pingloom_pages.Pages("tested", socket=self.socket)
        for wrong in ({"name": "no name"}, {"name": "a", "labels": {"b c": "d"}}, {"name": "a", "help": "x" * 513}):
            with self.assertRaises(ValueError):
                pages.counter(**wrong)
        counter = pages.counter("a")
        with self.assertRaises(ValueError):
            pages.gauge("a")
        for wrong, error, advice in ((1.5, TypeError, "smaller unit"), ("1", TypeError, "not '1'"),
                                     (2**64, ValueError, "larger unit"), (-1, ValueError, "use a gauge")):
            with self.assertRaisesRegex(error, advice):
                counter.add(wrong)
        counter.add(True)
        for labels in ({"kind": None}, {None: "mail"}):
            with self.assertRaisesRegex(ValueError, "is None; give it a text, or leave the label out"):
                pages.counter("b", labels=labels)
            with self.assertRaisesRegex(ValueError, "is None"):
                pingloom_pages.Pages("tested", labels)
        group = pages.group()
        for i in range(504):
            pages.counter(f"c{i}", group=group)
        pages.counter("one_too_many", group=group).add()
        self.assertIn("full", pages.last_error)
        pages.close()
        pages.close()
        counter.add()  # counts for nobody, harms nobody
        del pages
        gc.collect()
        counter.add()

    def test_forked_children_count_for_themselves(self):
        agent = self.agent()
        with pingloom_pages.Pages("tested", socket=self.socket) as pages:
            counter = pages.counter("jobs_total")
            counter.add(5)
            self.assertTrue(self.settled(pages))
            context = multiprocessing.get_context("fork")
            ready, go = context.Event(), context.Event()

            def child():
                counter.add(1)
                if self.settled(pages):
                    ready.set()
                go.wait(10)

            process = context.Process(target=child)
            process.start()
            self.assertTrue(ready.wait(10))
            self.assertEqual([owner.slot("jobs_total") for owner in agent.owners], [5, 1])
            go.set()
            process.join()
            self.assertEqual(process.exitcode, 0)

    def test_threads_lose_nothing_while_the_agent_comes_late(self):
        with pingloom_pages.Pages("tested", socket=self.socket) as pages:
            counter, gauge = pages.counter("jobs_total"), pages.gauge("depth")

            def work():
                for _ in range(5000):
                    counter.add()
                    gauge.add(0.5)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            agent = self.agent()
            for thread in threads:
                thread.join()
            self.assertTrue(self.settled(pages))
            self.assertEqual(agent.owners[0].slot("jobs_total"), 20000)
            self.assertEqual(agent.owners[0].slot("depth", kind="d"), 10000)

    def test_the_examples(self):
        agent = self.agent()
        queue = [sys.executable, "-B", ROOT / "examples/pages/queue.py", "--seconds", "2", "--socket", self.socket]
        orders = [pathlib.Path(os.environ["PINGLOOM_BUILD"]) / "bin/pages_orders", "2"]
        running = [subprocess.Popen(command, env=dict(os.environ, PINGLOOM_PAGES_SOCKET=self.socket))
                   for command in (queue, orders)]
        self.assertEqual([process.wait(30) for process in running], [0, 0])
        metrics = {name: owner for owner in agent.owners for name in owner.metrics}
        for name in ("queue_jobs_total", "shop_orders_total", "shop_items_total"):
            self.assertGreater(metrics[name].slot(name), 0, name)
        for name in ("queue_waiting_jobs", "shop_items_total"):
            self.assertEqual(metrics[name].header(name)[6] % 2, 0, "no update is left begun")
        self.assertIn("queue_job_seconds", metrics)
        self.assertIn("shop_order_seconds", metrics)


if __name__ == "__main__":
    unittest.main()

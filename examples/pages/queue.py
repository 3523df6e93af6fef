#!/usr/bin/env python3
"""A job queue as an example of metric pages in Python: workers take jobs of two kinds, some of which fail.

It runs until it is interrupted, or for --seconds."""

import argparse
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import pingloom_pages  # noqa: E402


class Queue:
    """Jobs come in waves, and every kind has its own metrics."""

    def __init__(self, pages):
        self.lock = threading.Lock()
        self.waiting = []
        self.come = {kind: pages.counter("queue_jobs_total", "Jobs that came.", {"kind": kind}) for kind in ("mail", "resize")}
        self.failed = {kind: pages.counter("queue_failures_total", "Jobs that failed.", {"kind": kind}) for kind in self.come}
        self.took = {kind: pages.histogram("queue_job_seconds", "How long jobs took.", {"kind": kind}) for kind in self.come}
        # These are read together, because their sum is the number of unfinished jobs.
        self.state = pages.group()
        self.depth = pages.gauge("queue_waiting_jobs", "Jobs that nobody has taken yet.", group=self.state)
        self.busy = pages.gauge("queue_busy_workers", "Workers that have a job.", group=self.state)

    def put(self, kind):
        self.come[kind].add()
        with self.lock, self.state.update():
            self.waiting.append(kind)
            self.depth.set(len(self.waiting))

    def take(self):
        with self.lock:
            if not self.waiting:
                return None
            kind = self.waiting.pop(0)
            with self.state.update():
                self.depth.set(len(self.waiting))
                self.busy.add(1)
            return kind

    def done(self):
        with self.lock, self.state.update():
            self.busy.add(-1)


def work(queue, stop):
    while not stop.is_set():
        kind = queue.take()
        if kind is None:
            stop.wait(0.01)
            continue
        with queue.took[kind].time():
            time.sleep(random.expovariate(1 / 0.004 if kind == "mail" else 1 / 0.015))
        if random.random() < 0.02:
            queue.failed[kind].add()
        queue.done()


def feed(queue, stop, seconds):
    end = time.monotonic() + seconds if seconds else float("inf")
    while time.monotonic() < end and not stop.is_set():
        wave = 60 + 40 * (time.time() % 20 < 5)  # jobs a second; a rush every twenty seconds
        queue.put("mail" if random.random() < 0.7 else "resize")
        stop.wait(random.expovariate(wave))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--socket", help="the agent's socket; default: $PINGLOOM_PAGES_SOCKET, or the library's default")
    parser.add_argument("--seconds", type=float, help="end by itself")
    parser.add_argument("--workers", type=int, default=3)
    options = parser.parse_args()
    with pingloom_pages.Pages("queue", {"service": "queue"}, options.socket) as pages:
        pages.info("queue_info", "What this is.", {"version": "1.0"})
        queue, stop = Queue(pages), threading.Event()
        workers = [threading.Thread(target=work, args=(queue, stop)) for _ in range(options.workers)]
        for worker in workers:
            worker.start()
        try:
            feed(queue, stop, options.seconds)
        except KeyboardInterrupt:
            pass
        stop.set()
        for worker in workers:
            worker.join()


if __name__ == "__main__":
    main()

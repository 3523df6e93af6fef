"""What the programs weigh, watched once a second on a thread of its own: memory, descriptors, and what
agents say they have sent."""

import collections
import pathlib
import threading
import time

Said = collections.namedtuple("Said", "at incarnation pings dropped")


def resident(pid, which="VmRSS"):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(which + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"process {pid} has ended")


def descriptors(pid):
    return sum(1 for _ in pathlib.Path(f"/proc/{pid}/fd").iterdir())


class Vitals:
    INTERVAL = 1.0
    KEPT = 16  # of what each agent said

    def __init__(self, world):
        self._world = world
        self._lock = threading.Lock()
        self._peaks = collections.Counter()
        self._said = collections.defaultdict(lambda: collections.deque(maxlen=self.KEPT))
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()

    def stop(self):
        self._ends.set()
        self._thread.join(30)

    def _run(self):
        while not self._ends.wait(self.INTERVAL):
            for name, pid in self._world.pids():
                try:
                    self._peak(name.rstrip("-0123456789"), resident(pid))
                except OSError:
                    pass
            for index in range(len(self._world.addresses)):
                try:
                    self._listen(index)
                except (OSError, KeyError, ValueError):
                    pass

    def _peak(self, kind, bytes_now):
        with self._lock:
            self._peaks[kind] = max(self._peaks[kind], bytes_now)

    def _listen(self, index):
        before = time.monotonic()
        process = self._world.agents[index].pid
        incarnation = self._world.incarnation(index)
        metrics = self._world.agent_metrics(index)
        if self._world.agents[index].pid != process:
            return
        pings = sum(value for name, value in metrics.items() if name.startswith("pingloom_agent_pings_sent_total"))
        dropped = sum(metrics[f"pingloom_agent_{name}_total"]
                      for name in ("spool_dropped_batches", "windows_dropped", "spool_damaged_records"))
        with self._lock:
            self._said[index, incarnation].append(Said(before, incarnation, int(pings), int(dropped)))

    def take_peaks(self):
        """{"controller": bytes, "agent": bytes, ...}: the largest since the last call."""
        with self._lock:
            peaks, self._peaks = dict(self._peaks), collections.Counter()
        return peaks

    def said(self):
        """{(agent, incarnation): [Said]}"""
        with self._lock:
            return {name: list(said) for name, said in self._said.items()}

    def forget(self, names):
        with self._lock:
            for name in names:
                self._said.pop(name, None)

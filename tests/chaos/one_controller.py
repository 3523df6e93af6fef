"""A world with one controller, its own Redis, and its history in a file, on a small disk."""

from accounting import SqliteBlocks
from mesh import free_port
from processes import children
from world import World

DISK = 64 << 20


class OneController(World):
    def __init__(self, case, hosts, seed, protocols):
        super().__init__(case, hosts, seed, protocols)
        self.give_a_small_disk(self.controller_dir(), DISK)
        self.controller_environment = None
        self.tap_port = free_port()
        for index in range(hosts):
            self.agent_options[index] = {"controller": f"{self.home}:{self.tap_port}"}

    def controller_dir(self):
        return self.directory / "controller"

    def history_file(self):
        return self.controller_dir() / "history.sqlite"

    def ledger(self):
        return SqliteBlocks(self.history_file())

    def start(self):
        self.run_tap("tap", f"{self.home}:{self.tap_port}", f"{self.home}:{self.control_port}")
        super().start()
        return self.begin()

    def run(self, name, *arguments, environment=None, inside=None):
        if name == "controller":
            environment = self.controller_environment
        return super().run(name, *arguments, environment=environment, inside=inside)

    def redis_pid(self):
        return children(self.controller.pid, "redis-server")[0]

    def pids(self):
        return ([("controller", self.controller.pid)] + super().pids()
                + [("redis", pid) for pid in children(self.controller.pid, "redis-server")])

    def unconnected(self):
        status = self.status()
        wrong = []
        if not status["redis"]["connected"]:
            wrong.append("Redis is not connected")
        if not status["history"]["writing"]:
            wrong.append("history is not written")
        return wrong + self.agents_amiss()

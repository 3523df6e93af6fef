"""Disks that are full. Each program's state is on a small file system of its own."""

import signal
import time

import namespaces
from faults import fault
from processes import eventually

NAME = "filled-by-chaos"


@fault("the disk with the controller's history is full, until the controller says so and 1 to 8 s more",
       "agents keep their windows and deliver them in order later; the newest are shown at once",
       "`history.writing` false and the reason in /api/v1/status, `pingloom_controller_history_writing` 0, one log line",
       needs=("disks",))
def controller_disk_full(world):
    # The write-ahead log has room of its own. It starts empty after an orderly shutdown.
    assert world.controller.stop(5) == 0
    world.start_controller()
    path = world.controller_dir() / NAME
    namespaces.fill(path)
    eventually(lambda: not world.status()["history"]["writing"], 30, "the controller says that history is not written")
    time.sleep(world.random.choice([1, 8]))
    path.unlink()
    world.lifted()


@fault("an agent's disk is full for 6 s, during 4 of which the controller hangs",
       "its batches wait in memory, 4 MiB at most; a kill -9 of the agent meanwhile would lose them",
       "`pingloom_agent_spool_write_errors_total`, one log line of the agent", needs=("disks",))
def agent_disk_full(world):
    path = world.state_dir(world.victim()) / NAME
    namespaces.fill(path)
    world.controller.signal(signal.SIGSTOP)
    time.sleep(4)
    world.controller.signal(signal.SIGCONT)
    time.sleep(2)
    path.unlink()
    world.lifted()

"""The controller's wall clock is set while it runs. CLOCK_MONOTONIC goes on, as when an administrator or a time
daemon sets the clock. A preloaded library (wall_clock.c) shows that clock to the controller and its Redis; the
agents need no wall clock but at their start, and the time stamps of their packets are the kernel's."""

import struct
import time

from faults import fault
from processes import binary

KEPT = "none is lost: window numbers only grow; until a clock that was set back has caught up, windows are twice as long"
SEEN = "rows carry the new time, or the old one until the clock has caught up"
LIBRARY = "libchaos_wall_clock.so"


def offset_file(world):
    return world.directory / "clock"


def set_clock(world, seconds):
    with open(offset_file(world), "r+b") as file:  # in place: it is mapped
        file.write(struct.pack("=q", seconds))


def under_another_clock(world):
    """Restarts the controller with a clock that set_clock() sets."""
    offset_file(world).write_bytes(bytes(8))
    world.controller_environment = {"LD_PRELOAD": binary(LIBRARY), "PINGLOOM_TEST_CLOCK": str(offset_file(world))}
    restart(world)


def restart(world):
    before = world.newest()
    world.controller.kill()
    world.start_controller()
    end = time.monotonic() + 60
    while world.amiss(before):
        assert time.monotonic() < end, world.amiss(before)
        time.sleep(0.2)


def true_clock(world):
    """And agents that know no other: their windows would be ahead of it until it has caught up."""
    world.controller_environment = None
    world.controller.kill()
    for index in range(len(world.addresses)):
        world.kill_agent(index)
    world.start_controller()
    for index in range(len(world.addresses)):
        world.start_agent(index)


def step(world, seconds):
    under_another_clock(world)
    set_clock(world, seconds)
    world.lifted()


@fault("the controller's clock is set 30 s ahead", KEPT, SEEN, needs=(LIBRARY,), undo=true_clock)
def clock_ahead(world):
    step(world, 30)


@fault("the controller's clock is set back by 30 s", KEPT, SEEN, needs=(LIBRARY,), undo=true_clock)
def clock_back(world):
    step(world, -30)


@fault("the controller's clock is set an hour ahead", KEPT, SEEN, needs=(LIBRARY,), undo=true_clock)
def clock_hour_ahead(world):
    step(world, 3600)


@fault("the controller's clock is set back by an hour", KEPT, SEEN, needs=(LIBRARY,), undo=true_clock)
def clock_hour_back(world):
    step(world, -3600)


@fault("the controller's clock is set back by an hour, and the controller killed and started again", KEPT, SEEN, needs=(LIBRARY,),
       undo=true_clock)
def clock_back_and_killed(world):
    under_another_clock(world)
    set_clock(world, -3600)
    time.sleep(3)
    world.controller.kill()
    world.start_controller(wait=False)
    world.lifted()

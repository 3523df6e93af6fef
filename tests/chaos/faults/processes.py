"""Programs that are killed, or hang."""

import signal
import time

from faults import fault

KEPT = "the agent's spool keeps the closed windows; the open ones, up to 2.5 s here, are lost"


@fault("kill -9 of an agent, started again after 0 to 3 s", KEPT,
       "its row and column: `loss` or `refused`, after 4 s `agent-down` and `stale`")
def agent_killed(world):
    index = world.victim()
    world.kill_agent(index)
    time.sleep(world.random.choice([0, 0.3, 3]))
    world.start_agent(index)
    world.lifted()


@fault("an agent that ends and is started again, ten times in a row", KEPT,
       "as above; the log names each start", needs=())
def agent_flapping(world):
    index = world.victim()
    for _ in range(10):
        world.kill_agent(index)
        world.start_agent(index)
        time.sleep(world.random.uniform(0.05, 0.8))
    world.lifted()


@fault("SIGSTOP of an agent for 1 to 8 s", "nothing is measured meanwhile; replies that came late are `late`, never answered ones",
       "`stalled` anomalies, then as for a killed one; `pingloom_agent_stalls_total`")
def agent_stopped(world):
    agent = world.agents[world.victim()]
    agent.signal(signal.SIGSTOP)
    time.sleep(world.random.choice([1, 3, 8]))
    agent.signal(signal.SIGCONT)
    world.lifted()


@fault("kill -9 of all agents at once", KEPT, "every pair `agent-down` or `stale`")
def agents_killed(world):
    for index in range(len(world.addresses)):
        world.kill_agent(index)
    for index in range(len(world.addresses)):
        world.start_agent(index)
    world.lifted()


@fault("kill -9 of the controller, started again after 0 to 6 s",
       "agents continue to probe and spool; committed rows stay, the others are sent again and counted once",
       "no answer from HTTP; /readyz 503 until Redis and the pinglist are in force")
def controller_killed(world):
    world.controller.kill()
    time.sleep(world.random.choice([0, 1, 6]))
    world.start_controller(wait=False)
    world.lifted()


@fault("kill -9 of the controller while it commits, five times in a row", "as above",
       "as above")
def controller_flapping(world):
    for _ in range(5):
        world.controller.kill()
        world.start_controller()
        time.sleep(world.random.uniform(0, 1.5))
    world.lifted()


@fault("SIGSTOP of the controller for 1 to 8 s", "agents keep what is not acknowledged and wait; after 30 s they reconnect",
       "no answer from HTTP; agents' `pingloom_agent_spool_batches`")
def controller_stopped(world):
    world.controller.signal(signal.SIGSTOP)
    time.sleep(world.random.choice([1, 4, 8]))
    world.controller.signal(signal.SIGCONT)
    world.lifted()


@fault("kill -9 of the controller, its Redis and all agents at once", KEPT, "everything comes back by itself")
def everything_killed(world):
    world.controller.kill()
    agents_killed(world)
    world.start_controller(wait=False)
    world.lifted()


@fault("SIGTERM of everything, one after the other", "open windows are closed early and delivered",
       "exit code 0, each within 5 s")
def everything_restarted(world):
    for index in range(len(world.addresses)):
        assert world.agents[index].stop(5) == 0
        world.start_agent(index)
    assert world.controller.stop(5) == 0
    world.start_controller(wait=False)
    world.lifted()

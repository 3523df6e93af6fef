"""Several controllers that share a history in PostgreSQL and a Redis Cluster: any of them, what they share, or the network
between them fails. Recovery counts from the kill, because what is gone stays away until all is well without it."""

import os
import signal
import time

import fabric
from faults import fault
from processes import eventually

NEEDS = ("fabric", "several")
KEPT = "agents keep what is not acknowledged and send it to their next controller; each batch counts once"
WITHOUT = "agents continue to probe and spool until the history is written again"
LEASE = 3.0
LEADS = 5.0  # seconds until another controller leads
HOME = 10.0  # seconds until the agents of a controller that is gone are home and their rows committed


def start_missing(world):
    for one in world.controllers:
        if not one.process.running():
            one.start()


@fault("kill -9 of the controller that leads; it stays away until all is well", KEPT,
       "`pingloom controllers` names another leader within 5 s", needs=NEEDS, undo=start_missing, goal=HOME)
def leader_killed(world):
    leader = world.leader()
    world.lifted()
    leader.process.kill()
    eventually(world.leader, 60, "another one leads")
    took = time.monotonic() - world.lifted_at
    assert took <= LEADS or world.shared, f"another one leads after {took:.1f} s"


@fault("kill -9 of a controller that does not lead; it stays away until all is well", KEPT,
       "`pingloom controllers` shows one less after 3 s", needs=NEEDS, undo=start_missing, goal=HOME)
def follower_killed(world):
    leader = world.leader()
    victim = world.random.choice([one for one in world.controllers if one is not leader])
    world.lifted()
    victim.process.kill()


@fault("kill -9 of two of three controllers at once", KEPT, "as above", needs=NEEDS, undo=start_missing, goal=HOME)
def all_but_one_killed(world):
    survivor = world.random.choice(world.controllers)
    world.lifted()
    for one in world.controllers:
        if one is not survivor:
            one.process.kill()


@fault("kill -9 of all controllers, started again after 0 to 6 s", WITHOUT, "no answer from HTTP", needs=NEEDS, goal=HOME)
def controllers_killed(world):
    for one in world.controllers:
        one.process.kill()
    time.sleep(world.random.choice([0, 1, 6]))
    for one in world.controllers:
        one.start(wait=False)
    world.lifted()


@fault("SIGSTOP of the controller that leads for 6 s", KEPT + "; it commits nothing when it wakes, and joins again",
       "another leader; `pingloom_controller_cluster_sessions_lost_total`", needs=NEEDS, goal=HOME)
def leader_stopped(world):
    leader = world.leader()
    leader.process.signal(signal.SIGSTOP)
    time.sleep(6)
    leader.process.signal(signal.SIGCONT)
    world.lifted()
    eventually(lambda: leader.metrics()["pingloom_controller_cluster_sessions_lost_total"] >= 1, 20, "it has lost its session")


def away(world, one):
    """What a controller without the database says."""
    return one.get("/readyz").status == 503 and one.role() == "outside"


@fault("a controller with half of the agents is cut off from the other two, the database and Redis for 12 s", WITHOUT,
       "it says that it is outside of the cluster, commits nothing, and shows its own agents; the others lead and go on",
       needs=NEEDS, goal=HOME)
def controllers_split(world):
    alone = world.random.choice(world.controllers)
    half = len(world.addresses) // 2
    begin = time.monotonic()
    with fabric.apart({*range(half), alone.index}, world.network.size()):
        eventually(lambda: away(world, alone), 12, "the minority says so")
        eventually(lambda: world.leader() is not alone, 12, "the majority leads")
        time.sleep(max(0.0, begin + 2 * LEASE - time.monotonic()))
        before = world.written_by(alone)
        time.sleep(max(2.0, begin + 12 - time.monotonic()))
        assert world.written_by(alone) == before, "the minority commits"
    world.lifted()


@fault("kill -9 of PostgreSQL's primary; its replica, which has all that was committed, is promoted after 2 s", WITHOUT,
       "`history.writing` false, /readyz 503, nobody leads until the replica is promoted", needs=NEEDS,
       undo=lambda world: world.add_replica())
def database_killed(world):
    world.primary.kill()
    time.sleep(2)
    world.promote()
    world.lifted()


@fault("SIGSTOP of PostgreSQL's primary for 6 s", WITHOUT, "as above", needs=NEEDS, goal=HOME)
def database_stopped(world):
    group = world.primary.process.pid
    os.killpg(group, signal.SIGSTOP)
    time.sleep(6)
    os.killpg(group, signal.SIGCONT)
    world.lifted()


@fault("kill -9 of a master of the Redis Cluster, whose replica the cluster promotes after about 2 s",
       "none is lost: Redis is a view; the rows of this master's slots are written again",
       "/readyz 503 of all, `redis.connected` false; rows of the other masters go on", needs=NEEDS,
       undo=lambda world: world.redis_cluster.start_missing())
def redis_master_killed(world):
    world.redis_cluster.fail_over(world.random.randrange(3))
    world.lifted()

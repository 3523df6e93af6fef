"""A Redis that ends, refuses or does not answer. The controller's history and its own view need none."""

import os
import signal
import time

from faults import fault

KEPT = "none is lost: Redis is a view; it is rewritten when it works"
SEEN = "/readyz 503, `redis.connected` false in /api/v1/status, `pingloom status` exits 1; HTTP stays live"


def ask(world, *words):
    answer = world.ask_redis(*words)
    assert answer == "OK", answer


@fault("kill -9 of redis-server (the controller's own)", KEPT, SEEN)
def redis_killed(world):
    os.kill(world.redis_pid(), signal.SIGKILL)
    world.lifted()


@fault("SIGSTOP of redis-server for 1 to 6 s", KEPT, SEEN)
def redis_stopped(world):
    pid = world.redis_pid()
    os.kill(pid, signal.SIGSTOP)
    time.sleep(world.random.choice([1, 6]))
    os.kill(pid, signal.SIGCONT)
    world.lifted()


@fault("every command takes 400 ms, for 8 s", KEPT, "rows in Redis are late, or as above")
def redis_slow(world):
    pid, until = world.redis_pid(), time.monotonic() + 8
    while time.monotonic() < until:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.4)
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.005)
    world.lifted()


@fault("read-only: a replica of a master that is not there, for 6 s", KEPT, SEEN + "; the log has Redis' own words")
def redis_read_only(world):
    ask(world, "REPLICAOF", "127.0.0.1", "9")
    time.sleep(6)
    ask(world, "REPLICAOF", "NO", "ONE")
    world.lifted()


@fault("out of memory: maxmemory below what is used, for 6 s", KEPT, SEEN + "; the log has Redis' own words")
def redis_out_of_memory(world):
    ask(world, "CONFIG", "SET", "maxmemory", "1")
    time.sleep(6)
    ask(world, "CONFIG", "SET", "maxmemory", "0")
    world.lifted()

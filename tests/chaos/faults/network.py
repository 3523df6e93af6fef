"""Networks that are cut and heal: a host's port at the bridge that joins all hosts."""

import time

import fabric
import private_network
from faults import fault

KEPT = "agents continue to probe and spool what the controller does not take"


def port(index, state):
    fabric.ip("link", "set", f"port{index}", state)


@fault("a host's link is down for 2 to 12 s", KEPT,
       "its row and column: `loss` or `unreachable`, then `agent-down` and `stale` while the controller does not hear it",
       needs=("fabric",))
def link_cut(world):
    index = world.victim()
    port(index, "down")
    time.sleep(world.random.choice([2, 6, 12]))
    port(index, "up")
    world.lifted()


@fault("the controller is cut off from all agents for 2 to 12 s, which reach each other", KEPT,
       "every pair `stale`; agents' log: no answer from the controller", needs=("fabric",))
def controller_cut(world):
    private_network.nft("add table inet chaos",
                        "add chain inet chaos out { type filter hook output priority 0; }",
                        "add chain inet chaos in { type filter hook input priority 0; }",
                        'add rule inet chaos out oifname "fabric" tcp sport %d drop' % world.tap_port,
                        'add rule inet chaos in iifname "fabric" tcp dport %d drop' % world.tap_port)
    time.sleep(world.random.choice([2, 6, 12]))
    private_network.nft("delete table inet chaos")
    world.lifted()


@fault("half of the hosts do not reach the other half for 6 s; all reach the controller", KEPT,
       "a block of the heatmap: `loss`, then `down`", needs=("fabric",))
def split(world):
    with fabric.apart(range(len(world.addresses) // 2), len(world.addresses)):
        time.sleep(6)
    world.lifted()

"""Makes and removes the network namespaces of a fabric."""
import json
import os
import pathlib
import subprocess

from layout import FabricError, Layout

PREFIX = "plf-"
MANAGEMENT = "management"
STATE = pathlib.Path("/run/pingloom-fabric.json")


def run(command, text=None, check=True):
    done = subprocess.run(command, input=text, text=True, capture_output=True)
    if check and done.returncode != 0:
        raise FabricError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done


def batch(node, lines):
    """Runs many `ip` commands in one process; outside of all namespaces if there is no node."""
    where = ["-n", PREFIX + node] if node else []
    run(["ip", *where, "-batch", "-"], "\n".join(lines) + "\n")


def inside(node, command):
    return ["ip", "netns", "exec", PREFIX + node, *command]


def names():
    """The fabric's namespaces that exist, without their prefix."""
    listed = run(["ip", "netns", "list"], check=False).stdout.split("\n")
    found = [line.split()[0] for line in listed if line.strip()]
    return [name.removeprefix(PREFIX) for name in found if name.startswith(PREFIX)]


def save(layout):
    STATE.write_text(json.dumps(layout.__dict__))


def load():
    if not STATE.exists():
        raise FabricError("there is no fabric; build one with: scripts/fabric.sh up 4x4x8")
    return Layout(**json.loads(STATE.read_text()))


def down():
    for name in names():
        run(["ip", "netns", "del", PREFIX + name], check=False)
    STATE.unlink(missing_ok=True)


def check_permission():
    if os.geteuid() != 0:
        raise FabricError("namespaces need root: run it as root, or inside `unshare -r -n -m` with a"
                          " tmpfs on /run (scripts/demo.sh --fabric does that by itself)")
    done = run(["ip", "netns", "list"], check=False)
    if done.returncode != 0:
        raise FabricError(f"this system does not permit network namespaces: {done.stderr.strip()}")


def set_values(node, settings):
    script = "; ".join(f"echo {value} > /proc/sys/net/{key} 2>/dev/null" for key, value in settings)
    run(inside(node, ["sh", "-c", script + "; true"]))


def _hash_by_ports(family):
    """Policy 1 trusts a hash that the sending host's kernel has left with the packet, and each TCP
    socket has another one. Policy 3, where the kernel has it, looks at the packet: addresses,
    protocol and ports."""
    return [(f"{family}/fib_multipath_hash_policy", 1), (f"{family}/fib_multipath_hash_fields", 0x37),
            (f"{family}/fib_multipath_hash_policy", 3)]


def _switch_settings(node, icmp_limits, inbound):
    # Without a seed of its own each switch would choose alike, and some links would stay unused.
    seed = 1 + sum(ord(letter) * 7919 ** place for place, letter in enumerate(node)) % 0x7ffffffe
    settings = [("ipv4/ip_forward", 1), ("ipv6/conf/all/forwarding", 1),
                *_hash_by_ports("ipv4"), *_hash_by_ports("ipv6"),
                ("ipv4/fib_multipath_hash_seed", seed),
                ("ipv4/icmp_errors_use_inbound_ifaddr", 1 if inbound else 0)]
    if not icmp_limits:
        settings += [("ipv4/icmp_ratelimit", 0), ("ipv4/icmp_msgs_per_sec", 1000000),
                     ("ipv6/icmp/ratelimit", 0)]
    return settings


def _add_link(per_node, layout, link):
    lower, upper = per_node[link.lower], per_node[link.upper]
    lower.append(f"link add name {link.upper} type veth peer name {link.lower} "
                 f"netns {PREFIX}{link.upper}")
    extra = " nodad" if layout.ipv6 else ""
    for lines, address, device in ((lower, link.lower_address, link.upper),
                                   (upper, link.upper_address, link.lower)):
        lines.append(f"addr add {address}/{layout.prefix()} dev {device}{extra}")
        lines.append(f"link set {device} up")


def _routes(layout):
    """For each node, the commands that add its routes."""
    world = "fd00::/16" if layout.ipv6 else "10.0.0.0/8"
    made = {node: [] for node in layout.nodes()}
    for link in layout.host_links():
        made[link.lower].append(
            f"route add {world} via {link.upper_address} src {link.lower_address}")
    for leaf in range(layout.leaves):
        ups = [link for link in layout.fabric_links() if link.lower == f"leaf{leaf}"]
        hops = " ".join(f"nexthop via {link.upper_address} dev {link.upper}" for link in ups)
        for other in range(layout.leaves):
            if other != leaf:
                made[f"leaf{leaf}"].append(f"route add {layout.rack(other)} {hops}")
        for link in ups:
            made[link.upper].append(
                f"route add {layout.rack(leaf)} via {link.lower_address}")
    # A switch answers to a host from any of its addresses, and routes to links are not needed.
    return made


def up(layout, icmp_limits=False, inbound=True):
    check_permission()
    if names():
        raise FabricError("a fabric is there already; remove it with: scripts/fabric.sh down")
    nodes = layout.nodes() + [MANAGEMENT]
    try:
        batch(None, [f"netns add {PREFIX}{node}" for node in nodes])
        per_node = {node: ["link set lo up"] for node in nodes}
        for link in layout.host_links() + layout.fabric_links():
            _add_link(per_node, layout, link)
        per_node[MANAGEMENT] += ["link add name br0 type bridge", "link set br0 up",
                                 f"addr add {layout.controller_address()}/16 dev br0"]
        for number in range(layout.hosts):
            per_node[MANAGEMENT] += [
                f"link add name host{number} type veth peer name mgmt netns {PREFIX}host{number}",
                f"link set host{number} master br0", f"link set host{number} up"]
        # Whoever has the other end makes a link first.
        for node in layout.host_names() + layout.leaf_names() + layout.spine_names():
            batch(node, [line for line in per_node[node] if line.startswith("link add")] or ["link"])
        for node in nodes:
            rest = [line for line in per_node[node]
                    if node == MANAGEMENT or not line.startswith("link add")]
            batch(node, rest)
        for number in range(layout.hosts):
            batch(f"host{number}", [f"addr add {layout.management_address(number)}/16 dev mgmt",
                                    "link set mgmt up"])
        for node in layout.leaf_names() + layout.spine_names():
            set_values(node, _switch_settings(node, icmp_limits, inbound))
        for node, lines in _routes(layout).items():
            if lines:
                batch(node, lines)
    except FabricError:
        down()
        raise
    save(layout)

"""A Redis Cluster for a test: three masters, and a replica of each if the test wants them, at a mesh's home address."""

import contextlib

from mesh import free_port
from processes import eventually
from resp import Resp, RespError

SLOTS = 16384


def slot_of(key):
    crc = 0
    for byte in key.encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xffff
    return crc % SLOTS


def latest_key(source):
    return f"pingloom:latest:udp:{source}"


class Node:
    """One redis-server of the cluster. The test asks it at a Unix socket, as a user who may do everything."""

    def __init__(self, mesh, options, home, inside):
        self.mesh, self.options, self.home, self.inside = mesh, options, home, inside
        self.port, self.bus_port = free_port(), free_port()
        self.folder = mesh.directory / f"redis-{self.port}"
        self.folder.mkdir()
        self.process = None
        self.start()
        self.id = self("CLUSTER", "MYID")

    def start(self):
        listen = ("--port", "0", "--tls-port", str(self.port)) if "--tls-cluster" in self.options else ("--port", str(self.port))
        self.process = self.mesh.run(
            f"redis-{self.port}", "redis-server", *listen, "--bind", self.home, "--unixsocket", str(self.folder / "redis.sock"),
            "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
            "--cluster-port", str(self.bus_port), "--cluster-announce-ip", self.home,
            "--cluster-node-timeout", "1000", "--cluster-require-full-coverage", "no", "--repl-diskless-sync-delay", "0",
            "--cluster-replica-validity-factor", "0", "--save", "", "--dir", str(self.folder), *self.options,
            inside=self.inside)
        eventually(lambda: self("PING") == "PONG", 20, "it answers")

    def __call__(self, *words):
        with self.connection() as redis:
            return redis(*words)

    @contextlib.contextmanager
    def connection(self):
        try:
            with Resp(self.folder / "redis.sock") as redis:
                if "--aclfile" in self.options:
                    redis("AUTH", "root", "root")
                yield redis
        except RespError as failure:
            raise OSError(str(failure)) from failure

    def info(self, section):
        return dict(line.split(":", 1) for line in self("INFO", section).splitlines() if ":" in line)

    def redirects(self, kind):
        """How many commands it has redirected: MOVED or ASK."""
        return int(self.info("errorstats").get(f"errorstat_{kind}", "count=0").partition("=")[2])


class RedisCluster:
    def __init__(self, mesh, *options, replicas=False, home=None, inside=None):
        """If the mesh has three hosts, master i has the rows of one of them. `home`: the address of all nodes, the mesh's by
        default. `inside`: what their processes call before they are another host's."""
        self.home = home or mesh.home
        self.sources = sorted(mesh.addresses, key=lambda source: slot_of(latest_key(source)))
        thirds = [SLOTS // 3, 2 * SLOTS // 3]
        self.bounds = [slot_of(latest_key(source)) for source in self.sources[:2]] if len(self.sources) == 3 else thirds
        last = [*self.bounds, SLOTS - 1]
        self.masters = [Node(mesh, options, self.home, inside) for _ in range(3)]
        first = 0
        for number, (node, end) in enumerate(zip(self.masters, last)):
            node("CLUSTER", "ADDSLOTSRANGE", first, end)
            node("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            first = end + 1
        self.replicas = [Node(mesh, options, self.home, inside) for _ in range(3)] if replicas else []
        for node in self.nodes[1:]:
            self.masters[0]("CLUSTER", "MEET", self.home, node.port, node.bus_port)
        eventually(self.is_whole, 30, "the nodes know each other")
        for master, replica in zip(self.masters, self.replicas):
            replica("CLUSTER", "REPLICATE", master.id)
        for replica in self.replicas:
            eventually(lambda: replica("ROLE")[3] == "connected", 20, "the replica follows")

    @property
    def nodes(self):
        return self.masters + self.replicas

    def is_whole(self):
        for node in self.nodes:
            info = dict(line.split(":") for line in node("CLUSTER", "INFO").splitlines() if ":" in line)
            if (info["cluster_state"], info["cluster_known_nodes"], info["cluster_slots_assigned"]) != ("ok", str(len(self.nodes)), str(SLOTS)):
                return False
        return True

    def servers(self):
        """Some of them; the first one is never there."""
        return [f"{self.home}:{port}" for port in (free_port(), self.masters[1].port)]

    def option(self):
        return f"{{ cluster: [{', '.join(self.servers())}] }}"

    def place(self):
        """For --redis of the command line."""
        return "cluster:" + ",".join(self.servers())

    def master_of(self, key):
        """The one of the masters, as they were at first, that has the key's slot."""
        return self.masters[sum(slot_of(key) > bound for bound in self.bounds)]

    def fail_over(self, index):
        """Kills a master and returns once its replica is promoted in its place."""
        dead, heir = self.masters[index], self.replicas[index]
        dead.process.kill()
        eventually(lambda: heir("ROLE")[0] == "master", 40, "the replica is promoted")
        self.masters[index], self.replicas[index] = heir, dead

    def start_missing(self):
        """What was killed comes back as a replica."""
        for node in self.replicas:
            if not node.process.running():
                node.start()
            eventually(lambda: node("ROLE")[0] == "slave" and node("ROLE")[3] == "connected", 40, "it follows its master")

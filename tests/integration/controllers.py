"""Several controllers of a mesh that share a history in PostgreSQL (postgres.py)."""

from mesh import free_port, give_back, parse_metrics
from processes import binary, eventually


def sip_hash(key, words):
    """SipHash-2-4 of 64-bit words, as src/common/sip_hash.h has it."""
    mask = 2**64 - 1
    k0, k1 = (int.from_bytes(key[at:at + 8], "little") for at in (0, 8))
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def turn(number, bits):
        return (number << bits | number >> (64 - bits)) & mask

    def rounds(count):
        for _ in range(count):
            v[0], v[2] = (v[0] + v[1]) & mask, (v[2] + v[3]) & mask
            v[1], v[3] = turn(v[1], 13) ^ v[0], turn(v[3], 16) ^ v[2]
            v[0] = turn(v[0], 32)
            v[0], v[2] = (v[0] + v[3]) & mask, (v[2] + v[1]) & mask
            v[3], v[1] = turn(v[3], 21) ^ v[0], turn(v[1], 17) ^ v[2]
            v[2] = turn(v[2], 32)

    for word in words:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def home_weight(host, address):
    """As src/wire/rendezvous.h has it: the controller of the largest weight is the host's home."""
    words = []
    for text in (host.encode(), address.encode()):
        words += [len(text)] + [int.from_bytes(text[at:at + 8], "big") for at in range(0, len(text), 8)]
    return sip_hash(b"pingloom home".ljust(16, b"\0"), words)


class Controller:
    """One of several controllers of a mesh, each with a folder of its own, and a Redis of its own or a shared one."""

    def __init__(self, mesh, name, databases, redis=None, home=None, inside=None):
        """`databases`: the servers as its configuration names them. `home`: its IP address, the mesh's by default.
        `inside`: what its process calls before it is one of another host's."""
        self.mesh = mesh
        self.name = name
        self.databases = databases
        self.home = home or mesh.home
        self.inside = inside
        self.keys = None  # the value of `keys`, if it has any
        self.options = {}  # further keys of its configuration
        self.redis = f"redis: {redis}" if redis else f"redis_socket: {mesh.directory}/redis-{name}.sock"
        self.control_port = free_port()
        self.http_port = free_port()
        self.config = mesh.directory / f"controller-{name}.yaml"
        self.configure()
        self.process = None

    def configure(self):
        self.config.write_text(f"""pinglist: {self.mesh.pinglist_path}
control: {self.home}:{self.control_port}
http: {self.home}:{self.http_port}
state_dir: {self.mesh.directory}/{self.name}
{self.redis}
{f"keys: {self.keys}" if self.keys else "insecure: true"}
history: {{ postgres: {{ hosts: [{', '.join(self.databases)}], user: {self.name} }} }}
cluster: {{ name: {self.name}, address: {self.address} }}
""" + "".join(f"{key}: {value}\n" for key, value in self.options.items()))

    def share_key(self):
        """Gives it the key that the controllers of its mesh share, before it starts."""
        folder = self.mesh.directory / self.name / "keys"
        folder.mkdir(parents=True)
        done = self.mesh.cli("keys", "prepare", "--key", str(self.mesh.directory / "controller.key"), "--file",
                             str(folder / "authorized_keys.yaml"))
        self.mesh.case.assertEqual(done.returncode, 0, done.stderr)
        self.keys = done.stdout.strip().partition(": ")[2]
        self.configure()

    def move(self):
        """To another port, before it starts: with it the homes of agents change."""
        before, self.control_port = self.control_port, free_port()
        give_back(before)
        self.configure()

    @property
    def address(self):
        return f"{self.home}:{self.control_port}"

    def start(self, wait=True):
        self.process = self.mesh.run(f"controller-{self.name}", binary("pingloom-controller"), "--config", str(self.config),
                                     inside=self.inside)
        if wait:
            eventually(lambda: self.get("/healthz").status == 200, 20, f"controller {self.name} answers HTTP")
        return self

    def get(self, path):
        return self.mesh.get(path, port=self.http_port, address=self.home)

    def post(self, path, body):
        return self.mesh.post(path, body, port=self.http_port, address=self.home)

    def role(self):
        return self.get("/api/v1/controllers").json()["role"]

    def leader(self):
        return next((one["name"] for one in self.get("/api/v1/controllers").json()["controllers"] if one["leader"]), None)

    def metrics(self):
        return parse_metrics(self.get("/metrics").body)

"""The path of a verbs agent's flow through a router: host 1 on rxe, and a soft device in a network of
its own behind a router. Every packet of the flow, PING or trace, has the same UDP source port."""

import socket
import struct
import threading
import unittest

from lab_mesh import GUEST, LabMesh, command, eventually, say

ROUTER, FAR = 90, 60  # numbers of network namespaces
# By family: host 1, the router's address on either side, the host behind it, and that host's network.
HOST = {4: "10.0.0.1", 6: "fd00::1"}
ROUTER_NEAR = {4: f"10.0.0.{ROUTER}", 6: f"fd00::{ROUTER}"}
ROUTER_FAR = {4: "10.9.0.1", 6: "fd09::1"}
FAR_HOST = {4: "10.9.0.2", 6: "fd09::2"}
FAR_NETWORK = {4: "10.9.0.0/24", 6: "fd09::/64"}
BITS = {4: 24, 6: 64}
ROCE = 4791


def far_host():
    """A host on a network that the router joins with the bridge's."""
    router, far = f"soft{ROUTER}", f"soft{FAR}"
    command(str(GUEST / "soft_host.sh"), str(ROUTER))
    lines = [f"ip netns add {far}",
             f"ip link add r{FAR} netns {router} type veth peer name s{FAR} netns {far}",
             f"ip netns exec {router} sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1",
             f"ip netns exec {far} sysctl -q -w net.ipv6.conf.s{FAR}.accept_dad=0",
             f"ip -n {router} link set r{FAR} up",
             f"ip -n {far} link set lo up",
             f"ip -n {far} link set s{FAR} up"]
    for v in (4, 6):
        flags = " nodad" if v == 6 else ""
        via = f"via {ROUTER_NEAR[v]} dev h1 src {HOST[v]}"
        lines += [f"ip -n {router} addr add {ROUTER_FAR[v]}/{BITS[v]} dev r{FAR}{flags}",
                  f"ip -n {far} addr add {FAR_HOST[v]}/{BITS[v]} dev s{FAR}{flags}",
                  f"ip -{v} -n {far} route add default via {ROUTER_FAR[v]}",
                  f"ip -{v} route add {FAR_NETWORK[v]} {via} table 101",
                  f"ip -{v} route add {FAR_NETWORK[v]} {via}"]
    for line in lines:
        command(*line.split())


class RoutedMesh(LabMesh):
    """Its agents have addresses of one family; everything else uses IPv4."""

    def __init__(self, case, family):
        super().__init__(case, rxe=1)
        self.numbers.append(FAR)
        self.soft.add(FAR)
        self.addresses = [HOST[family], FAR_HOST[family]]

    def _http_address(self, index):
        return FAR_HOST[4] if self.numbers[index] == FAR else super()._http_address(index)


class SourcePorts:
    """Hop limits, UDP source ports and IPv6 flow labels of the RoCE packets that leave host 1."""

    def __init__(self, family):
        self.seen = set()
        self._own = socket.inet_pton({4: socket.AF_INET, 6: socket.AF_INET6}[family], HOST[family])
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))  # all protocols
        self._socket.bind(("h1", 0))
        self._socket.settimeout(0.3)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self):
        while not self._ended.is_set():
            try:
                packet = self._socket.recv(2048)
            except TimeoutError:
                continue
            if packet[0] >> 4 == 4:
                protocol, hops, source, udp, label = packet[9], packet[8], packet[12:16], packet[20:24], 0
            else:
                protocol, hops, source, udp = packet[6], packet[7], packet[8:24], packet[40:44]
                label = int.from_bytes(packet[1:4], "big") & 0xFFFFF
            if protocol != 17 or len(udp) < 4 or source != self._own:
                continue
            source_port, destination_port = struct.unpack("!HH", udp)
            if destination_port == ROCE:
                self.seen.add((hops, source_port, label))

    def stop(self):
        self._ended.set()
        self._thread.join()
        self._socket.close()


class PathsOnSoftRoce(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        far_host()

    def test_ipv4(self):
        self.a_router_on_the_way(4)

    def test_ipv6(self):
        self.a_router_on_the_way(6)

    def a_router_on_the_way(self, family):
        host, far = HOST[family], FAR_HOST[family]
        mesh = RoutedMesh(self, family)
        mesh.write_pinglist(f"""version: 1
defaults: {{ interval: 500ms, timeout: 2s, window: 2s }}
probes:
  - {{ name: rdma, protocol: rdma, mesh: ["{host}", "{far}"] }}
""")
        sniffed = SourcePorts(family)
        self.addCleanup(sniffed.stop)
        mesh.start()
        mesh.wait_for_rows("rdma", {(host, far), (far, host)}, seconds=90)
        say("both agents probe; waiting for their traces")
        asked = f"/api/v1/paths/rdma/{host}/{far}"

        def traced():
            paths = mesh.get(asked).json()
            return all(paths[way] and paths[way][0]["state"] == "traced" for way in ("forward", "return")) and paths

        paths = eventually(traced, 60, lambda: f"both ways are traced: {mesh.get(asked).body}", 0.5)
        say(f"  {paths['forward'][0]}")
        for way, router in (("forward", ROUTER_NEAR), ("return", ROUTER_FAR)):
            path = paths[way][0]
            self.assertEqual([hop["router"] for hop in path["hops"]], [router[family]], way)
            self.assertEqual(path["end"], "reached", way)
        self.assertTrue({1, 2} <= {hops for hops, *_ in sniffed.seen}, f"traces were seen: {sniffed.seen}")
        self.assertTrue(any(hops > 2 for hops, *_ in sniffed.seen), f"PINGs were seen: {sniffed.seen}")
        self.assertEqual(len({(port, label) for _, port, label in sniffed.seen}), 1,
                         f"one flow: {sniffed.seen}")
        self.assertIn("paths traced", mesh.agent(1).log())


if __name__ == "__main__":
    unittest.main()

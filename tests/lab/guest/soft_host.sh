#!/usr/bin/env bash
# soft_host.sh I: one more host on the lab's bridge, for the soft device: in the network namespace soft<I>, for rdma_rxe has
# UDP port 4791 of the initial one; 10.0.0.I and fd00::I on its interface s<I>. Nothing where it is there already.
set -euo pipefail

i=$1
[ ! -e "/run/netns/soft$i" ] || exit 0
ip netns add "soft$i"
ip link add "q$i" type veth peer name "s$i" netns "soft$i"
ip link set "q$i" master br0 up
inside=(ip -n "soft$i")
# A soft device follows what the kernel reports of interfaces. rc_lab, which opens one here and then leaves the namespace,
# would ask about it in the wrong one. So nothing may be left to report: no duplicate address detection, and the link is up.
ip netns exec "soft$i" sysctl -q -w net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0 "net.ipv6.conf.s$i.accept_dad=0"
"${inside[@]}" link set lo up
"${inside[@]}" addr add "10.0.0.$i/24" dev "s$i"
"${inside[@]}" addr add "fd00::$i/64" dev "s$i" nodad
"${inside[@]}" link set "s$i" up
for ((try = 0; ; try++)); do
  [[ $("${inside[@]}" -br link show "s$i") != *" UP "* ]] || break
  [ $try -lt 100 ] || { echo "lab: the link of s$i does not come up" >&2; exit 1; }
  sleep 0.1
done
# For programs outside that name no address of their own: they ask as host 1.
ip -4 route add "10.0.0.$i" dev h1 src 10.0.0.1
ip -6 route add "fd00::$i" dev h1 src fd00::1

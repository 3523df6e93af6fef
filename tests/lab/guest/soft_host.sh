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
"${inside[@]}" link set lo up
"${inside[@]}" addr add "10.0.0.$i/24" dev "s$i"
"${inside[@]}" addr add "fd00::$i/64" dev "s$i" nodad
"${inside[@]}" link set "s$i" up
# For programs outside that name no address of their own: they ask as host 1.
ip -4 route add "10.0.0.$i" dev h1 src 10.0.0.1
ip -6 route add "fd00::$i" dev h1 src fd00::1

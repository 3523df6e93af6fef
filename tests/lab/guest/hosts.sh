#!/usr/bin/env bash
# Makes N Soft-RoCE hosts in the guest: host i is the veth h$i with the addresses 10.0.0.$i and fd00::$i and the
# RDMA device rxe$i. rxe only works in the initial network namespace, so these are no namespaces: routing rules send what
# goes between two local addresses through the veths and the bridge br0 that joins them.
set -euo pipefail

count=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sysctl -q -w net.ipv4.conf.{all,default}.accept_local=1 net.ipv4.conf.{all,default}.rp_filter=0 \
  net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 net.ipv6.conf.default.accept_dad=0

ip link set lo up
ip link add br0 type bridge
ip link set br0 up
for family in -4 -6; do
  ip $family rule add pref 100 lookup local
done
ip -4 rule add pref 1 to 127.0.0.0/8 lookup local
ip -6 rule add pref 1 to ::1 lookup local

for i in $(seq "$count"); do
  ip link add "h$i" type veth peer name "p$i"
  ip link set "p$i" master br0 up
  ip -4 addr add "10.0.0.$i/24" dev "h$i" noprefixroute
  "$here/addresses.sh" "$i"
  for family in -4 -6; do
    ip $family rule add pref 5 iif "h$i" lookup local
    ip $family rule add pref 11 oif "h$i" lookup "10$i"
  done
  ip -4 rule add pref 10 from "10.0.0.$i" iif lo lookup "10$i"
  ip -6 rule add pref 10 from "fd00::$i" iif lo lookup "10$i"
  rdma link add "rxe$i" type rxe netdev "h$i"
done
ip -4 rule del pref 0
ip -6 rule del pref 0

# A device is usable when its GIDs of both addresses are there.
for i in $(seq "$count"); do
  gids=/sys/class/infiniband/rxe$i/ports/1/gids
  want_v4=$(printf '0000:0000:0000:0000:0000:ffff:0a00:%04x' "$i")
  want_v6=$(printf 'fd00:0000:0000:0000:0000:0000:0000:%04x' "0x$i")
  for ((try = 0; ; try++)); do
    found=$(cat "$gids"/{0,1,2,3} 2>/dev/null || true)
    if [[ $found == *$want_v4* && $found == *$want_v6* ]]; then break; fi
    [ $try -lt 100 ] || { echo "lab: rxe$i got no GIDs for its addresses: $found" >&2; exit 1; }
    sleep 0.1
  done
done

#!/usr/bin/env bash
# Runs in the guest: two kernel Soft-RoCE hosts see each other over UD and RC, on IPv4 and IPv6 GIDs, across the bridge.
set -euo pipefail

rounds=200

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Frames that left host $1.
sent_frames() { cat "/sys/class/net/h$1/statistics/tx_packets"; }

# ping_pong PROGRAM GID_INDEX PORT: host 1 serves, host 2 asks; both check what they received. Only the
# exchange of their addresses goes over loopback.
ping_pong() {
  local program=$1 options=(-g "$2" -p "$3" -n "$rounds" -e -c) server before after
  before=$(sent_frames 2)
  "$program" -d rxe1 "${options[@]}" >/tmp/server 2>&1 &
  server=$!
  until ss -Hltn "sport = :$3" | grep -q .; do
    kill -0 $server 2>/dev/null || fail "$program: the server died: $(cat /tmp/server)"
    sleep 0.1
  done
  "$program" -d rxe2 "${options[@]}" 127.0.0.1 >/tmp/client 2>&1 || fail "$program: $(cat /tmp/client)"
  wait $server || fail "$program, server: $(cat /tmp/server)"
  ! grep -qi invalid /tmp/client /tmp/server || fail "$program: damaged data: $(cat /tmp/client /tmp/server)"
  after=$(sent_frames 2)
  [ $((after - before)) -ge $rounds ] || fail "$program: only $((after - before)) frames crossed the bridge"
  echo "$program, GID $2: $(grep iters /tmp/client), $((after - before)) frames"
}

devices=$(ibv_devices)
for i in $(seq "$LAB_HOSTS"); do
  grep -qw "rxe$i" <<<"$devices" || fail "ibv_devices shows no rxe$i: $devices"
done
echo "devices: $(grep -ow 'rxe[0-9]*' <<<"$devices" | xargs)"

ping_pong ibv_ud_pingpong 1 18515
ping_pong ibv_ud_pingpong 2 18516
ping_pong ibv_rc_pingpong 1 18517
ping_pong ibv_rc_pingpong 2 18518
echo "up after $(cut -d' ' -f1 /proc/uptime) s"

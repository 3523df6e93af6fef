#!/usr/bin/env bash
# Runs in the guest: scripts/hardware-check.sh between two kernel Soft-RoCE hosts. Every check that applies has to pass.
set -euo pipefail
report=/tmp/report.txt
# All hosts of the guest are in one network namespace, where a connection without a source address finds no way to another host.
# The ports of the controller and of perftest are reached as local ones.
for port in 20711 18515 18516; do
  ip rule add pref 2 ipproto tcp dport "$port" lookup local
  ip rule add pref 2 ipproto tcp sport "$port" lookup local
done
scripts/hardware-check.sh serve --address 10.0.0.2 --controller 10.0.0.1 --programs "$(dirname "$(command -v pingloom)")" &
server=$!
trap 'kill $server' EXIT
until ss -tln | grep -q '10.0.0.2:20713'; do
  kill -0 $server
  sleep 0.5
done
scripts/hardware-check.sh run --address 10.0.0.1 --peer 10.0.0.2 --duration 45s --report "$report" \
  --programs "$(dirname "$(command -v pingloom)")" || { cat "$report"; exit 1; }

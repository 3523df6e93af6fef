#!/usr/bin/env bash
# Runs in the lab's guest: the demo on its RDMA devices, their addresses given, and asked for.
set -euo pipefail

PINGLOOM_BIN=$(dirname "$(command -v pingloom-agent)")  # a compiler in the guest would take an hour
export PINGLOOM_BIN
dir=$(mktemp -d)
fail() {
  echo "FAILED: $1" >&2
  tail -n 20 "$dir"/*.out "$dir"/*/log/*.log >&2
  exit 1
}

demo() { # NAME INPUT OPTION...: how long until all is there depends on the machine, so it is tried for longer
  local name=$1 input=$2 seconds
  shift 2
  for seconds in 15 60; do
    echo "demo.sh $* --duration $seconds"
    if scripts/demo.sh --run-dir "$dir/$name-$seconds" --duration "$seconds" "$@" <<<"$input" 2>&1 |
      tee "$dir/$name.out"; then
      break
    fi
    [ "$seconds" = 15 ] || fail "the demo has no fresh result of every pair"
  done
  grep -q "RDMA by libibverbs" "$dir/$name.out" || fail "it does not say that it uses libibverbs"
  local i
  for i in $(seq "$LAB_HOSTS"); do
    grep -q "endpoint on rxe$i " "$dir/$name-$seconds/log/agent-$i.log" || fail "agent $i is not on rxe$i"
  done
}

all=$(seq -s, -f '10.0.0.%g' "$LAB_HOSTS")
demo given '' --devices "$all"
demo asked "$all" --devices
code=0
scripts/demo.sh --devices 10.0.0.1,10.9.9.9 >"$dir/nowhere.out" 2>&1 || code=$?
[ "$code" -eq 1 ] && grep -q "no RDMA device can be used for 10.9.9.9" "$dir/nowhere.out" || fail "an address on no device: exit $code"
echo "the demo runs on RDMA devices"

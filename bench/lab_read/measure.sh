#!/usr/bin/env bash
# The latency of a 4,000-byte READ beside ib_read_lat on the same guest:
#   scripts/lab.sh --hosts 2 --run bench/lab_read/measure.sh
# One READ at a time, each side a process: libibverbs on kernel Soft-RoCE on both sides, as ib_read_lat; then the soft
# device on either side, and on both. With events, and spinning.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
cd "$dir"
bytes=4000 count=500 runs=3

fail() {
  echo "FAILED: $1" >&2
  tail -n 20 ./*.log >&2
  exit 1
}

listens() { # PORT [COMMAND-PREFIX...]: until the last started process does
  local port=$1 server=$!
  shift
  until [ -n "$("$@" ss -Hltn "sport = :$port")" ]; do
    kill -0 "$server" 2>/dev/null || fail "the server ended"
    sleep 0.1
  done
}

perftest() { # OPTION...
  ib_read_lat -d rxe2 -x 1 -n "$count" -s "$bytes" -F "$@" >server.log 2>&1 &
  local server=$!
  listens 18515
  ib_read_lat -d rxe1 -x 1 -n "$count" -s "$bytes" -F "$@" 127.0.0.1 >client.log 2>&1 || fail "ib_read_lat"
  wait "$server" || fail "ib_read_lat"
  # bytes, iterations, min, max, typical (the median)
  awk -v bytes="$bytes" '$1 == bytes && NF > 5 { printf "%.0f\n", $5 }' client.log
}

# HOST: the number of an rxe host, or of a soft one, which is 50 or above.
prefix() { [ "$1" -lt 50 ] || echo "ip netns exec soft$1"; }
device() { [ "$1" -lt 50 ] && echo auto || echo soft; }

pingloom_read() { # ASKING ANSWERING OPTION...
  local asking=$1 answering=$2 server
  shift 2
  local busy=()
  [ $# -eq 0 ] || busy=("$@")
  # shellcheck disable=SC2046
  $(prefix "$answering") pingloom read --serve --source "10.0.0.$answering" -d "$(device "$answering")" \
    "${busy[@]}" >server.log 2>&1 &
  server=$!
  # shellcheck disable=SC2046
  listens 20713 $(prefix "$answering")
  # shellcheck disable=SC2046
  $(prefix "$asking") pingloom read "10.0.0.$answering:test" --source "10.0.0.$asking" -d "$(device "$asking")" \
    -b "$bytes" -c "$count" --depth 1 --json "${busy[@]}" >client.log 2>&1 || fail "pingloom read"
  kill "$server"
  wait "$server" || true
  python3 -c 'import json; print(round(json.load(open("client.log"))["phases"][0]["latency_ns"]["p50"] / 1e3))'
}

measure() { # WHAT COMMAND...
  local what=$1 run
  shift
  local figures=()
  for ((run = 0; run < runs; run++)); do figures+=("$("$@")"); done
  echo "$what: median $(printf '%s\n' "${figures[@]}" | sort -n | sed -n "$(((runs + 1) / 2))p") us (${figures[*]})"
}

for host in 50 51; do "$root/tests/lab/guest/soft_host.sh" "$host"; done
measure "ib_read_lat -e" perftest -e
measure "pingloom read, verbs -> verbs" pingloom_read 1 2
measure "pingloom read, soft -> verbs" pingloom_read 50 2
measure "pingloom read, verbs -> soft" pingloom_read 1 50
measure "pingloom read, soft -> soft" pingloom_read 50 51
measure "ib_read_lat" perftest
measure "pingloom read --busy, verbs -> verbs" pingloom_read 1 2 --busy

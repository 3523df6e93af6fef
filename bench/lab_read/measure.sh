#!/usr/bin/env bash
# The latency of a 4,000-byte READ, compared with ib_read_lat on the same guest:
#   scripts/lab.sh --hosts 2 --run bench/lab_read/measure.sh
# It reads one at a time, and each side is a process. Both sides use libibverbs on kernel Soft-RoCE, as ib_read_lat does;
# then one of them, and then both, use the soft device. Both sides wait for events, and in the last two rows they spin.
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

listens() { # PORT [COMMAND-PREFIX...]: waits until the last started process listens
  local port=$1 server=$! try
  shift
  for ((try = 0; try < 300; try++)); do
    [ -z "$("$@" ss -Hltn "sport = :$port")" ] || return 0
    kill -0 "$server" 2>/dev/null || fail "the server ended"
    sleep 0.1
  done
  fail "the server does not listen on port $port"
}

perftest() { # OPTION...
  timeout 60 ib_read_lat -d rxe2 -x 1 -n "$count" -s "$bytes" -F "$@" >server.log 2>&1 &
  local server=$!
  listens 18515
  timeout 60 ib_read_lat -d rxe1 -x 1 -n "$count" -s "$bytes" -F "$@" 127.0.0.1 >client.log 2>&1 || fail "ib_read_lat"
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
  $(prefix "$answering") timeout 120 pingloom read --serve --source "10.0.0.$answering" -d "$(device "$answering")" \
    "${busy[@]}" >server.log 2>&1 &
  server=$!
  # shellcheck disable=SC2046
  listens 20713 $(prefix "$answering")
  # shellcheck disable=SC2046
  $(prefix "$asking") timeout 60 pingloom read "10.0.0.$answering:test" --source "10.0.0.$asking" -d "$(device "$asking")" \
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
  python3 -B "$root/bench/report/figures.py" "$what" us "${figures[@]}"
}

for host in 50 51; do "$root/tests/lab/guest/soft_host.sh" "$host"; done
measure "limit: ib_read_lat -e, verbs -> verbs" perftest -e
measure "pingloom read, verbs -> verbs" pingloom_read 1 2
measure "pingloom read, soft -> verbs" pingloom_read 50 2
measure "pingloom read, verbs -> soft" pingloom_read 1 50
measure "pingloom read, soft -> soft" pingloom_read 50 51
measure "limit: ib_read_lat, spinning" perftest
measure "pingloom read --busy, verbs -> verbs" pingloom_read 1 2 --busy

#!/usr/bin/env bash
# Runs in the guest: `pingloom read` between kernel Soft-RoCE hosts and soft devices, contents compared.
set -euo pipefail

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# serve PORT COMMAND...: starts a server and waits until it serves.
serve() {
  local port=$1 log=/tmp/server.$1
  shift
  "$@" --port "$port" >"$log" 2>&1 &
  until grep -q '^serving ' "$log"; do
    kill -0 $! 2>/dev/null || fail "the server died: $(cat "$log")"
    sleep 0.1
  done
}

# reads WHAT SIZES COMMAND...: each size READ alone and several at a time, all of it right.
reads() {
  local what=$1 sizes=$2 size out
  shift 2
  for size in $sizes; do
    out=$("$@" --bytes "$size" --count 10 --depth 4) || fail "$what, $size bytes: $out"
    [ "$size" = 0 ] || grep -q 'contents: right in all 14 READs' <<<"$out" || fail "$what, $size bytes: $out"
    echo "$what, $size bytes: $(grep -o 'latency min .*' <<<"$out")"
  done
}

sizes='0 1 13 4000 65536'
in_soft='ip netns exec soft50'
tests/lab/guest/soft_host.sh 50
serve 20713 pingloom read --serve --source 10.0.0.1
serve 20714 pingloom read --serve --source fd00::1

reads 'rxe asks rxe, IPv4' "$sizes" pingloom read 10.0.0.1:test --source 10.0.0.2
reads 'rxe asks rxe, IPv6' '4000' pingloom read '[fd00::1]:test' --source fd00::2 --port 20714
reads 'soft asks rxe, IPv4' "$sizes 1048576" $in_soft pingloom read 10.0.0.1:test --source 10.0.0.50 -d soft
reads 'soft asks rxe, IPv6' '4000' $in_soft pingloom read '[fd00::1]:test' --source fd00::50 -d soft --port 20714
# One soft device at a time has its address.
serve 20715 $in_soft pingloom read --serve --source 10.0.0.50 -d soft
serve 20716 $in_soft pingloom read --serve --source fd00::50 -d soft --region page --bytes 100000
reads 'rxe asks soft, IPv4' "$sizes" pingloom read 10.0.0.50:test --source 10.0.0.1 --port 20715
reads 'rxe asks soft, IPv6' '4000' pingloom read '[fd00::50]:page' --source fd00::1 --port 20716

pingloom read 10.0.0.50:test --source 10.0.0.1 --port 20715 --count 1000000 >/tmp/mute 2>&1 &
reader=$!
until grep -q '^reading ' /tmp/mute; do
  kill -0 $reader || fail "the reader died: $(cat /tmp/mute)"
  sleep 0.1
done
ip -n soft50 link set s50 down
code=0
wait $reader || code=$?
[ $code = 1 ] && grep -q 'no response' /tmp/mute || fail "a peer that falls silent: exit $code: $(cat /tmp/mute)"
echo "a peer that falls silent: $(grep 'failed' /tmp/mute)"

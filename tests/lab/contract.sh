#!/usr/bin/env bash
# run.sh keeps what it promises: the command's output and exit code, nothing written to this machine, a closed standard
# input, and a limit that holds.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

witness=$here/written-by-the-guest
code=0
output=$("$here/run.sh" -t 240 1 bash -c 'cat; echo "to  $LAB_HOSTS"; echo error >&2; touch tests/lab/written-by-the-guest; exit 7' \
  2>/dev/null < <(echo "standard input")) || code=$?
[ $code -eq 7 ] || fail "exit code $code instead of 7; output: $output"
[ "$output" = $'to  1\nerror' ] || fail "output: $output"
[ ! -e "$witness" ] || { rm "$witness"; fail "the guest wrote to this machine"; }

code=0
"$here/run.sh" -t 3 1 sleep 1000 2>/dev/null || code=$?
[ $code -eq 124 ] || fail "exit code $code instead of 124 when the time is up"

code=0
"$here/run.sh" 0 true 2>/dev/null || code=$?
[ $code -eq 2 ] || fail "exit code $code instead of 2 for no hosts"
echo "the contract holds"

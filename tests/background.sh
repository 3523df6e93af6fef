#!/usr/bin/env bash
# Usage: background.sh LEVEL COMMAND...
# Runs a command with the nice value LEVEL beside the tests that measure. Where the kernel shares the processors between
# sessions (autogroups), a nice value only counts among the processes of one session. So the command gets a session of its own,
# and this session gets the nice value.
set -euo pipefail

if [ "$1" != --alone ]; then
  exec setpriv --pdeathsig TERM setsid --wait "$0" --alone "$@"
fi
level=$2
shift 2
if [ -w /proc/self/autogroup ]; then
  echo "$level" >/proc/self/autogroup || echo "background.sh: the session keeps its priority" >&2
fi
exec nice -n "$level" "$@"

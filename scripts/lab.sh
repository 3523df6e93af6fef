#!/usr/bin/env bash
# A guest with N kernel Soft-RoCE hosts, on a machine that has no RDMA: runs a script on them or gives a shell there.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
  cat <<EOF
Usage: scripts/lab.sh [--hosts N] [--run SCRIPT | --shell]
  --hosts N      hosts in the guest, 1 to 99 (default 3): host i is 10.0.0.i and fd00::i on the RDMA device rxe<i>
  --run SCRIPT   run this program there, with N in LAB_HOSTS and pingloom's programs on the PATH; print what it prints
                 and exit with its code
  --shell        a shell there, in this terminal (the default); exit or Ctrl-D ends the guest
  -h, --help
Builds pingloom in build/release if it is not there yet. Nothing that the guest writes reaches this machine (docs/lab.md).
EOF
}

fail() { echo "lab.sh: $1" >&2; exit "${2:-1}"; }
say() { printf 'lab: [%3ds] %s\n' "$SECONDS" "$1" >&2; }

hosts=3 script='' shell=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --shell) shell=yes; shift; continue ;;
    --hosts | --run) [ $# -ge 2 ] || fail "$1 needs a value" 2 ;;
    *) usage >&2; fail "unknown option '$1'" 2 ;;
  esac
  case $1 in
    --hosts) hosts=$2 ;;
    --run) script=$2 ;;
  esac
  shift 2
done
[[ $hosts =~ ^[1-9][0-9]?$ ]] || fail "--hosts takes a number from 1 to 99" 2
[ -z "$script" ] || [ -z "$shell" ] || fail "--run or --shell, not both" 2
[ -z "$script" ] || [ -x "$script" ] || fail "$script is not a program that can be run" 2

build() {
  local log=$root/build/lab/configure.log
  mkdir -p "$root/build/lab"
  local options=()
  [ -e "$root/build/release/CMakeCache.txt" ] || options=(-DPINGLOOM_TESTS=OFF -DPINGLOOM_BENCH=OFF)
  cmake -S "$root" --preset release "${options[@]}" >"$log" 2>&1 ||
    { cat "$log" >&2; fail "cmake could not configure the build"; }
  cmake --build "$root/build/release" --target pingloom pingloom-agent pingloom-controller >&2 || fail "the build failed"
}

programs=("$root"/build/release/bin/{pingloom,pingloom-agent,pingloom-controller})
if ls "${programs[@]}" >/dev/null 2>&1; then
  "$root/scripts/install-packages.sh" run lab >&2
else
  "$root/scripts/install-packages.sh" run build lab >&2
  say "building pingloom (the first time takes a few minutes)"
  build
fi

say "booting a guest with $hosts Soft-RoCE hosts (10 to 20 s)"
if [ -n "$script" ]; then
  exec "$root/tests/lab/run.sh" -t 3600 "$hosts" "$(realpath "$script")"
fi
exec "$root/tests/lab/run.sh" -i "$hosts" bash --rcfile "$root/tests/lab/guest/shell.rc" -i

#!/usr/bin/env bash
# The acceptance check for RDMA hardware: two hosts measure each other with every part of pingloom that depends on a NIC,
# and one report file says what was seen. docs/hardware.md lists which claim each check settles.
set -euo pipefail
umask 077
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<USAGE
Usage: hardware-check.sh serve --address ADDRESS --controller ADDRESS [OPTION]...   on the one host, first
       hardware-check.sh run --address ADDRESS --peer ADDRESS [OPTION]...           on the other host
Checks pingloom on two hosts with RDMA devices. 'serve' answers until Ctrl-C. 'run' does the checks and writes a report.
Both addresses are those of the RDMA ports; --controller is the address of the host that runs 'run'.
  --device NAME      the RDMA device of this host: auto (default), or a name such as mlx5_0 or mlx5_0/1
  --duration TIME    run: how long the mesh is measured: 90s, 10m, 1h (default 1h)
  --report FILE      run: where the report goes (default: hardware-report-HOST-DATE.txt in this folder)
  --programs DIR     where pingloom's programs are (default: build/release/bin of this checkout, else the PATH)
  -h, --help
perftest (ib_read_lat, ib_read_bw) is compared with if both hosts have it.
Exit code: 0 every check passed, 1 a check failed, 2 wrong usage.
USAGE
}

fail() { echo "hardware-check.sh: $1" >&2; exit "${2:-1}"; }

mode=${1:-}
case $mode in
  serve | run) shift ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; fail "the first word is serve or run, not '$mode'" 2 ;;
esac
address='' peer='' controller='' device=auto duration=1h report='' programs=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --address | --peer | --controller | --device | --duration | --report | --programs)
      [ -n "${2:-}" ] || fail "$1 needs a value" 2
      printf -v "${1#--}" '%s' "$2"
      shift 2 ;;
    *) usage >&2; fail "unknown option '$1'" 2 ;;
  esac
done

seconds_of() {
  [[ $1 =~ ^([1-9][0-9]{0,5})(s|m|h)$ ]] || fail "--duration takes a time such as 90s, 10m or 1h, not '$1'" 2
  case ${BASH_REMATCH[2]} in
    s) echo "${BASH_REMATCH[1]}" ;;
    m) echo $((BASH_REMATCH[1] * 60)) ;;
    h) echo $((BASH_REMATCH[1] * 3600)) ;;
  esac
}
is_address() { [[ $1 =~ ^[0-9A-Fa-f.:]+$ ]]; }

is_address "$address" || fail "--address takes this host's IP address on the RDMA port" 2
[[ $device =~ ^[A-Za-z0-9_.:/-]{1,64}$ ]] || fail "--device takes auto or a device's name, not '$device'" 2
if [ "$mode" = run ]; then
  is_address "$peer" || fail "run needs --peer, the other host's IP address" 2
  [ -z "$controller" ] || fail "--controller goes with serve" 2
  mesh_seconds=$(seconds_of "$duration")
else
  is_address "$controller" || fail "serve needs --controller, the IP address of the host that runs 'run'" 2
fi

if [ -z "$programs" ] && [ -x "$here/../build/release/bin/pingloom" ]; then programs=$here/../build/release/bin; fi
[ -z "$programs" ] || PATH=$(cd "$programs" && pwd):$PATH
for program in pingloom pingloom-agent python3; do
  command -v "$program" >/dev/null || fail "there is no $program on the PATH: build pingloom, or give --programs"
done

work=$(mktemp -d)
children=()
clean_up() {
  trap - EXIT INT TERM
  [ ${#children[@]} -eq 0 ] || kill "${children[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

start() { # NAME COMMAND...: in the background, until this script ends
  local name=$1
  shift
  "$@" >"$work/$name.log" 2>&1 &
  children+=($!)
}

bracketed() { if [[ $1 == *:* ]]; then echo "[$1]"; else echo "$1"; fi; }

start_agent() { # HOST CONTROLLER
  cat >"$work/agent.yaml" <<YAML
host: $1
controller: "$(bracketed "$2"):20711"
addresses: ["$address"]
state_dir: $work/agent
rdma: { device: "$device" }
pages: { address: "$address", device: "$device", socket: $work/pages.sock }
YAML
  mkdir "$work/agent"
  start agent pingloom-agent --config "$work/agent.yaml"
}

perftest_device() { # perftest wants a name, and chooses the GID itself
  pingloom devices --address "$address" --device "$device" | python3 -c '
import re, sys
print(re.search(r": (\S+?)/\d+,", sys.stdin.read()).group(1))'
}

# Fills `bound` with the option that binds perftest to this host's address, which Debian 12's (4.5) does not have.
bind_perftest() {
  bound=()
  ! ib_read_lat --help 2>&1 | grep -q -e --bind_source_ip || bound=(--bind_source_ip "$address")
}

serve_perftest() { # PROGRAM PORT DEVICE: a server takes one client, so the next one is started
  trap 'kill $! 2>/dev/null; exit' TERM
  local bound
  bind_perftest
  while true; do
    "$1" -d "$3" -p "$2" -s 4096 -F "${bound[@]}" &
    wait $! || sleep 0.2
  done
}

if [ "$mode" = serve ]; then
  start_agent hardware-check-peer "$controller"
  start read pingloom read --serve --source "$address" --device "$device"
  if command -v ib_read_lat >/dev/null; then
    name=$(perftest_device)
    start ib_read_lat serve_perftest ib_read_lat 18515 "$name"
    start ib_read_bw serve_perftest ib_read_bw 18516 "$name"
  fi
  sleep 1
  for child in "${children[@]}"; do
    kill -0 "$child" 2>/dev/null || { cat "$work"/*.log >&2; fail "a server ended at once; its log is above"; }
  done
  echo "serving on $address; on the other host: hardware-check.sh run --address $controller --peer $address"
  tail -q -n +1 -F "$work/agent.log" "$work/read.log" &
  children+=($!)
  wait
fi

command -v pingloom-controller >/dev/null || fail "there is no pingloom-controller on the PATH"
report=${report:-hardware-report-$(uname -n)-$(date -u +%Y%m%dT%H%M%SZ).txt}
: >"$report" || fail "cannot write $report"
passed=0 failed=0 skipped=0

section() { printf '\n==== %s\n' "$1" >>"$report"; }
note() { # the same line on the terminal and in the report
  echo "$1"
  echo "$1" >>"$report"
}

check() { # NAME COMMAND...: the command's exit code is the verdict, 77 skips
  local name=$1 code=0
  shift
  section "$name: $*"
  "$@" >"$work/output" 2>&1 || code=$?
  head -c 200000 "$work/output" >>"$report"
  case $code in
    0) passed=$((passed + 1)); note "ok      $name" ;;
    77) skipped=$((skipped + 1)); note "skipped $name: $(tail -n 1 "$work/output")" ;;
    *) failed=$((failed + 1)); note "FAILED  $name: $(tail -n 1 "$work/output")" ;;
  esac
}

describe_host() {
  uname -a
  pingloom --version
  grep PRETTY_NAME /etc/os-release || true
  nproc
  local command
  for command in "ofed_info -s" "ibv_devinfo -v" "rdma link" "lspci -nn"; do
    # shellcheck disable=SC2086
    command -v ${command%% *} >/dev/null && { echo "-- $command"; $command 2>&1 || true; }
  done
  return 0
}

# The parts of each exchange have to add up to its round trip, on whatever clock they were measured.
ping_splits() {
  pingloom ping rdma "$peer" --source "$address" --device "$device" -c 500 -i 10ms --json >"$work/ping.json" || return 1
  python3 "$here/hardware-check/judge.py" ping "$work/ping.json"
}

read_memory() {
  pingloom read "$(bracketed "$peer"):test" --source "$address" --device "$device" --bytes 4096 --count 10000 --json |
    tee "$work/read.json"
}

read_beside_perftest() {
  command -v ib_read_lat >/dev/null || { echo "perftest is not installed"; return 77; }
  local name bound
  name=$(perftest_device)
  bind_perftest
  timeout 60 ib_read_lat -d "$name" -p 18515 -s 4096 -n 10000 -F "${bound[@]}" "$peer" >"$work/lat" || return 1
  cat "$work/lat"
  timeout 60 ib_read_bw -d "$name" -p 18516 -s 4096 -F "${bound[@]}" "$peer" >"$work/bw" || return 1
  cat "$work/bw"
  python3 "$here/hardware-check/judge.py" perftest "$work/read.json" "$work/lat" "$work/bw"
}

start_mesh() {
  cat >"$work/pinglist.yaml" <<YAML
version: 1
probes:
  - { name: hardware, protocol: rdma, mesh: ["$address", "$peer"], interval: 100ms, window: 10s }
YAML
  cat >"$work/controller.yaml" <<YAML
pinglist: pinglist.yaml
state_dir: $work/controller
control: "$(bracketed "$address"):20711"
insecure: true
http: 127.0.0.1:0
url_file: $work/url
YAML
  mkdir "$work/controller"
  start controller pingloom-controller --config "$work/controller.yaml"
  start_agent hardware-check-runner "$address"
  local i
  for ((i = 0; i < 100; ++i)); do
    [ ! -s "$work/url" ] || return 0
    sleep 0.1
  done
  cat "$work/controller.log"
  return 1
}

plans_in_force() { # the number of agents that probe by the plan
  pingloom status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["status"]["agents"]["plan_current"])'
}

# Agents make their RDMA endpoints when they have the plan, and a ping needs the peer's.
both_hosts_probe() {
  start_mesh || { echo "the controller did not start"; return 1; }
  PINGLOOM_URL=$(cat "$work/url")
  export PINGLOOM_URL
  local i
  for ((i = 0; i < 60; ++i)); do
    [ "$(plans_in_force)" != 2 ] || return 0
    sleep 1
  done
  pingloom status || true
  cat "$work/agent.log" "$work/controller.log"
  echo "not both agents registered and got the plan within 60 s: is 'serve' running on the peer, and is TCP port 20711 open here?"
  return 1
}

measure_mesh() {
  [ -s "$work/url" ] || { echo "the controller did not start"; return 1; }
  sleep "$mesh_seconds"
  pingloom mesh || { cat "$work/agent.log" "$work/controller.log"; echo "the mesh is not ok"; return 1; }
  pingloom status
  python3 "$here/hardware-check/judge.py" mesh "$PINGLOOM_URL" "$address" "$peer"
}

read_pages() {
  command -v pingloom-collector >/dev/null || { echo "there is no pingloom-collector"; return 77; }
  cat >"$work/collector.yaml" <<YAML
address: "$address"
device: "$device"
agents: ["$peer"]
http: 127.0.0.1:0
url_file: $work/collector-url
YAML
  start collector pingloom-collector --config "$work/collector.yaml"
  local i
  for ((i = 0; i < 100; ++i)); do
    if [ -s "$work/collector-url" ] && pingloom pages --check --url "$(cat "$work/collector-url")"; then
      pingloom pages --url "$(cat "$work/collector-url")"
      return
    fi >"$work/pages"
    sleep 0.2
  done
  cat "$work/pages" "$work/collector.log"
  return 1
}

counters() { pingloom devices --counters --json; }

note "pingloom's hardware check of $address and $peer, $(date -u +%FT%TZ)"
check "host" describe_host
check "device of the address" pingloom devices --address "$address" --device "$device"
check "clock against the host's" pingloom devices --address "$address" --device "$device" "--clock=$peer"
check "counters before" counters
check "both hosts probe" both_hosts_probe
check "pings with the split" ping_splits
check "reads" read_memory
check "reads beside perftest" read_beside_perftest
note "        the mesh takes $duration"
check "mesh" measure_mesh
check "metric pages of the peer" read_pages
check "counters after" counters
for log in "$work"/*.log; do
  section "$(basename "$log")"
  tail -c 100000 "$log" >>"$report"
done
note "$passed passed, $failed failed, $skipped skipped; the report is $report"
[ "$failed" = 0 ]

#!/usr/bin/env bash
# Runs a live RDMA mesh on this machine: builds pingloom and starts a private Redis, a controller and agents. Without RDMA
# devices the agents live on loopback addresses and use the soft device.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/demo/dta.sh"
. "$root/scripts/demo/fabric.sh"

usage() {
  cat <<EOF
Usage: scripts/demo.sh [OPTION]...
  --hosts N            agents to start, 2 to 64 (default 8)
  --duration SECONDS   end by itself, print the mesh, exit 1 unless every pair has a fresh result
  --http ADDR:PORT     dashboard (default 127.0.0.1:8080; port 0 picks a free one)
  --run-dir DIR        configuration, logs, Redis socket (default: a new directory under /tmp)
  --protocol LIST      of rdma, udp and tcp, separated by commas (default rdma)
  --devices [A,B,...]  agents on these addresses of RDMA devices, by libibverbs; without addresses: lists them and asks
  --pages              metric pages too: two sample applications on host 1, and a collector that reads them
  --dta                direct telemetry access too: a translator writes what three reporters (a C++ and a Python program,
                       and the agents' events) report into the collector's memory by RDMA
  --fabric LxSxH       in a fabric of network namespaces with L leaves, S spines and H hosts, for example 4x4x8; faults are then
                       link=spine1-leaf0,10% and others (scripts/fabric.sh --help). Needs root, or user namespaces
  --fault FAULT        slow=HOST, lossy=HOST or pair=HOST,HOST; HOST is a number from 1, or host-NUMBER. Soft device only; again for more
  --pinglist FILE      use this pinglist instead of a generated one
  --subnet CIDR        loopback /24 the agents live on (default 127.0.1.0/24)
  -h, --help
Where PINGLOOM_BIN names a folder with pingloom's programs, those are used and nothing is built.
Ctrl-C stops everything that this script started, and nothing else.
EOF
}

fail() { echo "demo.sh: $1" >&2; exit "${2:-1}"; }

hosts=8 duration='' http=127.0.0.1:8080 run_dir='' protocols=rdma pinglist='' subnet=127.0.1.0/24
faults=() addresses=() rdma_device=soft ask_devices='' pages='' dta='' fabric=''

parse_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --pages) pages=yes; shift; continue ;;
      --dta) dta=yes; shift; continue ;;
      --devices)
        if [ $# -ge 2 ] && [[ $2 != --* ]]; then
          IFS=, read -ra addresses <<<"$2"
          shift
        else
          ask_devices=yes
        fi
        shift
        continue ;;
      --hosts | --duration | --http | --run-dir | --protocol | --pinglist | --subnet | --fault | --fabric)
        [ $# -ge 2 ] || fail "$1 needs a value" 2 ;;
      *) usage >&2; fail "unknown option '$1'" 2 ;;
    esac
    case $1 in
      --hosts) hosts=$2 ;;
      --duration) duration=$2 ;;
      --http) http=$2 ;;
      --run-dir) run_dir=$2 ;;
      --protocol) protocols=$2 ;;
      --pinglist) pinglist=$2 ;;
      --subnet) subnet=$2 ;;
      --fabric) fabric=$2 ;;
      --fault) faults+=("${2//host-/}") ;;  # as the page names them
    esac
    shift 2
  done
  [[ $hosts =~ ^[0-9]{1,2}$ ]] && ((10#$hosts >= 2 && 10#$hosts <= 64)) || fail "--hosts takes a number from 2 to 64" 2
  hosts=$((10#$hosts))
  [[ -z $duration || $duration =~ ^[1-9][0-9]{0,6}$ ]] || fail "--duration takes seconds" 2
  [[ $http =~ ^.+:[0-9]{1,5}$ ]] || fail "--http takes ADDR:PORT" 2
  [[ $subnet =~ ^(127\.[0-9]{1,3}\.[0-9]{1,3})\.0/24$ ]] || fail "--subnet takes a loopback /24 such as 127.0.1.0/24" 2
  network=${BASH_REMATCH[1]}
  local protocol
  for protocol in ${protocols//,/ }; do
    [[ $protocol == rdma || $protocol == udp || $protocol == tcp ]] || fail "--protocol knows rdma, udp and tcp, not '$protocol'" 2
  done
  [ -n "${protocols//,/}" ] || fail "--protocol names no protocol" 2
  [ -z "$pinglist" ] || [ -r "$pinglist" ] || fail "cannot read $pinglist"
  if [ -n "$fabric" ]; then
    [ -z "$pages$dta$pinglist" ] || fail "--fabric is without --pages, --dta and --pinglist" 2
    return
  fi
  local fault
  for fault in "${faults[@]}"; do check_fault "$fault"; done
}

check_fault() {
  [[ $1 =~ ^(slow|lossy)=([0-9]{1,2})$ || $1 =~ ^(pair)=([0-9]{1,2}),([0-9]{1,2})$ ]] ||
    fail "--fault takes slow=HOST, lossy=HOST or pair=HOST,HOST, each HOST a number from 1 to $hosts, not '$1'" 2
  local number
  for number in "${BASH_REMATCH[@]:2}"; do
    [ -z "$number" ] || { ((10#$number >= 1 && 10#$number <= hosts)) || fail "--fault: there is no host $number of $hosts" 2; }
  done
}

# With --devices, the agents' addresses are those of RDMA devices.
choose_devices() {
  if [ -n "$ask_devices" ]; then
    "$bin/pingloom" devices || fail "no RDMA devices to choose from; without --devices the demo uses the soft device"
    local line
    read -rp "Addresses for the agents, separated by commas: " line || fail "no addresses given" 2
    IFS=', ' read -ra addresses <<<"$line"
  fi
  ((${#addresses[@]} >= 2)) || fail "--devices needs at least two addresses" 2
  [ ${#faults[@]} -eq 0 ] || fail "--fault impairs the soft device only; leave out --devices" 2
  [ -z "$pages$dta" ] || fail "--pages and --dta show the soft device; leave out --devices" 2
  rdma_device=auto
  hosts=${#addresses[@]}
  local address
  for address in "${addresses[@]}"; do
    "$bin/pingloom" devices --address "$address" >"$run_dir/log/devices.log" 2>&1 ||
      { cat "$run_dir/log/devices.log" >&2; fail "no RDMA device can be used for $address"; }
  done
}

build() {
  local sections=(run build web) targets=(pingloom pingloom-agent pingloom-controller web)
  if [ -n "$pages" ]; then sections+=(pages) targets+=(pingloom-collector pages_orders pingloom-pages); fi
  if [ -n "$dta" ]; then
    sections+=(pages) targets+=(pingloom-collector pingloom-translator report_queue_state pingloom-report)
  fi
  "$root/scripts/install-packages.sh" "${sections[@]}"
  echo "Building (the first time takes a few minutes) ..."
  # A tree that is configured already keeps its tests and benchmarks; a new one needs neither.
  local options=()
  [ -e "$root/build/release/CMakeCache.txt" ] || options=(-DPINGLOOM_TESTS=OFF -DPINGLOOM_BENCH=OFF)
  cmake -S "$root" --preset release "${options[@]}" >"$run_dir/log/configure.log" 2>&1 ||
    { cat "$run_dir/log/configure.log" >&2; fail "cmake could not configure the build"; }
  cmake --build "$root/build/release" --target "${targets[@]}" ||
    fail "the build failed"
}

# A window has ten samples, and there are no more exchanges than two cores carry easily.
write_pinglist() {
  local interval=200ms window=2s
  ((hosts <= 16)) || { interval=500ms window=5s; }
  ((hosts <= 32)) || { interval=1s window=5s; }
  {
    echo "# This is the demo's pinglist. Edit and save it, and the mesh follows within a second."
    echo "version: 1"
    echo "defaults: { interval: $interval, timeout: 500ms, window: $window }"
    echo "hosts:"
    local i
    for ((i = 1; i <= hosts; i++)); do
      printf '  host-%02d: { address: %s, rack: r%d }\n' "$i" "${addresses[i - 1]}" $(((i + 3) / 4))
    done
    echo "probes:"
    local members
    members=$(printf ', %s' "${addresses[@]}")
    [ "$rdma_device" != soft ] || members=", \"$network.[1-$hosts]\""
    for protocol in ${protocols//,/ }; do
      printf '  - name: %s\n    protocol: %s\n    mesh: [%s]\n' "$protocol" "$protocol" "${members:2}"
    done
  } >"$pinglist"
}

write_configs() {
  cat >"$run_dir/controller.yaml" <<EOF
pinglist: $pinglist
control: $network.254:20711
http: $http
state_dir: $run_dir/controller
redis: embedded
redis_socket: $run_dir/redis.sock
url_file: $run_dir/url
EOF
  local i
  for ((i = 1; i <= hosts; i++)); do
    cat >"$run_dir/agent-$i.yaml" <<EOF
controller: $network.254:20711
host: $(printf 'host-%02d' "$i")
addresses: [${addresses[i - 1]}]
http: none
state_dir: $run_dir/agent-$i
rdma: { device: $rdma_device$(impairments "$i") }
EOF
  done
  [ -z "$pages$dta" ] || write_collector_config
  [ -z "$pages" ] || write_pages_configs
  [ -z "$dta" ] || write_dta_configs
}

# A soft device needs an address for itself alone, so pages, collector and translator have other addresses than the probes.
write_collector_config() {
  cat >"$run_dir/collector.yaml" <<EOF
address: $network.202
device: soft
http: 127.0.0.1:0
url_file: $run_dir/collector.url
EOF
}

write_pages_configs() {
  echo "pages: { address: $network.201, socket: $run_dir/pages.sock }" >>"$run_dir/agent-1.yaml"
  echo "agents: [$network.201]" >>"$run_dir/collector.yaml"
}

pages_shown() { "$bin/pingloom" pages --check --url "$(cat "$run_dir/collector.url")" >"$run_dir/log/pages.log" 2>&1; }

start_pages() {
  export PINGLOOM_PAGES_SOCKET=$run_dir/pages.sock PINGLOOM_PAGES_LIBRARY=$bin/../lib/libpingloom-pages.so.0
  start orders "$bin/pages_orders"
  start queue python3 "$root/examples/pages/queue.py"
  wait_until 20 "the applications' metrics" pages_shown
}

start_collector() {
  start collector "$bin/pingloom-collector" --config "$run_dir/collector.yaml"
  wait_until 20 "the collector" test -s "$run_dir/collector.url"
}

# Prints what host $1's soft device does to the packets it sends. Both directions of a pair pass it, once as a PING and once
# as a PONG.
impairments() {
  local fault list=''
  for fault in "${faults[@]}"; do
    check_fault "$fault"
    ((10#${BASH_REMATCH[2]} == $1)) || continue
    case ${BASH_REMATCH[1]} in
      slow) list+=", { delay: 2ms, jitter: 500us }" ;;
      lossy) list+=", { loss: 20% }" ;;
      pair) list+=", { to: ${addresses[10#${BASH_REMATCH[3]} - 1]}, loss: 30%, delay: 2ms }" ;;
    esac
  done
  [ -z "$list" ] || echo ", impair: [${list:2}]"
}

children=()
start() { # NAME COMMAND...: in its own session, so that Ctrl-C reaches it only through stop_all
  local name=$1
  shift
  setsid setpriv --pdeathsig TERM "$@" >"$run_dir/log/$name.log" 2>&1 </dev/null &
  children+=($!)
}

start_in() { # NODE NAME COMMAND...: in the fabric, the command runs in that node
  local node=$1 name=$2
  shift 2
  [ -z "$fabric" ] || set -- ip netns exec "plf-$node" "$@"
  start "$name" "$@"
}

stop_all() {
  trap - INT TERM EXIT
  [ -z "$fabric" ] || "$root/scripts/fabric.sh" fault clear 2>/dev/null || true # ends what delays packets
  [ ${#children[@]} -gt 0 ] || return 0
  local agents=("${children[@]:1}") pid
  [ ${#agents[@]} -eq 0 ] || kill "${agents[@]}" 2>/dev/null || true
  for pid in "${agents[@]}"; do wait "$pid" 2>/dev/null || true; done
  kill "${children[0]}" 2>/dev/null || true
  wait "${children[0]}" 2>/dev/null || true
}

wait_until() { # SECONDS WHAT COMMAND...
  local limit=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    kill -0 "${children[0]}" 2>/dev/null || { tail -n 5 "$run_dir/log/controller.log" >&2; fail "the controller ended; its log is $run_dir/log/controller.log"; }
    ((SECONDS < limit)) || { tail -n 5 "$run_dir/log/controller.log" >&2; fail "$what: not within the time allowed; logs are in $run_dir/log"; }
    sleep 0.1
  done
}

agents_alive() {
  local pid i=0
  for pid in "${children[@]:1}"; do
    i=$((i + 1))
    kill -0 "$pid" 2>/dev/null || { tail -n 3 "$run_dir/log/agent-$i.log" >&2; fail "agent $i ended; its log is $run_dir/log/agent-$i.log"; }
  done
}

main() {
  local i
  parse_options "$@"
  if [ -z "$run_dir" ]; then run_dir=$(mktemp -d /tmp/pingloom-demo.XXXXXX); fi
  mkdir -p "$run_dir/log"
  run_dir=$(cd "$run_dir" && pwd)
  # A Unix socket's path holds at most 107 bytes.
  ((${#run_dir} <= 90)) || fail "--run-dir is too long for a Unix socket: $run_dir"
  rm -f "$run_dir/url" "$run_dir/collector.url" "$run_dir/translator.url"
  if [ -n "$pinglist" ]; then pinglist=$(realpath "$pinglist"); fi
  bin=${PINGLOOM_BIN:-$root/build/release/bin}
  [ -n "${PINGLOOM_BIN:-}" ] || build
  if [ -n "$fabric" ]; then
    [ -n "${FORWARD_FD:-}" ] || enter_fabric "$@"
    build_fabric
    pinglist=$run_dir/pinglist.yaml
    write_fabric_pinglist
  elif [ -n "$ask_devices" ] || [ ${#addresses[@]} -gt 0 ]; then
    choose_devices
  else
    for ((i = 1; i <= hosts; i++)); do addresses+=("$network.$i"); done
  fi
  if [ -z "$pinglist" ]; then pinglist=$run_dir/pinglist.yaml; write_pinglist; fi
  "$bin/pingloom" check "$pinglist" >"$run_dir/log/check.log" 2>&1 || { cat "$run_dir/log/check.log" >&2; fail "the pinglist is not valid"; }
  if [ -n "$fabric" ]; then write_fabric_configs; else write_configs; fi

  trap 'stop_all; echo "stopped"; exit 130' INT TERM
  trap stop_all EXIT
  start_in management controller "$bin/pingloom-controller" --config "$run_dir/controller.yaml"
  wait_until 20 "the dashboard" test -s "$run_dir/url"
  for ((i = 1; i <= hosts; i++)); do
    start_in "host$((i - 1))" "agent-$i" "$bin/pingloom-agent" --config "$run_dir/agent-$i.yaml"
  done
  [ -z "$fabric" ] || start_in management forward python3 -B "$root/scripts/demo/forward.py" serve 10.99.0.1:8080
  sleep 0.5
  agents_alive
  [ -z "$pages$dta" ] || start_collector
  [ -z "$pages" ] || start_pages
  [ -z "$dta" ] || start_dta

  local url outside
  url=$(cat "$run_dir/url")
  outside=${FORWARD_URL:-$url}
  local how="RDMA on the soft device: RoCEv2 in user space, kernel timestamps"
  [ "$rdma_device" = soft ] || how="RDMA by libibverbs; the rows name device and clock"
  [[ ,$protocols, == *,rdma,* ]] || how="no RDMA"
  cat <<EOF

$hosts agents on ${addresses[0]} to ${addresses[hosts - 1]} are probing each other ($protocols; $how).
  dashboard   $outside
  results     redis-cli -s $run_dir/redis.sock HGETALL pingloom:latest:${protocols%%,*}:${addresses[0]}
  worst pairs $bin/pingloom top --url $outside
  pinglist    $pinglist   (an edit shows within a second)
${fabric:+  paths       $bin/pingloom path ${addresses[0]} ${addresses[hosts - 1]} --url $outside
  fabric      $bin/pingloom fabric --url $outside
}${pages:+  pages       curl $(cat "$run_dir/collector.url")/metrics   or: $bin/pingloom pages --watch --url $(cat "$run_dir/collector.url")
}${dta:+$(dta_hints)
}  logs        $run_dir/log
  stop        Ctrl-C
EOF
  if [ -z "$duration" ]; then
    wait "${children[0]}" || fail "the controller ended; its log is $run_dir/log/controller.log"
    return
  fi
  echo "Measuring for $duration s ..."
  # It waits in the background, so that the shell acts on a signal at once.
  sleep "$duration" & wait $!
  [ -z "$dta" ] || show_dta
  [ -z "$pages" ] || "$bin/pingloom" pages --check --url "$(cat "$run_dir/collector.url")"
  if [ -n "$fabric" ]; then
    inside management "$bin/pingloom" incidents --url "$url" || true  # its exit code says that there are some
    inside management "$bin/pingloom" mesh --check --url "$url"
  else
    "$bin/pingloom" mesh --check --url "$url"
  fi
}

main "$@"

#!/usr/bin/env bash
# What an exchange costs an agent on kernel Soft-RoCE, compared with ibv_ud_pingpong on the same guest:
#   scripts/lab.sh --hosts 2 --run bench/lab_exchange/measure.sh
# Two agents ping each other over verbs. The CPU time is that of the two agents' processes, or of the two ping-pongs.
# An exchange has three messages, PING, PONG and ACK; a round of the ping-pong has two.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
cd "$dir"
rounds=1000 seconds=10 runs=5

cat >controller.yaml <<EOF
pinglist: $dir/pinglist.yaml
control: 127.0.0.1:20711
http: 127.0.0.1:8080
state_dir: $dir/controller
redis: embedded
EOF
for i in 1 2; do
  cat >"agent-$i.yaml" <<EOF
controller: 127.0.0.1:20711
host: h$i
addresses: [10.0.0.$i]
state_dir: $dir/agent-$i
http: 127.0.0.1:910$i
EOF
done

fail() {
  echo "FAILED: $1" >&2
  tail -n 20 ./*.log >&2
  exit 1
}

pinglist() { # INTERVAL
  cat >pinglist.new <<EOF
version: 1
probes:
  - { name: rdma, protocol: rdma, mesh: [10.0.0.1, 10.0.0.2], interval: $1, window: 2s }
EOF
  mv pinglist.new pinglist.yaml
}

# Prints the seconds of CPU, the exchanges begun and the exchanges answered of both agents so far.
figures() {
  python3 - <<'EOF'
import urllib.request
cpu = sent = answered = 0
for i in (1, 2):
    for line in urllib.request.urlopen(f"http://127.0.0.1:910{i}/metrics").read().decode().splitlines():
        if line.startswith("process_cpu_seconds_total"):
            cpu += float(line.split()[-1])
        if line.startswith('pingloom_agent_pings_sent_total{protocol="rdma"}'):
            sent += float(line.split()[-1])
        if line.startswith('pingloom_agent_pings_answered_total{protocol="rdma"}'):
            answered += float(line.split()[-1])
print(cpu, int(sent), int(answered))
EOF
}

# Waits until so many more than $1 are answered.
wait_answered() { # FROM MORE
  local try answered
  for ((try = 0; try < 120; try++)); do
    if read -r _ _ answered < <(figures 2>/dev/null) && ((answered >= $1 + $2)); then return; fi
    sleep 0.5
  done
  fail "the agents do not answer each other"
}

agents() { # INTERVAL
  local before after answered
  pinglist "$1"
  read -r _ _ answered < <(figures 2>/dev/null || echo 0 0 0)
  wait_answered "$answered" 20
  before=$(figures)
  sleep "$seconds"
  after=$(figures)
  awk 'NR == 1 { cpu = $1; sent = $2 }
    NR == 2 { printf "%.1f\n", ($1 - cpu) / ($2 - sent) * 1e6 }' <<<"$before"$'\n'"$after" >>"every-$1"
}

pingpong() {
  local options=(-g 1 -n "$rounds" -s 64 -e) server
  TIMEFORMAT='%U %S'
  { time timeout 120 ibv_ud_pingpong -d rxe1 "${options[@]}" >server.log 2>&1; } 2>server.time &
  server=$!
  until [ -n "$(ss -Hltn "sport = :18515")" ]; do
    kill -0 $server 2>/dev/null || fail "ibv_ud_pingpong ended"
    sleep 0.1 # its time limit ends the wait
  done
  { time timeout 120 ibv_ud_pingpong -d rxe2 "${options[@]}" 127.0.0.1 >client.log 2>&1; } 2>client.time || fail "ibv_ud_pingpong"
  wait $server || fail "ibv_ud_pingpong"
  awk -v rounds="$rounds" '
    { cpu += $1 + $2 }
    END { printf "%.1f\n", cpu / rounds * 1e6 }' server.time client.time >>pingpong
}

pinglist 1s
pingloom-controller --config controller.yaml >controller.log 2>&1 &
processes=($!)
for i in 1 2; do
  pingloom-agent --config "agent-$i.yaml" >"agent-$i.log" 2>&1 &
  processes+=($!)
done
wait_answered 0 1
# All take turns, because what else the machine does changes the figures of an emulated processor.
for ((run = 0; run < runs; run++)); do
  agents 100ms
  agents 10ms
  kill -STOP "${processes[@]}"
  pingpong
  kill -CONT "${processes[@]}"
done
kill "${processes[@]}"
wait "${processes[@]}" || true

figure() { # NAME FILE
  xargs python3 -B "$root/bench/report/figures.py" "$1" "us of CPU" <"$2"
}
figure "exchange of two agents, each pinging every 10 ms (three messages)" every-10ms
figure "limit: round of ibv_ud_pingpong -e (two messages)" pingpong
figure "exchange of two agents, each pinging every 100 ms" every-100ms

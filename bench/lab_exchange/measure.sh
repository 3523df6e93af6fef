#!/usr/bin/env bash
# What an exchange costs an agent on kernel Soft-RoCE, beside ibv_ud_pingpong on the same guest:
#   scripts/lab.sh --hosts 2 --run bench/lab_exchange/measure.sh
# Two agents ping each other over verbs; CPU is theirs alone (utime + stime), as it is the ping-pong's.
# An exchange is PING, PONG and ACK: three messages; a ping-pong round is two.
set -euo pipefail

dir=$(mktemp -d)
cd "$dir"
rounds=1000 seconds=40 interval=100ms

cat >pinglist.yaml <<EOF
version: 1
probes:
  - { name: rdma, protocol: rdma, mesh: [10.0.0.1, 10.0.0.2], interval: $interval, window: 2s }
EOF
cat >controller.yaml <<EOF
pinglist: $dir/pinglist.yaml
control: 127.0.0.1:20711
http: 127.0.0.1:8080
state_dir: $dir/controller
redis: embedded
EOF
for i in 1 2; do
  printf 'controller: 127.0.0.1:20711\nhost: h%d\naddresses: [10.0.0.%d]\nstate_dir: %s/agent-%d\nhttp: 127.0.0.1:910%d\n' \
    $i $i "$dir" $i $i >"agent-$i.yaml"
done

pingpong() {
  local options=(-g 1 -n "$rounds" -s 64 -e) server
  TIMEFORMAT='%U %S'
  { time ibv_ud_pingpong -d rxe1 "${options[@]}" >server.log 2>&1; } 2>server.time &
  server=$!
  until ss -Hltn "sport = :18515" | grep -q .; do sleep 0.2; done
  { time ibv_ud_pingpong -d rxe2 "${options[@]}" 127.0.0.1 >client.log 2>&1; } 2>client.time
  wait $server
  awk -v rounds="$rounds" '{ cpu += $1 + $2 } END { printf "%.0f\n", cpu / rounds * 1e6 }' server.time client.time
}

# Seconds of CPU and exchanges of both agents so far.
figures() {
  python3 - <<'EOF'
import urllib.request
cpu = sent = 0
for i in (1, 2):
    for line in urllib.request.urlopen(f"http://127.0.0.1:910{i}/metrics").read().decode().splitlines():
        if line.startswith("process_cpu_seconds_total"):
            cpu += float(line.split()[-1])
        if line.startswith('pingloom_agent_pings_sent_total{protocol="rdma"}'):
            sent += float(line.split()[-1])
print(cpu, sent)
EOF
}

pingloom-controller --config controller.yaml >controller.log 2>&1 &
for i in 1 2; do pingloom-agent --config agent-$i.yaml >"agent-$i.log" 2>&1 & done
sleep 15
before=$(figures)
sleep $seconds
after=$(figures)
kill $(jobs -p)
wait
echo "agents: $(awk '{ if (NR == 1) { c = $1; s = $2 } else printf "%.0f us of CPU per exchange (%d exchanges)", ($1 - c) / ($2 - s) * 1e6, $2 - s }' <<<"$before
$after")"
for run in 1 2 3; do echo "ibv_ud_pingpong -e, round: $(pingpong) us of CPU"; done

# The part of demo.sh that shows direct telemetry access. demo.sh sources it.

# The tables' numbers are those of examples/report.
write_dta_configs() {
  cat >>"$run_dir/collector.yaml" <<EOF
stores:
  - translator: demo
    file: $run_dir/demo.store
    tables:
      - { name: latest, id: 1, kind: keyed, slots: 1000, value: 24B }
      - { name: events, id: 2, kind: lists, blocks: 1024, entry: 160B }
      - { name: counts, id: 3, kind: counters, counters: 1000 }
EOF
  cat >"$run_dir/translator.yaml" <<EOF
address: $network.203
device: soft
name: demo
collector: $network.202
listen: $network.203:20716
http: $network.203:20718
url_file: $run_dir/translator.url
EOF
  local i
  for ((i = 1; i <= hosts; i++)); do
    echo "events: { translator: $network.203, table: 2 }" >>"$run_dir/agent-$i.yaml"
  done
}

dta() { "$bin/pingloom" dta "$@" --url "$(cat "$run_dir/collector.url")"; }
dta_stored() { dta get latest text:queue-7 && dta count counts text:link-7; }
dta_shown() { dta_stored >"$run_dir/log/dta.log" 2>&1; }

start_dta() {
  export PINGLOOM_TRANSLATOR=$network.203 PINGLOOM_REPORT_LIBRARY=$bin/../lib/libpingloom-report.so.0
  start translator "$bin/pingloom-translator" --config "$run_dir/translator.yaml"
  wait_until 20 "the translator" test -s "$run_dir/translator.url"
  start queue_state "$bin/report_queue_state" "$PINGLOOM_TRANSLATOR" 1000000000
  start links python3 "$root/examples/report/links.py"
  wait_until 20 "the reporters' values" dta_shown
}

dta_hints() {
  local url
  url=$(cat "$run_dir/collector.url")
  cat <<EOF
  telemetry   $url/
              $bin/pingloom dta tail events --url $url
              $bin/pingloom dta get latest text:queue-7 --url $url
              $bin/pingloom dta top counts --url $url
EOF
}

show_dta() {
  dta tables
  dta_stored
}

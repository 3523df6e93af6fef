# Sourced by scripts/demo.sh: the demo in a leaf-spine fabric of network namespaces (scripts/fabric.sh).

inside() { # NODE COMMAND...
  local node=$1
  shift
  ip netns exec "plf-$node" "$@"
}

# Runs this script again in namespaces of its own, which vanish with it. The dashboard's port is opened before.
enter_fabric() {
  local unshare=(unshare --net --mount)
  [ "$(id -u)" = 0 ] || unshare+=(--user --map-root-user)
  "${unshare[@]}" true 2>/dev/null || fail "this system does not permit network namespaces for you; try as root"
  exec env PINGLOOM_BIN="$bin" python3 -B "$root/scripts/demo/forward.py" listen "$http" \
    "${unshare[@]}" "$root/scripts/demo.sh" "$@" --run-dir "$run_dir"
}

build_fabric() {
  mount -t tmpfs tmpfs /run
  mkdir -p /run/netns
  ip link set lo up
  local fault arguments=()
  for fault in "${faults[@]}"; do arguments+=(--fault "$fault"); done
  "$root/scripts/fabric.sh" up "$fabric" "${arguments[@]}" || fail "the fabric could not be built"
  mapfile -t addresses < <("$root/scripts/fabric.sh" hosts | sed -n 's/.*address: "\([^"]*\)".*/\1/p')
  hosts=${#addresses[@]}
}

write_fabric_pinglist() {
  "$root/scripts/fabric.sh" topology >"$run_dir/topology.yaml"
  {
    echo "version: 1"
    echo "defaults: { interval: 500ms, timeout: 500ms, window: 5s }"
    echo "topology: topology.yaml"
    "$root/scripts/fabric.sh" hosts
    echo "probes:"
    local members protocol
    members=$(printf ', "%s"' "${addresses[@]}")
    for protocol in ${protocols//,/ }; do
      printf '  - { name: %s, protocol: %s, mesh: [%s]%s }\n' "$protocol" "$protocol" "${members:2}" \
        "$([ "$protocol" != rdma ] || echo ', paths: 8')"
    done
  } >"$pinglist"
}

write_fabric_configs() {
  cat >"$run_dir/controller.yaml" <<EOF
pinglist: $pinglist
control: 10.99.0.1:20711
http: 10.99.0.1:8080
insecure: true    # nothing reaches these namespaces but the dashboard's port
state_dir: $run_dir/controller
redis: embedded
redis_socket: $run_dir/redis.sock
url_file: $run_dir/url
EOF
  local i
  for ((i = 1; i <= hosts; i++)); do
    cat >"$run_dir/agent-$i.yaml" <<EOF
controller: 10.99.0.1:20711
host: host$((i - 1))
addresses: ["${addresses[i - 1]}"]
http: none
state_dir: $run_dir/agent-$i
rdma: { device: soft }
EOF
  done
}

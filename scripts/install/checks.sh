# shellcheck shell=bash disable=SC2154
# Checks whether pingloom can run on this host, and says what to do where it cannot. All checks precede the first change.

check_faults=0
good() { printf '    ok       %s\n' "$1"; }
warn() { printf '    warning  %s\n' "$1"; }
bad() { printf '    FAILS    %s\n' "$1"; check_faults=$((check_faults + 1)); }

check_host() {
  check_faults=0
  check_system
  check_rdma
  check_ports
  check_time
  check_other_install
  [ -z "$with_controller" ] || check_controller
  ! needs_address || check_address
  if [ "$check_faults" -gt 0 ]; then
    [ -n "$dry" ] || fail "nothing was changed; correct what fails above and start again"
    say "an installation would end here; the steps below are for a host without these faults"
  fi
}

# ProtectHome and PrivateTmp in the units hide these folders from the services.
check_prefix() {
  local folder
  folder=$(realpath -m "$prefix")
  case $folder/ in
    /home/* | /root/* | /run/user/* | /tmp/* | /var/tmp/*)
      fail "--prefix $prefix: the services see no files below $folder (ProtectHome, PrivateTmp of their units); take a folder such as /opt/pingloom" 2 ;;
  esac
}

check_system() {
  if [ "$(id -u)" -eq 0 ]; then good "root, to install; the services have users of their own"; else bad "not root: start with sudo"; fi
  if [ -d /run/systemd/system ]; then
    good "systemd $(systemd_version)"
  else
    bad "systemd is not this host's init; without it start the programs by hand (README)"
  fi
  command -v apt-get >/dev/null || warn "no apt-get: this installation was never run on RHEL and its relatives (docs/install.md)"
  local kernel
  kernel=$(uname -r)
  if [ "$(printf '%s\n' 5.4 "${kernel%%-*}" | sort -V | head -n 1)" = 5.4 ]; then
    good "kernel $kernel"
  else
    bad "kernel $kernel is older than 5.4"
  fi
  local free
  free=$(df -Pk /var/lib | awk 'NR == 2 { print int($4 / 1024) }')
  if [ "$free" -ge 1024 ]; then good "$free MiB free in /var/lib"; else warn "only $free MiB free in /var/lib: the agent's spool takes up to 256 MiB, history up to 4 GiB (both configurable)"; fi
}

check_rdma() {
  if [ "$device" = soft ]; then good "RDMA by the soft device, as asked"; return; fi
  if compgen -G '/dev/infiniband/uverbs*' >/dev/null; then
    good "/dev/infiniband: $(compgen -G '/dev/infiniband/uverbs*' | wc -l) device(s)"
  else
    warn "no /dev/infiniband: RDMA probes wait for a device (load the NIC's driver and ib_uverbs), or --device soft; UDP and TCP probes work"
  fi
  if [[ $(ldconfig -p) == *'libibverbs.so.1 '* ]]; then good "libibverbs"; else say "libibverbs is not installed yet: it is among the packages below"; fi
}

# port_of FILE KEY DEFAULT prints the port in a configuration, or the default where there is no configuration.
port_of() {
  local found=''
  [ ! -r "$1" ] || found=$(sed -nE "s/^$2:[[:space:]]*([^#]*:)?([0-9]+)[[:space:]]*(#.*)?\$/\\2/p" "$1" | head -n 1)
  printf '%s' "${found:-$3}"
}

# A port that a pingloom service holds is free for the service.
check_port() { # PROTOCOL PORT WHAT
  local line
  line=$(ss -Hln"${1:0:1}"p "sport = :$2" 2>/dev/null | head -n 1)
  if [ -z "$line" ] || [[ $line == *'"pingloom'* ]]; then good "$1 port $2 ($3)"; return; fi
  [[ $line =~ \(\(\"([^\"]+)\",pid=([0-9]+) ]] || true
  bad "$1 port $2 ($3) is taken by ${BASH_REMATCH[1]:-another program} (process ${BASH_REMATCH[2]:-unknown}): stop it, or configure another port"
}

check_ports() {
  command -v ss >/dev/null || { warn "no 'ss' (iproute2): ports not checked"; return; }
  if [ -n "$with_agent" ]; then
    local port
    port=$(port_of "$config_dir/agent.yaml" port 20710)
    check_port udp "$port" "probes"
    check_port tcp "$port" "probes"
    [ "$device" != soft ] || check_port udp 4791 "soft RDMA device"
  fi
  if [ -n "$with_controller" ]; then
    check_port tcp "$(port_of "$config_dir/controller.yaml" control 20711)" "agents"
    check_port tcp "$(port_of "$config_dir/controller.yaml" http 8080)" "dashboard"
  fi
  [ -z "$with_collector" ] || check_port tcp "$(port_of "$config_dir/collector.yaml" http 20715)" "collector"
}

check_time() {
  if [ "$(timedatectl show -p NTPSynchronized --value 2>/dev/null)" = yes ]; then
    good "the clock is synchronised"
  else
    warn "the clock is not known to be synchronised: windows of different hosts do not line up in history; install chrony"
  fi
}

# The controller starts a Redis of its own unless the configuration names another one.
check_controller() {
  local redis=embedded
  [ ! -r "$config_dir/controller.yaml" ] || redis=$(sed -nE 's/^redis:[[:space:]]*([^[:space:]#]+).*/\1/p' "$config_dir/controller.yaml")
  case ${redis:-embedded} in
    embedded)
      if command -v redis-server >/dev/null; then good "redis-server, which the controller starts"; else say "redis-server is not installed yet: it is among the packages below"; fi ;;
    unix:*)
      if [ -S "${redis#unix:}" ]; then good "Redis at ${redis#unix:}"; else warn "no Redis at ${redis#unix:}: the controller is not ready before it exists"; fi ;;
    tcp:*) good "Redis is ${redis#tcp:}; the controller is not ready before it answers" ;;
  esac
}

# The first pinglist and the collector's first configuration name an address of this host.
needs_address() {
  local examples=$prefix/share/pingloom/config
  [ -n "$with_controller" ] && [ -z "$pinglist" ] && writes_config pinglist.yaml "$examples" && return
  [ -n "$with_collector" ] && writes_config collector.yaml "$examples"
}

check_address() {
  [ -n "$address" ] || address=$(own_address)
  if [ -n "$address" ]; then good "address $address"; else bad "this host has no address; --address ADDR names one"; fi
}

# own_address prints the address of the default route, or the first one that is not loopback, or nothing.
own_address() {
  local found
  found=$(ip -o route get 192.0.2.1 2>/dev/null | sed -nE 's/.* src ([0-9.]+).*/\1/p') || true
  [ -n "$found" ] || found=$(hostname -I 2>/dev/null | awk '{ print $1 }') || true
  printf '%s' "$found"
}

# Two installations would install the same services.
check_other_install() {
  local before=''
  [ ! -r "$record/mode" ] || before=$(cat "$record/mode")
  if [ "$mode" = tree ] && command -v dpkg-query >/dev/null && dpkg-query -W -f '${Status}' pingloom-cli 2>/dev/null | grep -q ' installed$'; then
    bad "pingloom is installed as Debian packages: upgrade with .debs, or remove them first (apt-get remove 'pingloom-*')"
  elif [ "$mode" = deb ] && [ "$before" = tree ]; then
    bad "pingloom is installed in a prefix, by this script: upgrade with the tarball, or remove it first (install.sh -d)"
  fi
  if [ -r "$record/prefix" ] && [ "$mode" = tree ] && [ "$(cat "$record/prefix")" != "$prefix" ]; then
    bad "pingloom is installed in $(cat "$record/prefix"): use --prefix $(cat "$record/prefix"), or remove it first (install.sh -d)"
  fi
}

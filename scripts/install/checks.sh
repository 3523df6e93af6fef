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
  check_controller_port
  check_given_pinglist
  check_other_controller
  check_key_files
  ! needs_address || check_address
  check_given_address
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

# Will RDMA probes of this host find a device?
has_rdma() { [ "$device" = soft ] || compgen -G '/dev/infiniband/uverbs*' >/dev/null; }

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
  [ ! -r "$1" ] || found=$(sed -nE "s/^$2:[[:space:]]*[\"']?([^#]*:)?([0-9]+)[\"']?[[:space:]]*(#.*)?\$/\\2/p" "$1" | head -n 1)
  printf '%s' "${found:-$3}"
}

# A port that a pingloom service holds is free for the service.
check_port() { # PROTOCOL PORT WHAT [warn]
  local line
  line=$(ss -Hln"${1:0:1}"p "sport = :$2" 2>/dev/null | head -n 1)
  if [ -z "$line" ] || [[ $line == *'"pingloom'* ]]; then good "$1 port $2 ($3)"; return; fi
  [[ $line =~ \(\(\"([^\"]+)\",pid=([0-9]+) ]] || true
  "${4:-bad}" "$1 port $2 ($3) is taken by ${BASH_REMATCH[1]:-another program} (process ${BASH_REMATCH[2]:-unknown}): stop it, or configure another port"
}

check_ports() {
  command -v ss >/dev/null || { warn "no 'ss' (iproute2): ports not checked"; return; }
  if [ -n "$with_agent" ]; then
    local port
    port=$(port_of "$config_dir/agent.yaml" port 20710)
    check_port udp "$port" "probes"
    check_port tcp "$port" "probes"
    [ "$device" != soft ] || check_port udp 4791 "soft RDMA device"
    # The agent probes without these two.
    check_port tcp "$(port_of "$config_dir/agent.yaml" http 20712)" "agent's metrics" warn
    check_port tcp 20714 "metric pages" warn
  fi
  if [ -n "$with_controller" ]; then
    check_port tcp "$(port_of "$config_dir/controller.yaml" control 20711)" "agents"
    check_port tcp "$(port_of "$config_dir/controller.yaml" http 8080)" "dashboard"
  fi
  [ -z "$with_collector" ] || check_port tcp "$(port_of "$config_dir/collector.yaml" http 20715)" "collector"
  [ -n "$with_translator" ] || return 0
  check_port udp "$(port_of "$config_dir/translator.yaml" listen 20716)" "reports"
  check_port tcp "$(port_of "$config_dir/translator.yaml" http 20718)" "translator's metrics"
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
    tcp:*) check_redis_port "${redis#tcp:}" ;;
  esac
}

check_redis_port() { # HOST:PORT
  local host=${1%:*}
  host=${host#[} host=${host%]}
  # shellcheck disable=SC2016  # the inner shell expands them
  if timeout 3 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$host" "${1##*:}" 2>/dev/null; then
    good "Redis listens at $1"
  else
    warn "nobody listens at $1, the Redis of the configuration: the controller is not ready before it answers"
  fi
}

check_controller_port() {
  local port=${controller##*:}
  [[ $controller == *:* && ! ( $controller == \[*\] ) ]] || return 0
  if [[ ! $port =~ ^[0-9]{1,5}$ ]] || ((10#$port < 1 || 10#$port > 65535)); then
    bad "--controller $controller: the port is not a number 1..65535"
  fi
}

# A program that is there already can check it before anything is changed; otherwise it is checked before pingloom is installed.
check_given_pinglist() {
  [ -n "$pinglist" ] || return 0
  local program
  for program in "$tree/cli/bin/pingloom" "$prefix/bin/pingloom"; do
    "$program" --version >/dev/null 2>&1 || continue
    if "$program" check "$pinglist" >"$work/check.log" 2>&1; then
      good "pinglist $pinglist"
    else
      sed 's/^/    | /' "$work/check.log"
      bad "the pinglist $pinglist is not valid (above)"
    fi
    return 0
  done
}

# A key that a kept configuration names and that is missing would end the service.
check_key_files() {
  local role file
  for role in "${roles[@]}"; do
    [ -r "$config_dir/$role.yaml" ] || continue
    file=$(value_of "$config_dir/$role.yaml" keys secret)
    [ -n "$file" ] || continue
    [[ $file == /* ]] || file=$config_dir/$file
    if [ -f "$file" ]; then good "key $file"; else bad "$config_dir/$role.yaml names the key $file, which does not exist: pingloom keys generate makes one (docs/keys.md)"; fi
  done
}

# may_have_address tells whether an address is one of this host's, or whether nobody can say.
may_have_address() { # ADDRESS
  command -v ip >/dev/null || return 0
  ip -o addr show 2>/dev/null | awk '{ sub(/\/.*/, "", $4); print $4 }' | grep -qxiF -e "$1"
}

# Services can bind only what the host has.
check_given_address() {
  was_given --address || return 0
  may_have_address "$address" ||
    bad "--address $address is no address of this host (ip addr shows them)"
}

# The first pinglist and the first configurations of collector and translator name an address of this host.
needs_address() {
  local examples=$prefix/share/pingloom/config
  joins_controllers && writes_config controller.yaml "$examples" && return
  [ -n "$with_controller" ] && [ -z "$pinglist" ] && writes_config pinglist.yaml "$examples" && return
  [ -n "$with_collector" ] && writes_config collector.yaml "$examples" && return
  [ -n "$with_translator" ] && writes_config translator.yaml "$examples"
}

check_address() {
  [ -n "$address" ] || address=$(own_address)
  if [ -n "$address" ]; then good "address $address"; else bad "this host has no address; --address ADDR names one"; fi
}

# own_address prints the first address of an RDMA device, else the address of the default route, else the first one that is not
# loopback, or nothing.
own_address() {
  local found=''
  [ "$device" = soft ] || found=$(rdma_address)
  [ -n "$found" ] || found=$(ip -o route get 192.0.2.1 2>/dev/null | sed -nE 's/.* src ([0-9.]+).*/\1/p') || true
  [ -n "$found" ] || found=$(hostname -I 2>/dev/null | awk '{ print $1 }') || true
  printf '%s' "$found"
}

# rdma_address prints the first IPv4 address of a network interface of an RDMA device, or nothing.
rdma_address() {
  local file interface
  for file in /sys/class/infiniband/*/ports/*/gid_attrs/ndevs/*; do
    interface=$(cat "$file" 2>/dev/null) || continue
    [ -n "$interface" ] || continue
    ip -o -4 addr show dev "$interface" scope global 2>/dev/null | awk '{ sub(/\/.*/, "", $4); print $4 }'
  done | head -n 1
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

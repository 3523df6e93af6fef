# shellcheck shell=bash disable=SC2154,SC2034
# Writes the first configuration. An existing one stays as it is.

install_config() { # ROLE
  local examples=$prefix/share/pingloom/config
  [ -z "$dry" ] || [ -z "$tree" ] || examples=$tree/$1/share/pingloom/config
  [ -z "$dry" ] || [ -z "$checkout" ] || examples=$checkout/config
  case $1 in
    agent)
      first_config agent.yaml "$examples" agent_config
      join_role agent ;;
    collector)
      first_config collector.yaml "$examples" collector_config
      join_role collector ;;
    translator) first_config translator.yaml "$examples" translator_config ;;
    controller)
      if joins_controllers && writes_config controller.yaml "$examples"; then
        take_shared_files "$examples"
        first_config controller.yaml "$examples" joined_config
        return
      fi
      ! writes_config controller.yaml "$examples" || first_keys=yes
      first_config controller.yaml "$examples" controller_config
      keep_without_keys
      first_config pinglist.yaml "$examples" first_pinglist ;;
  esac
}

# Does this installation write the file? It replaces a package's conffile that nobody has edited, and no other.
writes_config() { # NAME EXAMPLES
  [ ! -e "$config_dir/$1" ] || { [ "$mode" = deb ] && cmp -s "$config_dir/$1" "$2/$1"; }
}

first_config() { # NAME EXAMPLES FILTER
  local file=$config_dir/$1 owned
  if ! writes_config "$1" "$2"; then
    say "keeps $file"
    tell_kept "$1"
    return
  fi
  say "writes $file"
  owned=$("$3" <"$2/$1") || fail "no configuration could be made from $2/$1"
  [ -n "$dry" ] || check_config "$1" "$owned"
  printf '%s\n' "$owned" | put 644 "$file"
}

# Only the program knows whether what the options say is valid.
check_config() { # NAME CONTENT
  printf '%s\n' "$2" >"$work/$1"
  "$prefix/bin/pingloom" check "$work/$1" >"$work/check.log" 2>&1 && return 0
  cat "$work/check.log" >&2
  fail "--controller, --translator, --address, --device or --pinglist makes a configuration that is not valid (above); $config_dir/$1 was not written" 2
}

# controller_list prints the controllers as YAML. Without quotes, [IPV6] would be a list.
controller_list() {
  case $controllers in
    *,*) printf '["%s"]' "${controllers//,/\", \"}" ;;
    *) printf '"%s"' "$controller" ;;
  esac
}

agent_config() {
  sed -E "s|^controller:.*|controller: $(controller_list)|"
  [ "$device" = auto ] || printf '\nrdma: { device: %s }\n' "$device"
  printf '\n# Applications on this host may write metric pages (docs/pages.md); a host without an RDMA device serves none.\n'
  if [ "$device" = soft ]; then echo 'pages: { address: 127.0.0.1 }'; else echo 'pages: {}'; fi
}

# A soft device needs an address of its own for pages, collector and translator, because UDP port 4791 of the host's address
# belongs to its probes. On loopback they reach each other on this host only.
role_address() { # LOOPBACK ADDRESS
  if [ "$device" = soft ] && [ -n "$with_agent" ] && ! was_given --address; then printf '%s' "$1"; else printf '%s' "$address"; fi
}

controller_config() {
  cat
  controller_keys
}

host_of() { # HOST, HOST:PORT, [IPV6], [IPV6]:PORT -> HOST or [IPV6]
  if [[ $1 == \[*\]* ]]; then printf '%s' "${1%%]*}]"; else printf '%s' "${1%%:*}"; fi
}

# dashboard_list prints the URLs of the controllers' dashboards as YAML.
dashboard_list() {
  local one url urls='' all
  IFS=, read -ra all <<<"${controllers:-$controller}"
  for one in "${all[@]}"; do
    url="\"http://$(host_of "$one"):8080\""
    [[ $urls == *"$url"* ]] || urls+="${urls:+, }$url"  # two controllers on one host have one dashboard here
  done
  case $urls in *,*) printf '[%s]' "$urls" ;; *) printf '%s' "$urls" ;; esac
}

# The controller knows all agents, but answers on loopback only unless it is configured otherwise. So a collector on another host
# also reads the agent of its own host.
collector_config() {
  sed -E -e "s|^address:.*|address: \"$(role_address 127.0.0.2)\"|" -e "s|^agents:.*|controller: $(dashboard_list)|" -e '/^#controller:/d'
  [ "$device" = auto ] || printf '\ndevice: %s\n' "$device"
  # With a token, join_with writes the agent together with its key once both exist.
  [ -z "$with_agent" ] || [ -n "$with_controller$join" ] || printf '\nagents: ["%s"]\n' "$(local_pages)"
}

translator_config() {
  sed -E -e "s|^address:.*|address: \"$(role_address 127.0.0.3)\"|" -e "s|^collector:.*|collector: \"$stores_at\"|"
  [ "$device" = auto ] || printf '\ndevice: %s\n' "$device"
}

local_pages() { if [ "$device" = soft ]; then printf '127.0.0.1'; else printf '%s' "$address"; fi; }

first_pinglist() {
  if [ -n "$pinglist" ]; then
    cat >/dev/null
    cat "$pinglist"
    return
  fi
  cat >/dev/null
  cat <<LIST
# This file says who probes whom. Hosts whose agents register are in the group 'all', so a new host needs no edit.
# docs/pinglist.md explains every key, pingloom check $config_dir/pinglist.yaml checks an edit, and a saved file is in force
# within a second.
version: 1

groups:
  # The first address of each agent. Where hosts have several networks, name the one to probe:
  #   members: [{ registered: { within: 10.1.0.0/16 } }]
  all: { members: registered }

probes:
LIST
  if has_rdma; then
    cat <<LIST
  # RDMA pings between all hosts that have an RDMA device; an address without one is left out.
  - name: rdma
    protocol: rdma
    mesh: all
    self: true
LIST
  else
    cat <<LIST
  # This host has no RDMA device. Where the others have one, write 'protocol: rdma' instead; hosts without a NIC for it can use
  # RoCEv2 in user space: 'rdma: { device: soft }' in $config_dir/agent.yaml, or install.sh --device soft (docs/rdma.md).
  - name: udp
    protocol: udp
    mesh: all
    self: true
LIST
  fi
}

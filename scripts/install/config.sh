# shellcheck shell=bash disable=SC2154
# Writes the first configuration. An existing one stays as it is.

install_config() { # ROLE
  local examples=$prefix/share/pingloom/config
  [ -z "$dry" ] || [ -z "$tree" ] || examples=$tree/$1/share/pingloom/config
  [ -z "$dry" ] || [ -z "$checkout" ] || examples=$checkout/config
  case $1 in
    agent) first_config agent.yaml "$examples" agent_config ;;
    collector) first_config collector.yaml "$examples" collector_config ;;
    controller)
      first_config controller.yaml "$examples" cat
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
  fail "--controller, --address, --device or --pinglist makes a configuration that is not valid (above); $config_dir/$1 was not written" 2
}

agent_config() {
  sed -E "s|^controller:.*|controller: \"$controller\"|"  # without quotes, [IPV6] would be a list
  [ "$device" = auto ] || printf '\nrdma: { device: %s }\n' "$device"
}

host_of() { # HOST, HOST:PORT, [IPV6], [IPV6]:PORT -> HOST or [IPV6]
  if [[ $1 == \[*\]* ]]; then printf '%s' "${1%%]*}]"; else printf '%s' "${1%%:*}"; fi
}

collector_config() {
  sed -E -e "s|^address:.*|address: \"$address\"|" -e "s|^agents:.*|controller: \"http://$(host_of "$controller"):8080\"|" -e '/^#controller:/d'
  [ "$device" = auto ] || printf '\ndevice: %s\n' "$device"
}

first_pinglist() {
  if [ -n "$pinglist" ]; then
    cat >/dev/null
    cat "$pinglist"
    return
  fi
  cat >/dev/null
  cat <<LIST
# This file says who probes whom. Add the other hosts' addresses; install.sh takes this host's address there as --controller.
# docs/pinglist.md explains every key, pingloom check $config_dir/pinglist.yaml checks an edit, and a saved file is in force
# within a second.
version: 1
probes:
  - name: hosts
    protocol: udp
    mesh: ["$address"]
    self: true
LIST
}

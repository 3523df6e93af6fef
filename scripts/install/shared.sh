# shellcheck shell=bash disable=SC2154,SC2034
# Makes this host's controller one of several (docs/scale.md): `-c --join FOLDER`, where FOLDER is a copy of another controller's
# /etc/pingloom.

joins_controllers() { [ -n "$with_controller" ] && [ -n "$join" ]; }

# check_other_controller is called before anything is changed.
check_other_controller() {
  joins_controllers && [ ! -e "$config_dir/controller.yaml" ] || return 0
  local other=$join/controller.yaml named key
  if ! grep -qE '^([^#]*[{,[:space:]])?postgres:' "$other" || ! grep -q '^cluster:' "$other"; then
    bad "$other has no 'history: { postgres: ... }' or no 'cluster:', so its controller shares nothing; set it up first (docs/scale.md)"
    return
  fi
  named=$(value_of "$other" cluster name)
  if [ "$named" = "$(controller_name)" ]; then
    bad "the controller of $other is called $(controller_name), like this host: give one of them another name"
  fi
  key=$(value_of "$other" keys secret)
  if [ -z "$key" ]; then
    [ -n "$(value_of "$other" insecure)" ] || bad "$other has no keys and no 'insecure: true'"
  elif [ ! -r "$(copy_of "$key")" ]; then
    bad "the key $key of $other is not in $join: copy the whole folder as root (scp -rp)"
  fi
  check_bound control
  check_bound http
  [ -n "$(value_of "$other" cluster address)" ] ||
    warn "$other says no 'address' in 'cluster', so the agent of this host learns of this host's controller only: add the other to 'controller' in $config_dir/agent.yaml"
  named=${named:-$(value_of "$other" cluster address)}
  good "the controller${named:+ $named}, with which this one shares history and keys"
}

# name_other_controller lets the agent of this host know the other controller too, so that it goes there while this host's is away.
name_other_controller() {
  local other port
  port=$(port_of "$join/controller.yaml" control 20711)
  [ "$port" = 20711 ] || controller+=:$port
  other=$(value_of "$join/controller.yaml" cluster address)
  controllers=$controller${other:+,$other}
}

# Agents that were installed before know fewer controllers.
tell_all_agents() {
  say "agents on other hosts, also on that of the other controller, have to know this one: add $(own_control "$join/controller.yaml") to 'controller' in $config_dir/agent.yaml there, then systemctl reload pingloom-agent"
}

# own_control prints where other hosts reach this controller.
own_control() { # CONTROLLER.YAML
  local host=${address:-$(own_address)}
  [[ $host != *:* ]] || host="[$host]"
  printf '%s:%s' "$host" "$(port_of "$1" control 20711)"
}

controller_name() { hostname -s; }

# check_bound KEY refuses an address of the other host at which this one cannot listen.
check_bound() { # KEY
  local text host
  text=$(value_of "$join/controller.yaml" "$1")
  host=$(host_of "$text")
  host=${host#[} host=${host%]}
  case $host in '' | 0.0.0.0 | :: | 127.* | ::1 | localhost) return 0 ;; esac
  [[ $text == *:* ]] || return 0  # a port alone
  may_have_address "$host" ||
    bad "$join/controller.yaml says '$1: $text', which is no address of this host: write one that all hosts have there, such as 0.0.0.0:${text##*:}"
}

# copy_of prints where a file that the other controller's configuration names is in the copy.
copy_of() { # PATH
  case $1 in
    "$config_dir"/*) printf '%s' "$join/${1#"$config_dir"/}" ;;
    /*) printf '%s' "$1" ;;
    *) printf '%s' "$join/$1" ;;
  esac
}

# Everything that the controller reads comes along; what is there already stays. Other roles' files are those of the other host.
take_shared_files() { # EXAMPLES
  local path examples=$1
  while read -r path; do
    case $path in
      controller.yaml | agent.yaml | collector.yaml | translator.yaml | keys/agent.* | keys/collector.* | keys/translator.*) continue ;;
    esac
    if ! writes_config "$path" "$examples"; then say "keeps $config_dir/$path"; continue; fi
    say "writes $config_dir/$path"
    [ -z "$dry" ] || continue
    mkdir -p "$(dirname "$config_dir/$path")"
    case $path in
      pinglist.yaml | *.pub) put 644 "$config_dir/$path" <"$join/$path" ;;
      *)  # it may have a secret
        put 600 "$config_dir/$path" <"$join/$path"
        chown pingloom-controller: "$config_dir/$path" ;;
    esac
  done < <(cd "$join" && find . -type f | sed 's|^\./||' | sort)
}

# joined_config prints the other controller's configuration with this one's name and address.
joined_config() {
  local other=$join/controller.yaml authorized key
  awk '/^[^[:space:]#]/ { skip = index($0, "cluster:") == 1 } !skip { print }' "$other"
  printf 'cluster: { name: "%s", address: "%s" }\n' "$(controller_name)" "$(own_control "$other")"
  [ -z "$dry" ] || return 0
  authorized=$(value_of "$other" keys authorized)
  [ -n "$authorized" ] || return 0
  [[ $authorized == /* ]] || authorized=$config_dir/$authorized
  # The list is empty at first; the keys of the others come through the database.
  [ -d "$(dirname "$authorized")" ] ||
    install -d -m 0750 -o pingloom-controller -g pingloom-controller "$(dirname "$authorized")" >&2 || return 1
  key=$(value_of "$other" keys secret)
  [[ $key == /* ]] || key=$config_dir/$key
  prepare_keys "$key" "$authorized" >/dev/null || return 1
}

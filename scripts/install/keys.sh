# shellcheck shell=bash disable=SC2154,SC2034
# Makes keys (docs/keys.md): the controller's own, and with a join token those of agent and collector on this host.

authorized_list=$state_dir/controller/authorized_keys.yaml
config_changed='' waits_for_approval='' first_keys=''

check_key_options() {
  [ -z "$join" ] || [ -z "$insecure" ] || fail "--join and --insecure exclude each other" 2
  if joins_controllers; then
    [ -r "$join/controller.yaml" ] ||
      fail "with -c, --join takes a folder: a copy of another controller's /etc/pingloom (scp -rp HOST:/etc/pingloom FOLDER), with which this one shares its history (docs/scale.md)" 2
    [ -z "$pinglist" ] || fail "--pinglist has no place beside -c --join: all controllers have the same" 2
    return 0
  fi
  if [ -n "$join" ] && [ ! -r "$join" ]; then
    [[ $join =~ ^pingloom-join-[0-9a-f]{144}$ ]] ||
      fail "--join takes a whole token, which begins with pingloom-join-, or a file with one; 'pingloom keys token create' at the controller makes one" 2
  fi
}

# A host that is installed for the first time has to say how it is let in. --controller may also name this host.
check_how_to_join() {
  [ -z "$join$insecure$with_controller" ] || return 0
  ! is_this_host "$(host_of "$controller")" || return 0
  local role
  for role in "${roles[@]}"; do
    if [ "$role" = controller ] || [ "$role" = translator ] || [ -e "$config_dir/$role.yaml" ]; then continue; fi
    fail "a new host needs a token: --join TOKEN ('pingloom keys token create' at the controller makes one); --insecure is for a controller without keys" 2
  done
}

is_this_host() { [[ $1 == localhost || $1 == 127.* || $1 == '[::1]' ]]; }

has_keys() { [ -e "$1" ] && [ -n "$(value_of "$1" keys)" ]; } # FILE

# The line of a first controller.yaml that says who is let in.
controller_keys() {
  if [ -n "$insecure" ]; then
    printf '\n# Everybody who reaches this host may register as any agent: install.sh --insecure. docs/keys.md says how to change that.\ninsecure: true\n'
    return
  fi
  printf '\n'
  if [ -n "$dry" ]; then
    printf 'keys: { secret: "%s", authorized: "%s" }\n' "$config_dir/keys/controller.key" "$authorized_list"
    return
  fi
  # The service replaces the list when hosts join, so it lies in the service's own folder.
  install -d -m 0750 -o pingloom-controller -g pingloom-controller "$state_dir/controller" >&2
  prepare_keys "$config_dir/keys/controller.key" "$authorized_list"
}

# prepare_keys makes what is missing of a controller's key and list, and prints the line for its configuration. The command reads
# no key of another user than its own, and the key may be there already: from another controller, or from an installation that
# did not finish.
prepare_keys() { # KEY LIST
  [ ! -e "$1" ] || chown root: "$1" || return 1
  "$prefix/bin/pingloom" keys prepare --key "$1" --file "$2" || return 1
  chown pingloom-controller: "$1"
}

# Adds lines at the end of a configuration. A rollback takes them away again.
append_config() { # FILE LINE...
  local role file=$1
  role=$(basename "$file" .yaml)
  shift
  [ -e "$work/config-before.$role" ] || cp -a "$file" "$work/config-before.$role"
  { cat "$file"; printf '%s\n' '' "$@"; } | put "$(stat -c %a "$file")" "$file"
  config_changed=yes
}

take_back_config() { # ROLE
  [ ! -e "$work/config-before.$1" ] || mv -f "$work/config-before.$1" "$config_dir/$1.yaml"
}

# An installation from before keys were the rule goes on as it was.
keep_without_keys() {
  local file=$config_dir/controller.yaml control
  if [ ! -e "$file" ] || has_keys "$file" || [ -n "$(value_of "$file" insecure)" ]; then return 0; fi
  control=$(value_of "$file" control)
  ! is_this_host "${control%:*}" || return 0
  warn "this controller has no keys: anybody who reaches it can register as any host. It stays so, as 'insecure: true' in $file says now; docs/keys.md says how to introduce keys without downtime"
  [ -n "$dry" ] || append_config "$file" "# There were no keys when this installation was upgraded; docs/keys.md says how to introduce them." "insecure: true"
}

# Authorises this host's key of a role, and names the key in the role's configuration.
join_role() { # agent or collector
  local file=$config_dir/$1.yaml token=$join
  ! joins_controllers || token=''
  [ -z "$insecure" ] || return 0
  if [ -z "$token" ]; then
    if [ ! -e "$config_dir/controller.yaml" ] || ! has_keys "$config_dir/controller.yaml" || has_keys "$file"; then return 0; fi
    joins_controllers || is_this_host "$(host_of "${controller:-localhost}")" || return 0
  fi
  if [ -n "$dry" ]; then say "would run: pingloom keys join --role $1 TOKEN, and write 'keys' into $file"; return; fi
  [ -n "$token" ] || token=$("$prefix/bin/pingloom" keys token create --config "$config_dir/controller.yaml" --uses 1 --expires 10m --role "$1" --name "this host's $1" 2>/dev/null) || fail "no token could be made for this host's $1"
  join_with "$1" "$file" "$token"
}

join_with() { # ROLE FILE TOKEN
  local line code=0 options=(--role "$1" --config "$2")
  if [ "$1" != agent ] && [ -n "$controller" ]; then options+=(--controller "$controller"); fi
  line=$("$prefix/bin/pingloom" keys join "${options[@]}" "$3" 2>"$work/join.log") || code=$?
  sed 's/^/    /' "$work/join.log"
  case $code in
    0) ;;
    3) waits_for_approval=yes ;;
    *)
      # A host that has joined before needs no token to go on.
      if has_keys "$2"; then warn "--join has no effect (above); $2 stays as it is"; return; fi
      fail "this host's $1 could not join (above); nothing was started" ;;
  esac
  ! has_keys "$2" || return 0
  chown "pingloom-$1:" "$config_dir/keys/$1.key"
  local lines=("$line") agent_key=$config_dir/keys/agent.key.pub
  if [ "$1" = collector ] && [ -n "$with_agent" ] && [ -z "$with_controller" ] && [ -r "$agent_key" ]; then
    lines+=("agents: [{ agent: \"$(local_pages)\", key: \"$(cat "$agent_key")\" }]")
  fi
  append_config "$2" "${lines[@]}"
}

# The line that installs pingloom on all other hosts. Where this host has a soft device the first pinglist probes by RDMA, so the
# others need a device too.
tell_other_hosts() {
  local token host soft=''
  [ "$device" != soft ] || soft=' --device soft'
  if ! has_keys "$config_dir/controller.yaml"; then
    say "all other hosts: ./install.sh --controller $(own_address) --insecure$soft"
    return
  fi
  if [ -z "$first_keys" ]; then
    say "a token for other hosts: pingloom keys token create"
    return
  fi
  host=${address:-$(own_address)}
  [[ $host != *:* ]] || host="[$host]"
  token=$("$prefix/bin/pingloom" keys token create --config "$config_dir/controller.yaml" --name "install.sh -c" 2>/dev/null) || fail "no token could be made: pingloom keys token create"
  say "all other hosts, within 24 hours (pingloom keys token create makes another token):"
  printf '\n./install.sh --controller %s --join %s%s\n\n' "$host" "$token" "$soft"
  [ -z "$soft" ] || say "a host with an RDMA device of its own does not need --device soft"
}

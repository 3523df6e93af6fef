# shellcheck shell=bash disable=SC2154,SC2034
# -d takes away what was installed and keeps configuration and data; --purge takes those, the users and the packages.

uninstall_all() {
  [ "$(id -u)" -eq 0 ] || [ -n "$dry" ] || fail "not root: start with sudo"
  local before='' role
  [ ! -r "$record/mode" ] || before=$(cat "$record/mode")
  if [ -z "$before" ] && [ -z "$purge" ]; then say "nothing of pingloom was installed by this script"; return; fi
  step "stopping the services"
  for role in collector agent controller; do
    [ -n "$(systemctl list-unit-files --no-legend "pingloom-$role.service" 2>/dev/null)" ] || continue
    run systemctl disable --now --quiet "pingloom-$role.service"
    run systemctl reset-failed "pingloom-$role.service" 2>/dev/null || true
  done
  step "removing programs and units"
  case $before in
    tree) remove_trees ;;
    deb) remove_debs ;;
  esac
  [ -z "$purge" ] || purge_rest
  [ -n "$purge" ] || say "kept: $config_dir, $state_dir and the users (install.sh -d --purge removes them)"
}

remove_trees() {
  local path
  while read -r path; do run rm -f "$path"; done < <(cat "$record"/manifest.*)
  [ -z "$dry" ] || return 0
  # Those that install.sh made, the deepest first, unless somebody else has put something there.
  if [ -e "$record/folders" ]; then
    sort -ru "$record/folders" | while read -r path; do rmdir --ignore-fail-on-non-empty "$path" 2>/dev/null || true; done
  fi
  rm -f "$record"/manifest.* "$record/folders" "$record/mode" "$record/prefix"
  systemctl daemon-reload
}

remove_debs() {
  local names=() name
  for name in "${all_debs[@]}"; do
    ! installed "$name" || names+=("$name")
  done
  if [ ${#names[@]} -gt 0 ]; then take_debs_away remove "${names[@]}"; fi
  run rm -rf "$record/debs" "$record/mode"
}

all_debs=(pingloom-collector pingloom-agent pingloom-controller pingloom-cli)

take_debs_away() { # remove or purge NAME...
  if [ -n "$dry" ]; then say "would run: apt-get $*"; return; fi
  apt_options=()
  apt_quietly "$@" || { cat "$work/apt.log" >&2; fail "apt-get could not $1 them (above)"; }
}

# What removed packages have left: their conffiles, and what their scripts keep until then.
purge_debs() {
  local names=() name
  command -v dpkg-query >/dev/null || return 0
  for name in "${all_debs[@]}"; do
    ! dpkg-query -W "$name" >/dev/null 2>&1 || names+=("$name")
  done
  [ ${#names[@]} -eq 0 ] || take_debs_away purge "${names[@]}"
}

purge_rest() {
  step "removing configuration, data, users"
  local user
  purge_debs
  remove_packages
  run rm -rf "$unit_dir"/pingloom-{agent,controller,collector}.service.d "$config_dir" "$state_dir" /run/pingloom{,-controller,-collector,-install.lock}
  for user in pingloom-agent pingloom-controller pingloom-collector; do
    ! getent passwd "$user" >/dev/null || run userdel "$user"
    ! getent group "$user" >/dev/null || run groupdel "$user"
  done
  ! getent group pingloom >/dev/null || run groupdel pingloom
}

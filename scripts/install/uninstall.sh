# shellcheck shell=bash disable=SC2154,SC2034
# -d removes what was installed and keeps configuration and data. --purge also removes those, the users and the packages.

uninstall_all() {
  [ "$(id -u)" -eq 0 ] || [ -n "$dry" ] || fail "not root: start with sudo"
  local before='' role
  [ ! -r "$record/mode" ] || before=$(cat "$record/mode")
  if [ -z "$before" ] && [ -z "$purge" ]; then say "nothing of pingloom was installed by this script"; return; fi
  step "stopping the services"
  for role in translator collector agent controller; do
    [ -n "$(systemctl list-unit-files --no-legend "pingloom-$role.service" 2>/dev/null)" ] || continue
    run systemctl disable --now --quiet "pingloom-$role.service"
    run systemctl reset-failed "pingloom-$role.service" 2>/dev/null || true
  done
  run rm -rf /run/pingloom  # the agent's unit keeps it from one run to the next
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
  # Folders that install.sh made are removed, the deepest first, unless they have other files.
  if [ -e "$record/folders" ]; then
    while read -r path; do run rmdir --ignore-fail-on-non-empty "$path" 2>/dev/null || true; done < <(sort -ru "$record/folders")
  fi
  run rm -f "$record"/manifest.* "$record/folders" "$record/mode" "$record/prefix"
  run systemctl daemon-reload
}

remove_debs() {
  local names=() name
  for name in "${all_debs[@]}"; do
    ! installed "$name" || names+=("$name")
  done
  if [ ${#names[@]} -gt 0 ]; then take_debs_away remove "${names[@]}"; fi
  run rm -rf "$record/debs" "$record/mode"
}

all_debs=(pingloom-translator pingloom-collector pingloom-agent pingloom-controller pingloom-cli)

take_debs_away() { # remove or purge NAME...
  if [ -n "$dry" ]; then say "would run: apt-get $*"; return; fi
  apt_options=()
  apt_quietly "$@" || { cat "$work/apt.log" >&2; fail "apt-get could not $1 them (above)"; }
}

# A package is known if it is installed, or was removed without its configuration.
known_package() { command -v dpkg-query >/dev/null && dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qvx not-installed; }

# Purges the packages, which removes their conffiles and what their scripts keep until then.
purge_debs() {
  local names=() name
  command -v dpkg-query >/dev/null || return 0
  for name in "${all_debs[@]}"; do
    ! known_package "$name" || names+=("$name")
  done
  [ ${#names[@]} -eq 0 ] || take_debs_away purge "${names[@]}"
}

purge_rest() {
  step "removing configuration, data, users"
  local user
  purge_debs
  remove_packages
  run rm -rf "$unit_dir"/pingloom-{agent,controller,collector,translator}.service.d "$config_dir" "$state_dir" \
    /run/pingloom{-controller,-collector,-translator,-install.lock} /dev/shm/pingloom  # the last are a collector's stores
  # A package's script has removed the users by now, but a dry run has purged no package.
  if [ -n "$dry" ] && known_package pingloom-cli; then say "the package pingloom-cli removes its users with it"; return; fi
  for user in pingloom-agent pingloom-controller pingloom-collector pingloom-translator; do remove_user "$user"; done
  ! getent group pingloom >/dev/null || run groupdel pingloom
}

# userdel also removes the user's own group.
remove_user() { # NAME
  if getent passwd "$1" >/dev/null; then
    run userdel "$1"
    [ -z "$dry" ] || return 0
  fi
  ! getent group "$1" >/dev/null || run groupdel "$1"
}

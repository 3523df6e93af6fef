# shellcheck shell=bash disable=SC2154
# Installs one role after the other: its files, configuration and service. If the service does not become ready, the previous
# version is put back.

work=$(mktemp -d)
placed=''  # the component whose service is not ready yet

# However the script ends, an unfinished upgrade is rolled back. An unfinished first installation is recorded, so that -d can
# remove it.
leave() {
  if [ -n "$placed" ] && [ ! -e "$record/manifest.$placed" ]; then
    keep_component "$placed"
  elif [ -n "$placed" ]; then
    take_back_component "$placed"
    take_back_config "$placed"
    systemctl daemon-reload
    [ "$placed" = cli ] || systemctl restart --no-block "pingloom-$placed.service"
  fi
  rm -rf "$work"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

only_one() {
  if [ -n "$dry" ] || [ "$(id -u)" -ne 0 ]; then return; fi  # the checks say that root is needed
  exec 9>/run/pingloom-install.lock
  flock -n 9 || fail "another install.sh runs on this host"
}

property() { systemctl show -p "$2" --value "pingloom-$1.service"; }

# Starts or restarts the service and waits until it is ready.
service_ready() { # ROLE
  local before deadline=$((SECONDS + wait_seconds))
  before=$(property "$1" InvocationID)
  systemctl reset-failed "pingloom-$1.service" 2>/dev/null || true
  systemctl restart --no-block "pingloom-$1.service" || return 1
  while ((SECONDS < deadline)); do
    case $(property "$1" ActiveState) in
      active) [ "$(property "$1" InvocationID)" = "$before" ] || return 0 ;;
      failed) return 1 ;;
    esac
    sleep 0.2
  done
  return 1
}

tell_failure() { # ROLE
  printf '    pingloom-%s was not ready: %s\n' "$1" "$(property "$1" StatusText)" >&2
  journalctl -u "pingloom-$1.service" -n 8 --no-pager -o cat 2>/dev/null | sed 's/^/    | /' >&2 || true
}

install_role() { # cli or ROLE
  step "$([ "$1" = cli ] && echo "the command pingloom" || echo "pingloom-$1")"
  if [ "$mode" = deb ]; then install_deb "$1"; return; fi
  if [ -n "$dry" ]; then dry_role "$1"; return; fi
  local changed='' fresh=yes
  [ ! -e "$record/manifest.$1" ] || fresh=''
  if component_changed "$1"; then
    changed=yes
    placed=$1
    place_component "$1"
  fi
  if [ "$1" != cli ]; then
    config_changed='' waits_for_approval=''
    install_config "$1"
    [ -z "$changed" ] || systemctl daemon-reload
    start_role "$1" "$changed" "$fresh"
  fi
  if [ -n "$changed" ]; then keep_component "$1"; else say "this version is installed already"; fi
}

start_role() { # ROLE CHANGED FRESH
  systemctl enable --quiet "pingloom-$1.service"
  if [ -n "$waits_for_approval" ]; then
    systemctl restart --no-block "pingloom-$1.service"
    say "starts as soon as its key is approved: pingloom keys approve, at the controller"
    return
  fi
  if [ -z "$2$config_changed" ] && [ "$(property "$1" ActiveState)" = active ]; then return; fi
  if service_ready "$1"; then say "ready: $(property "$1" StatusText)"; return; fi
  tell_failure "$1"
  if [ -n "$3" ] || [ -z "$2" ]; then
    [ -z "$2" ] || keep_component "$1"
    fail "pingloom-$1 is installed but not ready after ${wait_seconds} s; it keeps trying (systemctl status pingloom-$1)"
  fi
  take_back_component "$1"
  take_back_config "$1"
  placed=''
  systemctl daemon-reload
  roll_back_to_ready "$1"
}

roll_back_to_ready() { # ROLE
  if service_ready "$1"; then
    fail "pingloom-$1 did not become ready, so the version before it is back, and ready"
  fi
  fail "pingloom-$1 did not become ready; the version before it is back and is not ready either (systemctl status pingloom-$1)"
}

dry_role() { # cli or ROLE
  if [ -n "$checkout" ]; then
    say "would install the component '$1' of $checkout/build/release into $prefix"
  else
    local path
    while read -r path; do say "would install: $(place_of "$path")"; done < <(component_files "$1")
  fi
  [ "$1" != cli ] || return 0
  install_config "$1"
  say "would run: systemctl daemon-reload"
  say "would run: systemctl enable pingloom-$1.service"
  say "would run: systemctl restart pingloom-$1.service, unless nothing has changed; then wait up to $wait_seconds s until it is ready, and roll back otherwise"
}

# Installs a .deb. The script keeps the .deb that it installed, so that it can roll back to it.
install_deb() { # cli or ROLE
  local file kept=$record/debs old='' fresh=yes
  file=$(compgen -G "$here/pingloom-${1}_*.deb" | sort -V | tail -n 1) || fail "there is no pingloom-$1_*.deb beside install.sh"
  old=$(compgen -G "$kept/pingloom-${1}_*.deb" | tail -n 1) || true
  [ "$1" = cli ] || ! installed "pingloom-$1" || fresh=''
  if [ -n "$old" ] && cmp -s "$old" "$file" && installed "pingloom-$1"; then
    say "this version is installed already"
    config_changed='' waits_for_approval=''
    [ "$1" = cli ] || [ -n "$dry" ] || { install_config "$1"; start_role "$1" '' ''; }
    return
  fi
  put_deb "$file" || fail "$file could not be installed"
  run mkdir -p "$kept"
  echo deb | put 644 "$record/mode"
  if [ "$1" != cli ]; then
    config_changed='' waits_for_approval=''
    install_config "$1"
    run systemctl enable --quiet "pingloom-$1.service"
    [ -n "$dry" ] || start_deb "$1" "$old" "$fresh"
  fi
  [ -z "$old" ] || run rm -f "$old"
  run cp "$file" "$kept/"
}

put_deb() { # FILE
  if [ -n "$dry" ]; then say "would run: apt-get install $1"; return; fi
  mapfile -t apt_options < <(offline_options)
  [ ${#apt_options[@]} -eq 0 ] || apt_quietly update || true
  apt_install --allow-downgrades --reinstall -o Dpkg::Options::=--force-confold -o Dpkg::Options::=--force-confdef "$1" ||
    { cat "$work/apt.log" >&2; return 1; }
}

start_deb() { # ROLE OLD FRESH
  if [ -n "$waits_for_approval" ]; then start_role "$1" '' ''; return; fi
  if service_ready "$1"; then say "ready: $(property "$1" StatusText)"; return; fi
  tell_failure "$1"
  [ -z "$3" ] || fail "pingloom-$1 is installed but not ready after ${wait_seconds} s; it keeps trying (systemctl status pingloom-$1)"
  [ -n "$2" ] || fail "pingloom-$1 did not become ready, and the package before it was not kept: apt-get install pingloom-$1=VERSION brings one back"
  take_back_config "$1"
  put_deb "$2" || fail "pingloom-$1 did not become ready, and $2 could not be installed again"
  roll_back_to_ready "$1"
}

# shellcheck shell=bash disable=SC2154,SC2034
# Puts a component's files in place one by one by renaming. The previous files are kept until the service is ready.

# place_of prints where a path below a prefix goes on this host. Units go where systemd looks, whatever the prefix is.
place_of() { # PATH
  case $1 in
    lib/systemd/system/*) printf '%s' "$unit_dir/${1##*/}" ;;
    share/pingloom/systemd/*) printf '%s' "$unit_dir/${1#share/pingloom/systemd/}" ;;
    *) printf '%s' "$prefix/$1" ;;
  esac
}

# content_of prints a file as it is on this host, where units name the programs' folder.
content_of() { # FILE
  case $1 in
    *.service) sed "s|^ExecStart=/usr/bin/|ExecStart=$prefix/bin/|" "$1" ;;
    *) cat "$1" ;;
  esac
}

# systemd_version prints systemd's version as a number, which is 252 for Debian 12.
systemd_version() { systemctl --version | sed -nE '1s/^systemd ([0-9]+).*/\1/p'; }

# component_files prints a component's paths, without drop-ins that this host's systemd does not know
# (systemd/restart-steps.conf).
component_files() { # COMPONENT
  local skipped=./share/pingloom/systemd
  [[ $(systemd_version) -lt 254 ]] || skipped=''
  (cd "$tree/$1" && find . -path "$skipped" -prune -o \( -type f -o -type l \) -print | sed 's|^\./||' | sort)
}

component_changed() { # COMPONENT
  local path
  while read -r path; do
    # cmp ends at the first difference. A pipe's writer would then complain where SIGPIPE is ignored, so this is no pipe.
    content_of "$tree/$1/$path" >"$work/content"
    cmp -s "$work/content" "$(place_of "$path")" || return 0
  done < <(component_files "$1")
  return 1
}

# Puts the files in place. Previous files are kept in $work/before/COMPONENT, and files that are new are listed in
# $work/new.COMPONENT.
place_component() { # COMPONENT
  local path place kept=$work/before/$1
  mkdir -p "$kept"
  : >"$work/new.$1"
  : >"$work/manifest.$1"
  while read -r path; do
    place=$(place_of "$path")
    echo "$place" >>"$work/manifest.$1"
    if [ -e "$place" ]; then
      mkdir -p "$kept$(dirname "$place")"
      cp -a "$place" "$kept$place"
    else
      echo "$place" >>"$work/new.$1"
    fi
    make_folder "$(dirname "$place")"
    content_of "$tree/$1/$path" | put "$(mode_of "$tree/$1/$path")" "$place"
  done < <(component_files "$1")
}

# Folders that it makes are recorded, so that -d can remove them.
make_folder() { # PATH
  [ ! -d "$1" ] || return 0
  make_folder "$(dirname "$1")"
  mkdir -p "$record"
  mkdir "$1"
  echo "$1" >>"$record/folders"
}

mode_of() { if [ -x "$1" ]; then echo 755; else echo 644; fi; }

# Removes the files that this version no longer has, and records the others so that -d can remove them.
keep_component() { # COMPONENT
  mkdir -p "$record"
  if [ -e "$record/manifest.$1" ]; then
    comm -23 <(sort "$record/manifest.$1") <(sort "$work/manifest.$1") | while read -r path; do rm -f "$path"; done
  fi
  cp "$work/manifest.$1" "$record/manifest.$1"
  echo tree >"$record/mode"
  echo "$prefix" >"$record/prefix"
  placed=''
}

take_back_component() { # COMPONENT
  local path
  while read -r path; do rm -f "$path"; done <"$work/new.$1"
  (cd "$work/before/$1" && find . -type f -o -type l) | while read -r path; do
    cp -a "$work/before/$1/$path" "/$path.pingloom-new" && mv -f "/$path.pingloom-new" "/$path"
  done
}

# Makes the users for a tree. .debs make the same users themselves.
install_users() {
  if [ "$mode" = deb ]; then say "by the packages"; return; fi
  local cli=$tree/cli/lib
  if [ -n "$checkout" ] && [ -n "$dry" ]; then cli=$checkout/systemd; fi
  say "users pingloom-agent, pingloom-controller, pingloom-collector, pingloom-translator; group pingloom; $config_dir/keys"
  run systemd-sysusers "$(compgen -G "$cli/*/pingloom.conf" | grep sysusers || echo "$cli/pingloom.sysusers.conf")" 2>&1 | sed 's/^/    /'
  run systemd-tmpfiles --create "$(compgen -G "$cli/*/pingloom.conf" | grep tmpfiles || echo "$cli/pingloom.tmpfiles.conf")"
  # Some distributions give the RDMA devices to this group.
  if getent group rdma >/dev/null; then
    run usermod -a -G rdma pingloom-agent
    run usermod -a -G rdma pingloom-collector
    run usermod -a -G rdma pingloom-translator
  fi
}

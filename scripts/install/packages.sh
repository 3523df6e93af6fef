# shellcheck shell=bash disable=SC2154
# Installs the distribution's packages that pingloom's programs need. They come from deps/ in install.sh's folder where that
# exists, which needs no network, and from the distribution otherwise. New packages are recorded, so that --purge can remove them.

package_manager() {
  if command -v apt-get >/dev/null; then echo apt
  elif command -v dnf >/dev/null; then echo dnf
  else fail "neither apt-get nor dnf: install pingloom's libraries by hand (scripts/packages.txt)"
  fi
}

# Prints the names of a section of packages.txt, or of packages-rhel.txt on RHEL and its relatives.
listed_packages() { # SECTION
  local list=$here/packages.txt
  [ "$(package_manager)" = apt ] || list=$here/install/packages-rhel.txt
  awk -v wanted="[$1]" '/^\[/ { inside = $1 == wanted; next } inside && /^[a-zA-Z0-9]/ { print $1 }' "$list"
}

installed() {
  if [ "$(package_manager)" = apt ]; then
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
  else
    rpm -q --whatprovides "$1" >/dev/null 2>&1
  fi
}

all_installed() {
  if [ "$(package_manager)" = apt ]; then dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p'; else rpm -qa --qf '%{NAME}\n'; fi | sort -u
}

install_run_packages() {
  local name missing=()
  # apt also installs what .debs depend on, from deps/ or the distribution.
  for name in $(listed_packages run); do
    [[ $name != redis* ]] || [ -n "$with_controller" ] || continue
    installed "$name" || missing+=("$name")
  done
  [ -z "$checkout" ] || leave_out_unknown
  install_packages "${missing[@]}"
}

apt_has_lists() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }

# A library's package has the library's version in its name, and another release has another version. In a checkout the -dev
# packages bring the right one.
leave_out_unknown() {
  [ "$(package_manager)" = apt ] && [ ${#missing[@]} -gt 0 ] || return 0
  # Without apt's lists every package is unknown.
  [ -n "$dry" ] || apt-cache show "${missing[@]}" >/dev/null 2>&1 || apt_quietly update || true
  apt_has_lists || return 0
  local name known=()
  for name in "${missing[@]}"; do
    # apt-cache show prints nothing, and succeeds, for a name that other packages only provide.
    if [[ $name != lib* ]] || [ -n "$(apt-cache show "$name" 2>/dev/null)" ]; then
      known+=("$name")
    else
      say "$name is not of this release; the -dev packages bring what the build needs"
    fi
  done
  missing=("${known[@]}")
}

install_packages() { # NAME...
  if [ $# -eq 0 ]; then say "all there"; return; fi
  say "missing: $*"
  local before groups_before redis_before=''
  before=$(all_installed)
  groups_before=$(all_groups)
  ! command -v redis-server >/dev/null || redis_before=yes
  if [ "$(package_manager)" = apt ]; then
    install_debian "$@"
  else
    run dnf install -y "$@" || fail "dnf could not install them; some are in EPEL (dnf install epel-release)"
  fi
  # Debian starts a Redis with the package, but the controller starts one itself.
  if [ -z "$redis_before" ] && [[ " $* " == *" redis"* ]] && [ -n "$(systemctl list-unit-files --no-legend redis-server.service)$dry" ]; then
    say "the controller starts a Redis of its own, so the package's service is disabled"
    run systemctl disable --now --quiet redis-server.service
  fi
  [ -z "$dry" ] || return 0
  mkdir -p "$record"
  comm -13 <(printf '%s\n' "$before") <(all_installed) >>"$record/packages"
  comm -13 <(printf '%s\n' "$groups_before") <(all_groups) >>"$record/groups"
}

all_groups() { getent group | cut -d: -f1 | sort; }

# Prints apt's options that make deps/ the only source and leave the host's own lists untouched.
offline_options() {
  [ -f "$here/deps/Packages" ] || return 0
  mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
  echo "deb [trusted=yes] file:$here/deps ./" >"$work/apt/sources.list"
  printf '%s\n' -o "Dir::Etc::sourcelist=$work/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache" -o APT::Sandbox::User=root
}

apt_options=()
apt_quietly() { # OPERATION ARGUMENT...
  run env DEBIAN_FRONTEND=noninteractive apt-get "${apt_options[@]}" -y -qq --no-install-recommends "$@" >"$work/apt.log" 2>&1
}

install_debian() { # NAME...
  if [ -n "$dry" ]; then say "would run: apt-get install --no-install-recommends $*"; return; fi
  mapfile -t apt_options < <(offline_options)
  if [ ${#apt_options[@]} -gt 0 ]; then
    apt_quietly update || { cat "$work/apt.log" >&2; fail "apt-get cannot read $here/deps"; }
  elif ! apt-cache show "$@" >/dev/null 2>&1; then
    apt_quietly update || { cat "$work/apt.log" >&2; fail "apt-get could not fetch the lists of packages; without a network use a tarball made with scripts/package.sh --with-dependencies"; }
  fi
  apt_install "$@" || { cat "$work/apt.log" >&2; fail "apt-get could not install them (above)"; }
}

# Old lists may name versions that the mirror no longer has, so a failed installation is retried with new lists.
apt_install() { # ARGUMENT...
  apt_quietly install "$@" && return 0
  [ ${#apt_options[@]} -eq 0 ] || return 1
  cp "$work/apt.log" "$work/apt.first.log"
  if apt_quietly update && apt_quietly install "$@"; then return 0; fi
  cat "$work/apt.first.log" "$work/apt.log" >"$work/apt.both.log" && mv "$work/apt.both.log" "$work/apt.log"
  return 1
}

# Removes the packages that were installed for pingloom, unless other packages need them now.
remove_packages() {
  [ -s "$record/packages" ] || return 0
  local recorded=() name others
  while read -r name; do ! installed "$name" || recorded+=("$name"); done <"$record/packages"
  [ ${#recorded[@]} -gt 0 ] || return 0
  if [ "$(package_manager)" != apt ]; then
    say "packages that came with pingloom and stay: ${recorded[*]}"
    return
  fi
  keep_redis
  [ ${#recorded[@]} -gt 0 ] || return 0
  others=$(apt-get -s remove "${recorded[@]}" | awk '/^Remv/ { print $2 }' | sort | comm -13 <(sort -u "$record/packages") -)
  if [ -n "$others" ]; then
    say "packages that came with pingloom stay, because others need them now: ${others//$'\n'/ }"
    return
  fi
  if [ -n "$dry" ]; then say "would run: apt-get purge ${recorded[*]}"; remove_groups; return; fi
  apt_options=()
  if ! apt_quietly purge "${recorded[@]}"; then
    cat "$work/apt.log" >&2
    say "the packages that came with pingloom could not be removed (above)"
    return
  fi
  remove_groups
}

# install.sh disabled the package's Redis service. If the service is enabled again, somebody uses it, so redis-server stays with
# its dependencies.
keep_redis() {
  [[ " ${recorded[*]} " == *" redis-server "* ]] || return 0
  if ! systemctl is-enabled --quiet redis-server.service 2>/dev/null && ! systemctl is-active --quiet redis-server.service 2>/dev/null; then
    return 0
  fi
  say "redis-server stays: redis-server.service is enabled or runs, so somebody uses it"
  local needed left=() name
  needed=$(apt-cache depends --recurse --installed --important redis-server | grep '^[^ <|]')
  for name in "${recorded[@]}"; do grep -qxF -e "$name" <<<"$needed" || left+=("$name"); done
  recorded=("${left[@]}")
}

# Debian's packages leave their groups behind, for example rdma. A user's own group goes with the user.
remove_groups() {
  local name group
  while read -r name; do
    group=$(getent group "$name" | cut -d: -f3) || continue
    getent passwd | awk -F: -v group="$group" '$4 == group { found = 1 } END { exit !found }' || run groupdel "$name" || true
  done <"$record/groups"
}

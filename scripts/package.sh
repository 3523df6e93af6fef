#!/usr/bin/env bash
# Makes in dist/ what hosts are installed from: Debian packages together with install.sh, and a tarball with install.sh and the
# built programs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=/dev/null
. "$root/scripts/install/source.sh"

usage() {
  cat <<EOF2
Usage: scripts/package.sh [OPTION]...
  --build DIR           a build to take (default build/release, which is built first)
  --out DIR             where the results go (default dist)
  --tarball             the tarball only
  --with-dependencies   with Debian's packages that pingloom needs: installs without a network
  -h, --help
EOF2
}

fail() { echo "package.sh: $1" >&2; exit "${2:-1}"; }
say() { printf '==> %s\n' "$*"; }

build='' out=$root/dist with_dependencies='' debs=yes
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --tarball) debs='' ;;
    --with-dependencies) with_dependencies=yes ;;
    --build | --out)
      [ -n "${2:-}" ] || fail "$1 needs a folder" 2
      if [ "$1" = --build ]; then build=$(realpath "$2"); else out=$(realpath -m "$2"); fi
      shift ;;
    *) usage >&2; fail "unknown option '$1'" 2 ;;
  esac
  shift
done

build_all() {
  build=$root/build/release
  say "building"
  "$root/scripts/install-packages.sh" run build web package
  local options=()
  [ -e "$build/CMakeCache.txt" ] || options=(-DPINGLOOM_TESTS=OFF -DPINGLOOM_BENCH=OFF)
  cmake -S "$root" --preset release "${options[@]}" >/dev/null
  cmake --build "$build" --target pingloom pingloom-agent pingloom-controller pingloom-collector pingloom-translator \
    pingloom-pages pingloom-pages-static pingloom-report pingloom-report-static web
}

# Fetches the packages of [run] and all that they depend on, as for a host that has none of them. install.sh installs only
# those that a host lacks.
fetch_dependencies() { # FOLDER
  local names
  names=$(awk '/^\[/ { inside = $1 == "[run]"; next } inside && /^[a-z0-9]/ { print $1 }' "$root/scripts/packages.txt")
  mkdir -p "$1/partial"
  : >"$1/status"
  # shellcheck disable=SC2086  # a list of names
  apt-get -y -qq -o Dir::State::status="$1/status" -o Debug::NoLocking=1 -o Dir::Cache::archives="$1" -o APT::Sandbox::User=root \
    --no-install-recommends --download-only install $names >/dev/null || fail "apt-get could not fetch the dependencies (apt-get update?)"
  rm -rf "$1/partial" "$1/status" "$1/lock"
  (cd "$1" && dpkg-scanpackages -m . >Packages 2>/dev/null) || fail "dpkg-scanpackages is missing: apt-get install dpkg-dev"
}

make_tarball() {
  local name top
  name=pingloom-$(sed -nE 's/^CMAKE_PROJECT_VERSION:STATIC=(.*)/\1/p' "$build/CMakeCache.txt")-$(uname -m)
  top=$work/$name
  mkdir "$top"
  cp -r "$root/scripts/install.sh" "$root/scripts/install" "$root/scripts/packages.txt" "$root/LICENSE" "$root/README.md" "$root/CHANGELOG.md" "$top/"
  make_tree "$build" "$top/tree"
  [ -z "$with_dependencies" ] || fetch_dependencies "$top/deps"
  tar -C "$work" --owner=0 --group=0 --sort=name -czf "$out/$name.tar.gz" "$name"
  say "$out/$name.tar.gz"
}

# lintian knows what Debian expects from a package, so its errors are errors here.
make_debs() {
  rm -f "$out"/*.deb
  cpack --config "$build/CPackConfig.cmake" -B "$work/cpack" >"$work/cpack.log" 2>&1 || { cat "$work/cpack.log" >&2; fail "cpack failed"; }
  cp "$work"/cpack/*.deb "$out/"
  local file
  for file in "$out"/*.deb; do say "$file"; done
  # install.sh installs the packages in its own folder.
  cp -r "$root/scripts/install.sh" "$root/scripts/install" "$root/scripts/packages.txt" "$out/"
  if [ -n "$with_dependencies" ]; then rm -rf "$out/deps"; fetch_dependencies "$out/deps"; fi
  lintian --fail-on error --tag-display-limit 0 "$out"/*.deb
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
[ -n "$build" ] || build_all
cmake --build "$build" --target man >/dev/null || fail "the man pages could not be made: apt-get install scdoc"
[ -z "$debs" ] || make_debs
make_tarball

#!/usr/bin/env bash
# Installs the Debian packages of the named sections of scripts/packages.txt that are missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<EOF
Usage: scripts/install-packages.sh SECTION...
Sections: run build web pages test bench package coverage arm64 lab (see scripts/packages.txt for each package's reason).
Installs only what is missing; uses sudo only when something is missing and you are not root.
EOF
}

[ $# -gt 0 ] || { usage >&2; exit 2; }
for section in "$@"; do
  case $section in
    run | build | web | pages | test | bench | package | coverage | arm64 | lab) ;;
    -h | --help) usage; exit 0 ;;
    *) echo "install-packages.sh: no section '$section'" >&2; usage >&2; exit 2 ;;
  esac
done

# The lines "package  # reason" of the wanted sections are collected here.
wanted=$(awk -v sections=" $* " '
  /^\[/ { gsub(/[][]/, ""); inside = index(sections, " " $1 " ") > 0; next }
  inside && /^[a-z0-9]/ { print }' "$here/packages.txt")

# A node or npm that did not come from Debian will do as well.
there_already() {
  case $1 in
    nodejs) command -v node >/dev/null && node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)' ;;
    npm) command -v npm >/dev/null ;;
    *) false ;;
  esac
}

missing=()
while read -r package hash reason; do
  [ -n "$package" ] || continue
  ! there_already "$package" || continue
  if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$'; then
    [ ${#missing[@]} -gt 0 ] || echo "Installing the Debian packages that are missing:"
    printf '  %-32s %s\n' "$package" "${reason:-}"
    missing+=("$package")
  fi
done <<<"$wanted"
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "These packages need root to install, and there is no sudo. As root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q
# --no-install-recommends keeps out what the list does not name.
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"

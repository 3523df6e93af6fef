#!/usr/bin/env bash
# Builds the collector and the client library for arm64, as a DPU needs them, and runs their unit tests under qemu-user. The arm64
# packages go into build/arm64-sysroot, not into this system.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
  "") ;;
  -h | --help) echo "Usage: scripts/arm64.sh    programs and libraries end up in build/arm64"; exit 0 ;;
  *) echo "arm64.sh: unknown option '$1'" >&2; exit 2 ;;
esac

say() { printf '\n==> [%4ds] %s\n' "$SECONDS" "$*"; }

scripts/install-packages.sh build arm64
sysroot=$PWD/build/arm64-sysroot
apt=$PWD/build/arm64-apt
# These are the libraries that the build links. The rest of the list is programs.
libraries=$(sed -n '/^\[build\]/,/^$/p; /^\[test\]/,/^$/p' scripts/packages.txt | awk '$1 ~ /^(lib.*-dev|cppzmq-dev|nlohmann-json3-dev)$/ { print $1 }')
if [ "$(cat "$sysroot/packages" 2>/dev/null)" != "$libraries" ]; then
  say "fetching arm64 packages"
  rm -rf "$sysroot" "$apt"
  mkdir -p "$sysroot" "$apt"/{lists/partial,archives/partial}
  : >"$apt/status"
  # This apt knows no installed package, so it fetches everything, even the C library.
  options=(-q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root -o Dir::State::status="$apt/status"
           -o Dir::State::Lists="$apt/lists" -o Dir::Cache::archives="$apt/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
  apt-get "${options[@]}" update
  # shellcheck disable=SC2086 # a list of words
  apt-get "${options[@]}" install --download-only -y --no-install-recommends $libraries libc6-dev libstdc++-12-dev
  for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$sysroot"; done
  # Links to absolute paths would lead out of the sysroot.
  find "$sysroot" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$sysroot$(readlink "$link")")" "$link"
  done
  printf '%s' "$libraries" >"$sysroot/packages"
  rm -rf "$apt"
fi

say "building"
cmake --preset arm64
cmake --build --preset arm64
say "testing under qemu-user"
# Left out is what qemu-user cannot do: fork a program with threads, pass hundreds of descriptors, let a program choose among a port's
# sockets, and map a page twice by mremap, as an agent does that begins a fresh range; and the agent's side, which is no part of this
# build's programs.
cannot='pages_client\.(Fork|RealAgent)|many_descriptors|UdpGroup|SoftSharedPort'
cannot+='|PagePoolTest\.(AFreshRange|RangesEnd|PagesWithoutAPlace)|AgentSessionTest\.(FreshRanges|AReaderThatDoesNotMove)'
exec ctest --test-dir build/arm64 -L unit -E "$cannot" --output-on-failure --no-tests=error -j "$(nproc)"

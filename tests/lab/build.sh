#!/usr/bin/env bash
# Makes what the lab's guest boots from, in build/lab: Debian's stock kernel (fetched once, never installed) and
# an initramfs. Prints nothing when everything is there.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lab=$(cd "$here/../.." && pwd)/build/lab
PATH=$PATH:/usr/sbin:/sbin

# netem delays and drops; without crc32_generic `rdma link add` fails, for rxe asks the crypto API for crc32 and nothing
# names that dependency.
modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay crc32_generic crc32-pclmul rdma_rxe ib_uverbs rdma_ucm
  veth bridge sch_netem)

mkdir -p "$lab"
exec 9>"$lab/lock"
flock 9 # two runs may start at once

fetch_kernel() {
  local package
  package=$(apt-cache depends linux-image-amd64 | awk '$1 == "Depends:" { print $2; exit }')
  [ -n "$package" ] || { echo "lab: apt knows no linux-image-amd64; run apt-get update" >&2; return 1; }
  echo "lab: fetching $package (about 70 MB, once)"
  rm -rf "$lab/kernel.part" "$lab"/linux-image-*.deb
  # As root, apt would warn that its own user cannot write here.
  if ! (cd "$lab" && apt-get download -q -o APT::Sandbox::User=root "$package"); then
    echo "lab: cannot fetch $package; if apt's lists are old, run apt-get update" >&2
    return 1
  fi
  dpkg -x "$lab"/linux-image-*.deb "$lab/kernel.part"
  depmod -b "$lab/kernel.part" "${package#linux-image-}"
  rm "$lab"/linux-image-*.deb
  mv "$lab/kernel.part" "$lab/kernel"
}

# The modules in the order in which they have to be loaded, each once.
module_files() {
  local module
  for module in "${modules[@]}"; do
    modprobe --show-depends -d "$lab/kernel" -S "$1" "$module" | awk '$1 == "insmod" { print $2 }'
  done | awk '!seen[$0]++'
}

make_initramfs() {
  local version=$1 root file
  root=$(mktemp -d)
  mkdir -p "$root"/{bin,proc,sys,dev,modules,host,scratch,new}
  cp "$(command -v busybox)" "$root/bin/busybox"
  ln -s busybox "$root/bin/sh"
  cp "$here/guest/init" "$root/init"
  module_files "$version" >"$root/files"
  while read -r file; do
    cp "$file" "$root/modules/"
    basename "$file"
  done <"$root/files" >"$root/modules/order"
  (cd "$root" && find . | cpio -o -H newc --quiet -R 0:0 | gzip -1) >"$lab/initramfs.part"
  rm -rf "$root"
  mv "$lab/initramfs.part" "$lab/initramfs.gz"
}

[ -d "$lab/kernel" ] || fetch_kernel
version=$(basename "$lab"/kernel/lib/modules/*)
if [ ! "$lab/initramfs.gz" -nt "$here/guest/init" ] || [ ! "$lab/initramfs.gz" -nt "$here/build.sh" ] ||
  [ ! "$lab/initramfs.gz" -nt "$lab/kernel" ]; then
  make_initramfs "$version"
fi
ln -sfn "kernel/boot/vmlinuz-$version" "$lab/vmlinuz"

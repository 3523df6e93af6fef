#!/usr/bin/env bash
# Boots the lab and runs a command on N Soft-RoCE hosts in it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
  cat <<EOF
Usage: tests/lab/run.sh [-t SECONDS] [-b BUILD] HOSTS COMMAND [ARGUMENT...]
Boots a QEMU guest with Debian's kernel, makes HOSTS (1-99) Soft-RoCE hosts (10.0.0.1 with device rxe1, ...), and runs
COMMAND there in the project's root, its programs on the PATH. Prints the command's output and exits with its code:
124 when the time was up, 125 when the guest did not get so far.
  -t SECONDS  hard limit of the whole run (default 180)
  -b BUILD    build tree whose bin/ is on the PATH (default build/release)
EOF
}

limit=180
build=$root/build/release
while getopts ht:b: option; do
  case $option in
    t) limit=$OPTARG ;;
    b) build=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] && [[ $1 =~ ^[1-9][0-9]?$ && $limit =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }
hosts=$1
shift

"$here/build.sh" >&2
job=$(mktemp -d /tmp/pingloom-lab.XXXXXX)
trap 'rm -rf "$job"' EXIT

cat >"$job/run" <<EOF
cd $(printf %q "$root") || exit 125
export HOME=/root LAB_HOSTS=$hosts PATH=$(printf %q "$build/bin"):/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
bash tests/lab/guest/hosts.sh $hosts || exit 125
$(printf '%q ' "$@")
EOF

mkfifo "$job/output"
cat "$job/output" &
reader=$!

# Emulation: -smp 1 is the fastest for event-driven code. KVM is not used even where /dev/kvm exists, for it may
# hang. Standard input is closed: a guest that waited for it would wait forever.
code=0
timeout --kill-after=5 "$limit" qemu-system-x86_64 \
  -accel tcg -cpu max -smp 1 -m 1024 -nodefaults -no-user-config -no-reboot -display none -monitor none \
  -kernel "$root/build/lab/vmlinuz" -initrd "$root/build/lab/initramfs.gz" \
  -append "console=ttyS0 mitigations=off quiet panic=-1 lab_job=$job" \
  -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
  -serial "file:$job/console" -device virtio-serial \
  -chardev "file,id=output,path=$job/output" -device virtserialport,nr=1,chardev=output \
  -chardev "file,id=status,path=$job/status" -device virtserialport,nr=2,chardev=status \
  </dev/null 9>&- || code=$?
exec 5<>"$job/output" 5>&- # the reader ends even if QEMU never opened it
wait "$reader"

if [ "$code" -ge 124 ] && [ "$code" -ne 125 ]; then
  echo "lab: stopped after $limit s" >&2
  exit 124
fi
if [ ! -s "$job/status" ]; then
  echo "lab: the guest ended without a result; its console:" >&2
  tail -n 40 "$job/console" >&2
  exit 125
fi
exit "$(cat "$job/status")"

#!/usr/bin/env bash
# Boots the lab and runs a command on N Soft-RoCE hosts in it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
  cat <<EOF
Usage: tests/lab/run.sh [-i] [-t SECONDS] [-b BUILD] HOSTS COMMAND [ARGUMENT...]
Boots a QEMU guest with Debian's kernel, makes HOSTS (1-99) Soft-RoCE hosts (10.0.0.1 with device rxe1, ...), and runs
COMMAND there in the project's root, its programs on the PATH. Prints the command's output and exits with its code:
124 when the time was up, 125 when the guest did not get so far.
  -i          this terminal is the command's: its standard input, output and errors, Ctrl-C included
  -t SECONDS  hard limit of the whole run (default 180; with -i none)
  -b BUILD    build tree whose bin/ is on the PATH (default build/release)
EOF
}

limit=''
interactive=''
build=$root/build/release
while getopts hit:b: option; do
  case $option in
    i) interactive=yes ;;
    t) limit=$OPTARG ;;
    b) build=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] && [[ $1 =~ ^[1-9][0-9]?$ && $limit =~ ^([1-9][0-9]*)?$ ]] || { usage >&2; exit 2; }
hosts=$1
shift

"$here/build.sh" >&2
job=$(mktemp -d /tmp/pingloom-lab.XXXXXX)
trap 'rm -rf "$job"' EXIT

# With -i the command gets a terminal of its own, the guest's hvc0, which QEMU joins to this one.
command=$(printf '%q ' "$@")
shell_port=()
if [ -n "$interactive" ]; then
  read -r rows columns < <(stty size 2>/dev/null || echo 24 80)
  command="exec 5<>/dev/hvc0 # a terminal that nobody has open forgets what was typed
stty rows $rows cols $columns <&5
setsid -c -w env TERM=$(printf %q "${TERM:-dumb}") $command<&5 >&5 2>&5"
  shell_port=(-chardev stdio,id=shell,signal=off -device virtconsole,nr=0,chardev=shell)
fi
[ -n "$limit" ] || { [ -n "$interactive" ] && limit=0 || limit=180; } # 0: timeout waits forever

cat >"$job/run" <<EOF
cd $(printf %q "$root") || exit 125
export HOME=/root LAB_HOSTS=$hosts PATH=$(printf %q "$build/bin"):/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
bash tests/lab/guest/hosts.sh $hosts || exit 125
$command
EOF

mkfifo "$job/output"
cat "$job/output" &
reader=$!

# Without -i standard input is closed: a guest that waited for it would wait forever. With -i, what comes from a file or a
# pipe ends as a person would end it: with Ctrl-D.
if [ -z "$interactive" ]; then
  exec </dev/null
elif [ ! -t 0 ]; then
  exec 6<&0 < <(cat <&6; printf '\004')
fi

# Emulation: -smp 1 is the fastest for event-driven code. KVM is not used even where /dev/kvm exists, for it may
# hang.
code=0
timeout --foreground --kill-after=5 "$limit" qemu-system-x86_64 \
  -accel tcg -cpu max -smp 1 -m 1024 -nodefaults -no-user-config -no-reboot -display none -monitor none \
  -kernel "$root/build/lab/vmlinuz" -initrd "$root/build/lab/initramfs.gz" \
  -append "console=ttyS0 mitigations=off quiet panic=-1 lab_job=$job" \
  -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
  -serial "file:$job/console" -device virtio-serial "${shell_port[@]}" \
  -chardev "file,id=output,path=$job/output" -device virtserialport,nr=1,chardev=output \
  -chardev "file,id=status,path=$job/status" -device virtserialport,nr=2,chardev=status || code=$?
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

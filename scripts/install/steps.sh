# shellcheck shell=bash disable=SC2154
# Prints steps and does them, or only prints them in a dry run. Everything that changes the host goes through run or put.

say() { printf '    %s\n' "$*"; }
step() { printf '==> %s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$1" >&2; exit "${2:-1}"; }

run() {
  if [ -n "$dry" ]; then
    printf '    would run: %s\n' "${*@Q}"
  else
    "$@"
  fi
}

# put MODE FILE writes standard input to FILE, completely or not at all.
put() {
  if [ -n "$dry" ]; then
    printf '    would write: %s (mode %s)\n' "$2" "$1"
    cat >/dev/null
    return
  fi
  local new=$2.pingloom-new
  (umask 077 && cat >"$new")
  chmod "$1" "$new"
  mv -f "$new" "$2"
}

#!/usr/bin/env bash
# packaging/man/build.sh PROGRAM FOLDER makes the man pages with scdoc. The commands come from the list of
# PROGRAM (pingloom), and the keys from the shipped configurations, so that the pages are always correct.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1 out=$2

# "  check    is a pinglist ..." -> a definition. With a command, its actions.
commands() { "$program" "$@" --help | sed -nE 's/^  ([a-z]+) +([a-z].*)$/*\1*\n\t\2.\n/p'; }

page() { # SOURCE NAME.SECTION
  mkdir -p "$out/man${2##*.}"
  scdoc <"$1" | gzip -9n >"$out/man${2##*.}/$2.gz"
}

# $1 with the line @$2@ replaced by standard input.
filled() { sed -e "/^@$2@\$/{r /dev/stdin" -e 'd}' "$1"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in agent controller collector translator; do
  page "$here/pingloom-$name.8.scd" "pingloom-$name.8"
  filled "$here/pingloom-$name.yaml.5.scd.in" CONFIG <"$here/../../config/$name.yaml" >"$work/page"
  page "$work/page" "pingloom-$name.yaml.5"
done
filled "$here/pingloom-pinglist.5.scd.in" CONFIG <"$here/../../config/pinglist.yaml" >"$work/page"
page "$work/page" pingloom-pinglist.5
commands | filled "$here/pingloom.1.scd.in" COMMANDS >"$work/page"
page "$work/page" pingloom.1
commands dta | filled "$here/pingloom-dta.1.scd.in" ACTIONS >"$work/page"
page "$work/page" pingloom-dta.1
page "$here/pingloom-report.3.scd" pingloom-report.3

#!/usr/bin/env bash
# clang-tidy 14 over our own sources as a build compiles them; headers are checked through them. All files of a library
# are read together: most of the time goes into the headers of other libraries, which are looked at each time.
# Usage: tidy.sh BUILD_DIR DIR K/N CHECKS: the K-th of N parts of what is compiled for DIR (src, bench), with
# CHECKS changing those of .clang-tidy (the static analyzer takes three times as long as all others).
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 tests/lint/tidy_sources.py "$build" "$PWD/$2" "$work" >"$work/sources"
awk -v part="${3%/*}" -v parts="${3#*/}" 'NR % parts == part % parts' "$work/sources" >"$work/mine"
[ -s "$work/mine" ] || { echo "tidy.sh: $build compiles nothing for $2" >&2; exit 1; }
# Warnings that only g++ knows are not clang's business; findings are printed, the counts are not.
xargs -d '\n' -n 1 clang-tidy-14 --quiet -p "$work" --config-file=.clang-tidy --checks="$4,-bugprone-suspicious-include" \
  --extra-arg=-Wno-unknown-warning-option --extra-arg=-Werror=reserved-identifier <"$work/mine"

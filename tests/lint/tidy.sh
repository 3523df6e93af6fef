#!/usr/bin/env bash
# Runs clang-tidy 14 over our own sources as a build compiles them; headers are checked through them. All files of a library
# are read together, because most of the time goes into other libraries' headers, which are read once for each file.
# Usage: tidy.sh BUILD_DIR DIR K/N CHECKS: checks the K-th of N parts of what is compiled for DIR (src, bench). CHECKS changes
# the checks of .clang-tidy (the static analyzer takes three times as long as all others).
# Only what differs from the main branch is checked, unless PINGLOOM_TIDY=all (tidy_sources.py).
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 tests/lint/tidy_sources.py "$build" "$PWD/$2" "$work" >"$work/sources"
awk -v part="${3%/*}" -v parts="${3#*/}" 'NR % parts == part % parts' "$work/sources" >"$work/mine"
[ -s "$work/mine" ] || { echo "tidy.sh: nothing in this part differs from the main branch"; exit 0; }
# Warnings that only g++ knows are none of clang's business. Findings are printed, their counts are not.
xargs -d '\n' -n 1 clang-tidy-14 --quiet -p "$work" --config-file=.clang-tidy --checks="$4,-bugprone-suspicious-include" \
  --extra-arg=-Wno-unknown-warning-option --extra-arg=-Werror=reserved-identifier <"$work/mine"

#!/usr/bin/env bash
# clang-tidy 14 over our own sources; headers are checked through them. Usage: tidy.sh BUILD_DIR K/N CHECKS: the K-th of N
# parts of the files, with CHECKS changing those of .clang-tidy (the static analyzer takes three times as long as all others).
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# Warnings that only g++ knows are not clang's business; findings are printed, the counts are not.
git ls-files 'src/*.cpp' 'bench/*.cpp' | awk -v part="${2%/*}" -v parts="${2#*/}" 'NR % parts == part % parts' |
  xargs -d '\n' -n 4 clang-tidy-14 --quiet -p "$build" --checks="$3" --extra-arg=-Wno-unknown-warning-option

#!/usr/bin/env bash
# clang-tidy 14 over our own sources; headers are checked through them. Usage: tidy.sh BUILD_DIR [CHECKS], where CHECKS
# changes those of .clang-tidy: the static analyzer takes three times as long as all others together.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# Warnings that only g++ knows are not clang's business; findings are printed, the counts are not.
git ls-files -z 'src/*.cpp' 'bench/*.cpp' |
  xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 --quiet -p "$build" --checks="${2:-}" --extra-arg=-Wno-unknown-warning-option

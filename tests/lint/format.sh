#!/usr/bin/env bash
# Every C++ file is as clang-format 14 leaves it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
git ls-files -z '*.h' '*.cpp' | xargs -0 clang-format-14 --dry-run -Werror

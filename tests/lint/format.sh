#!/usr/bin/env bash
# Checks that clang-format 14 would change no C++ file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
git ls-files -z '*.h' '*.cpp' | xargs -0 clang-format-14 --dry-run -Werror

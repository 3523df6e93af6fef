#!/usr/bin/env bash
# Measures every benchmark and writes docs/benchmarks.md: see --help, and report/main.py.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/report/main.py" "$@"

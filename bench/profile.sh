#!/usr/bin/env bash
# Shows where the CPU time of benchmarks with missed goals goes, in docs/benchmarks.md: see --help, and report/profiles.py.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/report/profiles.py" "$@"

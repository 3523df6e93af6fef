#!/usr/bin/env bash
# Builds a leaf-spine fabric of network namespaces, with faults by name: scripts/fabric.sh --help
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/fabric/main.py" "$@"

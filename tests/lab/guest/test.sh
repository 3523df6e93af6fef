#!/usr/bin/env bash
# test.sh NAME...: runs the tests of tests/lab/NAME.py with the programs on the PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PINGLOOM_BIN=$(dirname "$(command -v pingloom-agent)") exec python3 -B -m unittest -v "$@"

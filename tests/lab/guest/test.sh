#!/usr/bin/env bash
# test.sh NAME: runs tests/lab/NAME.py's tests with the programs on the PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PINGLOOM_BIN=$(dirname "$(command -v pingloom-agent)") exec python3 -B -m unittest -v "$1"

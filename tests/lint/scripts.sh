#!/usr/bin/env bash
# What root runs on every host is checked by shellcheck.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec shellcheck -x scripts/install.sh scripts/install/*.sh scripts/package.sh packaging/man/build.sh

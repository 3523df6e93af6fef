#!/usr/bin/env bash
# shellcheck checks the scripts that root runs on every host.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec shellcheck -x scripts/install.sh scripts/install/*.sh scripts/package.sh scripts/hardware-check.sh packaging/man/build.sh

#!/usr/bin/env bash
# Finds the lines of src/ that the unit and integration tests reach: builds with gcc's counters, runs the tests, and prints the
# share by folder. build/coverage/report.txt has every file with the lines that were not reached.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
  "") labels=(-L '^(unit|integration)$') ;;
  --unit) labels=(-L '^unit$') ;;
  *)
    echo "Usage: scripts/coverage.sh [--unit]"
    echo "  --unit   the unit tests only: minutes instead of a quarter of an hour"
    [ "$1" = -h ] || [ "$1" = --help ] || exit 2
    exit 0
    ;;
esac

scripts/install-packages.sh run build test pages coverage
cmake --preset coverage -DPINGLOOM_TESTS=ON >/dev/null
cmake --build --preset coverage
find build/coverage -name '*.gcda' -delete  # an earlier run left them
ctest --test-dir build/coverage --no-tests=error --output-on-failure -j "$(nproc)" -LE 'soak|slow' "${labels[@]}" | tail -n 15
gcovr --root . --object-directory build/coverage --filter 'src/' --exclude-throw-branches \
  --txt build/coverage/report.txt --json-summary build/coverage/summary.json
python3 - build/coverage/summary.json <<'PYTHON'
import collections, json, sys
folders = collections.Counter(), collections.Counter()
summary = json.load(open(sys.argv[1]))
for file in summary["files"]:
    folder = "/".join(file["filename"].split("/")[:2])
    folders[0][folder] += file["line_covered"]
    folders[1][folder] += file["line_total"]
for folder, total in sorted(folders[1].items()):
    print(f"{folder:20} {100 * folders[0][folder] / total:5.1f} % of {total} lines")
print(f"{'all':20} {100 * summary['line_covered'] / summary['line_total']:5.1f} % of {summary['line_total']} lines")
PYTHON
echo "every file: build/coverage/report.txt"

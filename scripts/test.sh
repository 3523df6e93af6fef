#!/usr/bin/env bash
# Builds and runs the tests. After ctest's own summary it says why each failed test failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<EOF
Usage: scripts/test.sh [--quick | --full]
  (none)    runs the release build and the ASan+UBSan build: unit, integration, browser and lab tests, a short fuzzing of every
            parser of outside bytes, formatting, and clang-tidy over what differs from origin/main (over everything where
            nothing differs, as in CI's clone)
  --quick   runs the release build's unit tests and the formatting only
  --full    adds the TSan build, the benchmarks' build, the soaks, installations under a real systemd (as root), the long
            fuzzing, clang-tidy and clang's static analyzer over everything, and the slow tests under ASan+UBSan
EOF
}

mode=normal
case ${1:-} in
  "") ;;
  --quick) mode=quick ;;
  --full) mode=full ;;
  -h | --help) usage; exit 0 ;;
  *) echo "test.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
esac
[ $# -le 1 ] || { usage >&2; exit 2; }

say() { printf '\n==> [%4ds] %s\n' "$SECONDS" "$*"; }

say "packages"
sections=(run build test)
[ "$mode" = quick ] || sections+=(web pages lab)
[ "$mode" != full ] || sections+=(package)
scripts/install-packages.sh "${sections[@]}"

configure() { # PRESET OPTION...
  local log
  log=$(mktemp)
  # A demo may have configured the build without tests.
  cmake --preset "$1" -DPINGLOOM_TESTS=ON "${@:2}" >"$log" || { cat "$log"; rm -f "$log"; exit 1; }
  rm -f "$log"
}

presets=(release)
bench=OFF fuzz_seconds=5
[ "$mode" != full ] || bench=ON fuzz_seconds=300
say "building release"
configure release -DPINGLOOM_BENCH=$bench
if [ "$mode" = quick ]; then
  cmake --build --preset release --target unit_tests
else
  # The dashboard's tests need the target web.
  cmake --build --preset release --target all web
  # The ASan build is a test itself (tests/CMakeLists.txt).
  presets+=(asan)
  configure asan -DPINGLOOM_FUZZ_SECONDS=$fuzz_seconds
fi
if [ "$mode" = full ]; then
  say "building tsan"
  presets+=(tsan)
  configure tsan
  cmake --build --preset tsan --target all web
  export PINGLOOM_TIDY=all
fi

# One ctest runs over all builds, so that there is one summary.
mkdir -p build/all
: >build/all/CTestTestfile.cmake
for preset in "${presets[@]}"; do
  echo "subdirs(\"$PWD/build/$preset\")" >>build/all/CTestTestfile.cmake
done

say "testing ${presets[*]}"
export TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp"
labels=()
[ "$mode" != quick ] || labels=(-LE 'integration|web|lab|tidy|soak|slow')
[ "$mode" != normal ] || labels=(-LE 'soak|slow')
# Prints the last lines of each failed test's output that name a cause.
causes() {
  awk '
    /^[0-9]+\/[0-9]+ Testing: / { name = $3; lines = 0 }
    /FAIL|Failure|[Ee]rror:|ERROR:|AssertionError|not ok / { said[lines++ % 4] = substr($0, 1, 300) }
    /^Test Failed/ {
      printf "\n==> %s failed:\n", name
      for (i = lines > 4 ? lines - 4 : 0; i < lines; ++i) print "  " said[i % 4]
    }' build/all/Testing/Temporary/LastTest.log
}

# One more test runs at a time than there are processors, because those that hold the lock "machine" mostly wait.
code=0
ctest --test-dir build/all --output-on-failure --no-tests=error -j $(($(nproc) + 1)) "${labels[@]}" || code=$?
[ "$code" = 0 ] || causes
exit "$code"

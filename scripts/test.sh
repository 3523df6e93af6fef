#!/usr/bin/env bash
# Builds and runs the tests; ends with ctest's own summary.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<EOF
Usage: scripts/test.sh [--quick | --full]
  (none)    release build and ASan+UBSan build: unit, integration, browser and lab tests, a short
            fuzzing of every parser of outside bytes, formatting, clang-tidy
  --quick   release build only: unit tests and formatting
  --full    adds the TSan build, the benchmarks' build, the soaks, installations under a real systemd (as root), the long
            fuzzing, clang's static analyzer, and under ASan+UBSan the slow tests
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

presets=(release)
[ "$mode" = quick ] || presets+=(asan)
[ "$mode" != full ] || presets+=(tsan)
for preset in "${presets[@]}"; do
  say "building $preset"
  options=(-DPINGLOOM_TESTS=ON)  # a demo may have left them out
  case $preset-$mode in
    release-full) options+=(-DPINGLOOM_BENCH=ON) ;;
    release-*) options+=(-DPINGLOOM_BENCH=OFF) ;;
    asan-full) options+=(-DPINGLOOM_FUZZ_SECONDS=300) ;;
    asan-*) options+=(-DPINGLOOM_FUZZ_SECONDS=5) ;;
  esac
  cmake --preset "$preset" "${options[@]}" >"/tmp/pingloom-configure.$$" || { cat "/tmp/pingloom-configure.$$"; exit 1; }
  rm -f "/tmp/pingloom-configure.$$"
  cmake --build --preset "$preset"
  # The page's tests need it, the others neither it nor Node.
  [ "$mode" = quick ] || cmake --build --preset "$preset" --target web
done

# One ctest run over all builds, so that there is one summary.
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
# One more at a time than there are processors: the tests that hold the lock "machine" wait most of their time.
exec ctest --test-dir build/all --output-on-failure --no-tests=error -j $(($(nproc) + 1)) "${labels[@]}"

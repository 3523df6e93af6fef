#!/usr/bin/env bash
# clang-tidy 14 over our own sources as a build compiles them, several files at a time where it does; headers are checked
# through them. Usage: tidy.sh BUILD_DIR DIR K/N CHECKS: the K-th of N parts of what is compiled for DIR (src, bench), with
# CHECKS changing those of .clang-tidy (the static analyzer takes three times as long as all others).
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# clang-tidy cannot read headers that g++ has precompiled: it gets the commands without them. clang's it can.
python3 - "$build" "$PWD" "$2" "$work" >"$work/sources" <<'PYTHON'
import json, re, sys
build, root, folder, work = sys.argv[1:]
commands = json.load(open(f"{build}/compile_commands.json"))
for command in commands:
    command["command"] = re.sub(r"-Winvalid-pch|-include \S*cmake_pch\S*", "", command["command"])
json.dump(commands, open(f"{work}/compile_commands.json", "w"))
wanted = re.compile(f"{re.escape(root)}/{folder}/.*[.]cpp|{re.escape(build)}/{folder}/.*/Unity/.*")
print(*(command["file"] for command in commands if wanted.fullmatch(command["file"])), sep="\n")
PYTHON
awk -v part="${3%/*}" -v parts="${3#*/}" 'NR % parts == part % parts' "$work/sources" >"$work/mine"
[ -s "$work/mine" ] || { echo "tidy.sh: $build compiles nothing for $2" >&2; exit 1; }
# Warnings that only g++ knows are not clang's business; findings are printed, the counts are not.
xargs -d '\n' -n 4 clang-tidy-14 --quiet -p "$work" --config-file=.clang-tidy --checks="$4,-bugprone-suspicious-include" \
  --extra-arg=-Wno-unknown-warning-option <"$work/mine"

#!/usr/bin/env python3
"""Usage: tidy_sources.py BUILD_DIR FOLDER WORK_DIR

Writes into WORK_DIR, for each library and program that BUILD_DIR compiles from FOLDER, a file that includes all its sources,
and a compile_commands.json for these files. Prints them, the largest first.
"""
import json
import pathlib
import re
import sys

build, folder, work = map(pathlib.Path, sys.argv[1:])


def sources_of(file):
    """Those that CMake compiles together, or the file itself."""
    if "/Unity/" in file:
        return re.findall(r'#include "(.*)"', pathlib.Path(file).read_text())
    return [file]


targets = {}  # name: (a command, sources)
for command in json.loads((build / "compile_commands.json").read_text()):
    target = re.search(r" -o \S*CMakeFiles/([^/]+)\.dir/", command["command"])
    sources = [file for file in sources_of(command["file"]) if pathlib.Path(file).is_relative_to(folder)]
    if target and sources:
        targets.setdefault(target[1], (command, []))[1].extend(sources)

commands = []
for name, (command, sources) in sorted(targets.items(), key=lambda target: -len(target[1][1])):
    file = work / f"{name}.cpp"
    file.write_text("".join(f'#include "{source}"\n' for source in sorted(sources)))
    line = re.sub(r" -o \S+ -c \S+", f" -c {file}", command["command"])
    # clang-tidy cannot read headers that g++ has precompiled, and need not: clang's it can.
    line = re.sub(r"-Winvalid-pch|(?<!-Xclang )-include \S*cmake_pch\S*", "", line)
    commands.append({"directory": command["directory"], "file": str(file), "command": line})
(work / "compile_commands.json").write_text(json.dumps(commands))
print(*(made["file"] for made in commands), sep="\n")

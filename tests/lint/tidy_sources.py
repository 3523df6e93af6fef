#!/usr/bin/env python3
"""Usage: tidy_sources.py BUILD_DIR FOLDER WORK_DIR

Writes into WORK_DIR, for each library and program that BUILD_DIR compiles from FOLDER, a file that includes the sources to be
checked, and a compile_commands.json for these files. Prints them, the largest first.

A source is checked if it, or a header that it includes, differs from the main branch: from the commit where this branch left
origin/main, with what is not committed. All sources are checked where PINGLOOM_TIDY=all says so (scripts/test.sh --full), where
nothing differs or there is no origin/main (CI's clone), and where a file differs that decides how sources are checked.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DECIDES = re.compile(r"\.clang-tidy$|tests/lint/|CMake|cmake/|\.proto$|scripts/packages\.txt$")


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else None


def changed_files():
    """The paths that differ from the main branch, or None where everything is to be checked."""
    base = None if os.environ.get("PINGLOOM_TIDY") == "all" else git("merge-base", "HEAD", "origin/main")
    if not base:
        return None
    differing = git("diff", "--name-only", base[0]) + git("ls-files", "--others", "--exclude-standard")
    if not differing or any(DECIDES.search(path) for path in differing):
        return None
    return {ROOT / path for path in differing}


def sources_of(file):
    """The sources that CMake compiles together as `file`, or the file itself."""
    if "/Unity/" in file:
        return re.findall(r'#include "(.*)"', pathlib.Path(file).read_text())
    return [file]


def included(file, found):
    """Adds the file, and the files of src/, include/ and its own folders that it includes, to `found`."""
    if file in found or not file.is_file():
        return found
    found.add(file)
    for name in re.findall(r'^#include ["<]([^">]+)[">]', file.read_text(), re.MULTILINE):
        for folder in (ROOT / "src", ROOT / "include", ROOT, file.parent):
            included(folder / name, found)
    return found


def main():
    build, folder, work = map(pathlib.Path, sys.argv[1:])
    changed = changed_files()
    targets = {}  # name: (a command, sources)
    for command in json.loads((build / "compile_commands.json").read_text()):
        target = re.search(r" -o \S*CMakeFiles/([^/]+)\.dir/", command["command"])
        sources = [file for file in sources_of(command["file"]) if pathlib.Path(file).is_relative_to(folder)]
        if changed is not None:
            sources = [file for file in sources if changed & included(pathlib.Path(file), set())]
        if target and sources:
            targets.setdefault(target[1], (command, []))[1].extend(sources)

    commands = []
    for name, (command, sources) in sorted(targets.items(), key=lambda target: -len(target[1][1])):
        file = work / f"{name}.cpp"
        file.write_text("".join(f'#include "{source}"\n' for source in sorted(sources)))
        line = re.sub(r" -o \S+ -c \S+", f" -c {file}", command["command"])
        # clang-tidy reads headers that clang has precompiled. It cannot read g++'s, and need not.
        line = re.sub(r"-Winvalid-pch|(?<!-Xclang )-include \S*cmake_pch\S*", "", line)
        commands.append({"directory": command["directory"], "file": str(file), "command": line})
    (work / "compile_commands.json").write_text(json.dumps(commands))
    for made in commands:
        print(made["file"])


if __name__ == "__main__":
    main()

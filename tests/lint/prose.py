"""Documentation fits 120 columns, and no comment of C++, Go or Rust begins as a fragment (CONTRIBUTING.md, "Prose")."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_COLUMNS = 120
DOCUMENTS = ("*.md", "*.scd", "*.scd.in", "config/*.yaml")
CODE = ("*.h", "*.cpp", "*.go", "*.rs")
# A comment that begins with one of these is a fragment, or has a relative clause as its subject.
FRAGMENT = re.compile(r"(?://[/!]?|/\*\*?) (Of|Who|Whom|Whose|Whoever) ")


def tracked(patterns):
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, check=True, capture_output=True)
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).exists()]


def long_lines(name):
    """A line that is one URL, stands in a fenced example, or is a generated table (bench/report.sh) may be longer."""
    fenced = generated = False
    for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        generated = (generated or line.startswith("<!-- report:")) and line != "<!-- end -->"
        if len(line) > MAX_COLUMNS and not fenced and not generated and len(line.split()) > 1:
            yield f"{name}:{number}: {len(line)} columns, at most {MAX_COLUMNS}"


def fragments(name):
    in_comment = False
    for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
        text = line.strip()
        begins = text.startswith(("//", "/*")) and not in_comment
        if begins and (found := FRAGMENT.match(text)):
            yield f'{name}:{number}: a comment begins with "{found[1]}"; write a sentence'
        in_comment = text.startswith("//")


def main():
    faults = [fault for name in tracked(DOCUMENTS) for fault in long_lines(name)]
    faults += [fault for name in tracked(CODE) for fault in fragments(name)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

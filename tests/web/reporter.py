"""Reports what it reads from its standard input with the report library: a line is a JSON list of a method's name and its
arguments. Texts that begin with hex: are bytes in hexadecimal digits; others are bytes in UTF-8. Answers each line when
its reports have left."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import pingloom_report  # noqa: E402


def plain(argument):
    if not isinstance(argument, str):
        return argument
    return bytes.fromhex(argument[4:]) if argument.startswith("hex:") else argument.encode()


with pingloom_report.Reporter(sys.argv[1]) as reporter:
    for line in sys.stdin:
        for method, *arguments in json.loads(line):
            getattr(reporter, method)(*map(plain, arguments))
        reporter.flush()
        print("sent", flush=True)

"""The Go package: its own tests, with and without the race detector, and how an application gets it."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from go_tool import PACKAGE, ROOT, go  # noqa: E402

BUILD = os.environ["PINGLOOM_BUILD"]
APPLICATION = """package main

import (
	"fmt"

	"pingloom/pingloompages"
)

func main() {
	pages, err := pingloompages.Open(pingloompages.Options{Socket: "/nonexistent"})
	if err != nil {
		panic(err)
	}
	orders, _ := pages.Counter(pingloompages.Metric{Name: "orders_total"})
	orders.Add(1)
	fmt.Println(pages.Status().Metrics)
}
"""


class Go(unittest.TestCase):
    def test_its_own_tests_pass(self):
        go(BUILD, PACKAGE, "test", "-count=1", "./...")

    def test_the_race_detector_finds_nothing(self):
        go(BUILD, PACKAGE, "test", "-count=1", "-race", ".", CGO_ENABLED="1")

    def test_vet_finds_nothing_on_either_architecture(self):
        for architecture in ("amd64", "arm64"):
            go(BUILD, PACKAGE, "vet", "./...", GOARCH=architecture)
        go(BUILD, ROOT / "tests/integration/pages_go", "vet", ".")

    def test_it_is_formatted(self):
        for directory in (PACKAGE, ROOT / "tests/integration/pages_go"):
            self.assertEqual(go(BUILD, directory, "-l", ".", tool="gofmt"), "", "gofmt -w is needed")

    def test_it_needs_neither_c_nor_other_modules(self):
        listed = go(BUILD, PACKAGE, "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}} {{.CgoFiles}}", ".")
        self.assertEqual({line.strip() for line in listed.splitlines()} - {"[]"}, {"pingloom/pingloompages []"})

    def test_an_application_uses_what_is_installed(self):
        with tempfile.TemporaryDirectory(prefix="pingloom-go-") as folder:
            prefix, application = pathlib.Path(folder, "prefix"), pathlib.Path(folder, "application")
            subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix, "--component", "pages-dev"], check=True,
                           capture_output=True)
            application.mkdir()
            application.joinpath("main.go").write_text(APPLICATION)
            go(BUILD, application, "mod", "init", "application")
            package = "pingloom/pingloompages"
            go(BUILD, application, "mod", "edit", "-require", f"{package}@v0.0.0", "-replace",
               f"{package}={prefix}/share/gocode/src/{package}")
            self.assertEqual(go(BUILD, application, "run", "."), "1\n")


if __name__ == "__main__":
    unittest.main()

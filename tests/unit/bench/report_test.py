"""bench/report: figures as benchmarks print them, what counts as moved, and the tables of docs/benchmarks.md."""

import json
import pathlib
import re
import sys
import time
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench/report"))
import comparison  # noqa: E402
import figures  # noqa: E402
import machine  # noqa: E402
import main  # noqa: E402
import page  # noqa: E402
import plot  # noqa: E402
from figures import Figure  # noqa: E402
from sections import SECTIONS, Section, figure, same_column, same_row  # noqa: E402


def result(*of, **more):
    return {"command": "bin/example", "mode": "quick", "date": "2026-11-23", "commit": "0123456789",
            "machine": "2 processors", "load": "0.1", "stolen": "0.0", "processor": 0.1,
            "figures": {each.name: [each.unit, *each.samples] for each in of}} | more


class Lines(unittest.TestCase):
    def test_reads_name_unit_and_samples(self):
        found = figures.parse("some words\ncommitted: all of it    952000 (945000 .. 954000) rows/s [952000 945000 954000]\n"
                              "  ratio  1.5 (1 .. 2) [1 2]\n"
                              "ratio | a, b  1.5 (1 .. 2) [1 2]\n")
        self.assertEqual(list(found), ["committed: all of it", "ratio | a, b"])
        self.assertEqual(found["committed: all of it"].unit, "rows/s")
        self.assertEqual(found["committed: all of it"].samples, [952000, 945000, 954000])
        self.assertEqual(found["ratio | a, b"].unit, "")

    def test_reads_units_of_several_words(self):
        self.assertEqual(figures.parse("cpu  1 (1 .. 1) s per million rows [1]")["cpu"].unit, "s per million rows")

    def test_refuses_what_is_no_number(self):
        with self.assertRaises(ValueError):
            figures.parse("x  nan (nan .. nan) ms [nan]")

    def test_reads_what_it_prints(self):
        for samples in ([3, 1, 2], [0.000123456], [1234567.8, 0], [-2.5, 4]):
            found = figures.parse(figures.line("a name", "us", samples))["a name"]
            self.assertEqual(len(found.samples), len(samples))
            for got, wanted in zip(found.samples, samples):
                self.assertAlmostEqual(got, wanted, delta=abs(wanted) * 1e-4)

    def test_median_and_spread(self):
        self.assertEqual(Figure("x", "", [5, 1, 3]).median, 3)
        even = Figure("x", "", [4, 1, 3, 2])
        self.assertEqual((even.median, even.lowest, even.highest), (2.5, 1, 4))

    def test_parts_of_a_name(self):
        self.assertEqual(Figure("x", "", []).path, ["", "x", ""])
        self.assertEqual(Figure("row | column", "", []).path, ["", "row", "column"])
        self.assertEqual(Figure("table | row | column", "", []).path, ["table", "row", "column"])


class Moved(unittest.TestCase):
    def moved(self, now, before, faster=1.0, unit="rows/s"):
        return comparison.moved(Figure("x", unit, now), Figure("x", unit, before), faster)

    def test_overlapping_samples_have_not_moved(self):
        self.assertIsNone(self.moved([100, 90, 120], [110, 100, 130]))

    def test_little_has_not_moved(self):
        self.assertIsNone(self.moved([104], [100]))

    def test_apart_has_moved(self):
        self.assertAlmostEqual(self.moved([50, 45, 55], [100, 90, 110]), -0.5)

    def test_a_speed_follows_the_limit(self):
        self.assertIsNone(self.moved([50], [100], faster=0.5))
        self.assertAlmostEqual(self.moved([100], [100], faster=0.5), 1.0)

    def test_a_time_goes_against_the_limit(self):
        for unit in ("ms", "s per million rows", "ns"):
            self.assertIsNone(self.moved([200], [100], faster=0.5, unit=unit))
            self.assertAlmostEqual(self.moved([100], [100], faster=0.5, unit=unit), -0.5)

    def test_a_size_or_ratio_knows_no_limit(self):
        for unit in ("MiB", "", "bytes per pair", "%"):
            self.assertIsNone(self.moved([100], [100], faster=0.5, unit=unit))

    def test_another_unit_cannot_be_compared(self):
        self.assertIsNone(comparison.moved(Figure("x", "ms", [1]), Figure("x", "us", [1000])))
        self.assertIsNone(comparison.moved(Figure("x", "ms", [1]), None))

    def test_a_limit_in_time_is_faster_when_it_shrinks(self):
        self.assertEqual(comparison.speed_change(Figure("l", "us", [10]), Figure("l", "us", [20])), 2)
        self.assertEqual(comparison.speed_change(Figure("l", "op/s", [10]), Figure("l", "op/s", [20])), 0.5)

    def test_a_section_is_compared_with_its_limit(self):
        def of(speed, limit):
            return {each.name: each for each in (Figure("speed", "rows/s", [speed]), Figure("limit: bare", "rows/s", [limit]))}

        both = comparison.compare(of(50, 500), of(100, 1000), figure("limit: bare"), 1.0)
        self.assertEqual(both, {"limit: bare": -0.5})
        slower = comparison.compare(of(50, 1000), of(100, 1000), figure("limit: bare"), 1.0)
        self.assertEqual(slower, {"limit: bare": 0.0, "speed": -0.5})

    def test_without_a_limit_the_processor_is_it(self):
        now, before = {"x": Figure("x", "ms", [200])}, {"x": Figure("x", "ms", [100])}
        self.assertEqual(comparison.compare(now, before, lambda _: None, 0.5), {})
        self.assertEqual(comparison.compare(now, before, lambda _: None, 1.0), {"x": 1.0})

    def test_limits_in_a_table(self):
        self.assertEqual(same_row("limit: bare")("t | READ | soft"), "t | READ | limit: bare")
        self.assertEqual(same_column("limit: bare")("soft | 64 B"), "limit: bare | 64 B")


class Tables(unittest.TestCase):
    section = Section("example", "bin/example", "", 1, goals={"speed": ">= 100", "a | y": "< 2"})

    def block(self, *of, **more):
        return page.block(self.section, result(*of, **more))

    def test_median_spread_goal_and_where(self):
        made = self.block(Figure("speed", "rows/s", [123456, 120000, 130000]), Figure("size", "MiB", [7.125]))
        self.assertIn("    bin/example\n\nQuick report of 2026-11-23 at commit 0123456789, on 2 processors.\n", made)
        self.assertIn("| speed, rows/s | 123,000 | 120,000 .. 130,000 | >= 100: met |", made)
        self.assertIn("| size, MiB | 7.12 |  |  |", made)
        self.assertNotIn("moved", made)

    def test_a_goal_is_missed_by_the_median(self):
        self.assertIn(">= 100: **missed**", self.block(Figure("speed", "rows/s", [99, 98, 200])))

    def test_moved(self):
        made = self.block(Figure("speed", "rows/s", [200]), moved={"speed": -0.251}, compared="89abcdef")
        self.assertIn("| speed, rows/s | 200 |  | >= 100: met | -25 % |", made)
        self.assertIn("commit 89abcdef", made)

    def test_rows_and_columns(self):
        made = self.block(Figure("a | x", "ms", [1, 3, 2]), Figure("a | y", "", [2.5]), Figure("b | x", "ms", [4]))
        self.assertIn("|  | x, ms | y | goal |", made)
        self.assertIn("| a | 2.00 (1.00 .. 3.00) | 2.50 | y < 2: **missed** |", made)
        self.assertIn("| b | 4.00 |  |  |", made)

    def test_units_of_rows(self):
        made = self.block(Figure("a | x", "ms", [1]), Figure("b | x", "us", [2]))
        self.assertIn("|  | x |", made)
        self.assertIn("| a, ms | 1.00 |", made)

    def test_several_tables(self):
        made = self.block(Figure("one | a | x", "", [1]), Figure("two | a | x", "", [2]))
        self.assertIn("| one | x |", made)
        self.assertIn("| two | x |", made)

    def test_not_run_says_why(self):
        self.assertEqual(page.block(self.section, {"not_run": "it needs root"}), "Not run: it needs root.\n")
        self.assertEqual(page.block(self.section, None), "Not measured yet.\n")

    def test_people_read_three_digits(self):
        for value, unit, text in ((1234567, "ms", "1,230,000"), (0.025123, "%", "0.0251"), (99.9971, "%", "100.00"),
                                  (0, "ms", "0"), (24000, "", "24,000"), (12345, "", "12,345"), (0.9996, "", "1.000")):
            self.assertEqual(page.people(value, unit), text)


class Page(unittest.TestCase):
    def test_only_what_is_between_the_markers_is_written(self):
        text = "before\n<!-- report: example -->\nold\n<!-- end -->\nafter\n<!-- report: summary -->\n<!-- end -->\n"
        made = page.write(text, {"example": result(Figure("speed", "rows/s", [99]))}, [Tables.section])
        self.assertTrue(made.startswith("before\n<!-- report: example -->\n    bin/example\n"))
        self.assertNotIn("old", made)
        self.assertIn("<!-- end -->\nafter\n", made)
        self.assertIn("- example: speed is 99.0 rows/s, goal >= 100\n", made)
        self.assertIn("- example: a | y was not measured, goal < 2\n", made)
        self.assertEqual(page.write(made, {"example": result(Figure("speed", "rows/s", [99]))}, [Tables.section]), made)

    def test_the_summary_names_what_moved_and_what_was_not_run(self):
        made = page.summary({"example": result(Figure("speed", "rows/s", [200]), moved={"speed": 0.5, "limit: x": 0.1})},
                            [Tables.section, Section("other", "", "", 1)])
        self.assertIn("- example: speed by +50 %\n", made)
        self.assertNotIn("limit: x", made)
        self.assertIn("- other: not measured yet", made)

    def test_every_section_has_its_place(self):
        text = (ROOT / machine.PAGE).read_text()
        self.assertEqual(page.names(text), ["summary", *(section.name for section in SECTIONS)])

    def test_nobody_has_edited_a_figure(self):
        text = (ROOT / machine.PAGE).read_text()
        self.assertEqual(page.write(text, main.load_results(), SECTIONS, main.load_profiles()), text, "run bench/report.sh instead")

    def test_nobody_has_edited_a_drawing(self):
        for name, drawing in page.drawings(main.load_results(), SECTIONS).items():
            self.assertEqual((ROOT / "docs" / name).read_text(), drawing, f"{name}: run bench/report.sh --write")
            self.assertIn(f"]({name})", (ROOT / machine.PAGE).read_text())

    def test_goals_and_limits_of_a_full_report_are_measured(self):
        for section in SECTIONS:
            kept = main.load_results().get(section.name, {})
            if kept.get("mode") != "full" or "not_run" in kept:
                continue
            found = kept["figures"]
            self.assertLessEqual(set(section.goals), set(found), section.name)
            limits = {section.limit_of(name) for name in found} - {None}
            self.assertTrue(not limits or limits & set(found), section.name)

    def test_results_keep_a_figure_on_a_line(self):
        kept = {"example": result(Figure("speed", "rows/s", [1, 2.5, 3]))}
        text = main.to_text(kept)
        self.assertEqual(json.loads(text), kept)
        self.assertIn('"speed": ["rows/s", 1, 2.5, 3]\n', text)


class Drawings(unittest.TestCase):
    made = plot.draw([Figure("every 1s | 10 x | a", "us", [1]), Figure("every 1s | 1,000 x | a", "us", [9, 100, 300]),
                      Figure("every 1s | 10 x | b <c>", "us", [10]), Figure("every 10s | 10 x | a", "us", [2])], "cgroups")

    def test_points_are_where_the_medians_are(self):
        circles = [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', self.made)]
        left, right = plot.LEFT, plot.LEFT + plot.WIDTH
        top, bottom = plot.TOP, plot.TOP + plot.HEIGHT
        # Panels follow each other. Ten times as much is as far everywhere.
        self.assertEqual(circles[:3], [(left, bottom), (right, top), (left, (top + bottom) / 2)])
        self.assertEqual(circles[3][0], right + plot.RIGHT + plot.LEFT)
        self.assertAlmostEqual(circles[3][1], bottom - 0.30103 / 2 * plot.HEIGHT, delta=0.1)

    def test_it_is_xml_with_all_names(self):
        words = ["".join(each.itertext()) for each in xml.etree.ElementTree.fromstring(self.made)]
        for name in ("every 1s", "every 10s", "a", "b <c>", "cgroups", "us", "10", "1,000", "100"):
            self.assertIn(name, words)

    def test_they_are_of_measured_sections(self):
        section = Section("example", "bin/example", "", 1, plot="example.svg", across="x")
        self.assertEqual(page.drawings({}, [section]), {})
        self.assertEqual(page.drawings({"example": {"not_run": "x"}}, [section]), {})
        kept = {"example": result(Figure("t | 1 | a", "us", [1]), Figure("t | 2 | a", "us", [2]))}
        self.assertEqual(list(page.drawings(kept, [section])), ["example.svg"])


class Runs(unittest.TestCase):
    def test_gives_the_output(self):
        self.assertEqual(machine.run(["echo", "hello"], ROOT, 10), ("hello\n", None))

    def test_a_failure_has_its_reason(self):
        _, reason = machine.run(["sh", "-c", "echo no redis >&2; exit 3"], ROOT, 10)
        self.assertEqual(reason, "it ended with code 3: no redis")

    def test_a_missing_program_is_a_reason(self):
        self.assertIn("cannot be started", machine.run(["no-such-program"], ROOT, 10)[1])

    def test_what_hangs_is_ended_with_its_children(self):
        began = time.monotonic()
        _, reason = machine.run(["sh", "-c", "sleep 300 & wait"], ROOT, 0.2)
        self.assertIn("time limit of 0.2 s", reason)
        self.assertLess(time.monotonic() - began, 60)

    def test_what_cannot_run_is_named(self):
        made = main.measure(Section("example", "false", "", 1, needs=(lambda: "it needs wings",)), False, {})
        self.assertEqual(made, {"not_run": "it needs wings"})

    def test_a_program_without_figures_has_failed(self):
        made = main.measure(Section("example", "echo nothing", "", 10), False, {"figures": {"x": ["ms", 1]}})
        self.assertEqual(made, {"figures": {"x": ["ms", 1]}, "not_run": "it failed (it printed no figures)"})

    def test_a_section_is_measured_and_compared(self):
        section = Section("example", "echo", "", 10, full="'x  2 (2 .. 2) MiB [2 2]'")
        made = main.measure(section, False, {"figures": {"x": ["MiB", 1]}, "commit": "abc", "date": "2026-01-01",
                                             "processor": 0.1})
        self.assertEqual(made["figures"], {"x": ["MiB", 2, 2]})
        self.assertEqual((made["moved"], made["compared"], made["mode"]), ({"x": 1.0}, "abc of 2026-01-01", "full"))


if __name__ == "__main__":
    unittest.main()

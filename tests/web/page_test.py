"""The page in a real browser: what an operator sees must be what the board holds."""

import argparse
import subprocess
import sys
import time
import unittest

from browser import Browser

ARGUMENTS = None
ENTER, ESCAPE, RIGHT, DOWN, SPACE = "\ue007", "\ue00c", "\ue014", "\ue015", " "


class BoardServer:
    """The real dashboard over synthetic rows; obeys commands."""

    def __init__(self, hosts):
        self.process = subprocess.Popen(
            [ARGUMENTS.server, "127.0.0.1:0", ARGUMENTS.web_root, str(hosts)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def say(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer == "done", f"{command}: {answer}"

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(10)
        self.process.stdout.close()


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(ARGUMENTS.chromedriver, ARGUMENTS.chromium)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def start(self, hosts, fragment=""):
        self.server = BoardServer(hosts)
        self.addCleanup(self.server.close)
        self.open(fragment)

    def open(self, fragment=""):
        self.browser.open("about:blank")
        self.browser.console()
        self.browser.open(f"{self.server.url}/{fragment}")
        self.browser.wait("window.document.querySelector('#heatmap')?.dataset.pairs > 0"
                          " || window.document.querySelector('#pair-page')")

    def assert_quiet(self):
        """Neither an error in the console nor anything that the policy refused."""
        # Chromium has an opinion on how cell() below reads pixels; this board has no history.
        known = ("willReadFrequently", "/api/v1/history")
        self.assertEqual([entry for entry in self.browser.console()
                          if not any(part in entry["message"] for part in known)], [])

    def cell(self, row, column):
        """Colour and state of a cell, read from the painted pixels and from the model."""
        return self.browser.run("""
            const map = document.querySelector('#heatmap').heatmap;
            const cell = arguments[0] * map.grid.columns + arguments[1];
            const { x, y } = map.middleOf(cell);
            const ratio = window.devicePixelRatio;
            const corner = [x - map.view.cellWidth / 2 + 2, y - map.view.cellHeight / 2 + 2];
            const pixel = map.context.getImageData(...corner.map((at) => at * ratio), 1, 1).data;
            return { state: map.grid.stateName(cell), colour: [...pixel] };""", row, column)

    def point_at(self, row, column, click=False):
        """Moves the mouse to a cell; again if the page was laid out anew meanwhile."""
        for _ in range(5):
            x, y, cell = self.browser.run("""
                const canvas = document.querySelector('#heatmap');
                const cell = arguments[0] * canvas.heatmap.grid.columns + arguments[1];
                const { x, y } = canvas.heatmap.middleOf(cell);
                const box = canvas.getBoundingClientRect();
                return [x + box.x, y + box.y, cell];""", row, column)
            self.browser.point(x, y)
            try:
                self.browser.wait("document.querySelector('#heatmap').heatmap.cursor === arguments[0]", cell, seconds=2)
                break
            except AssertionError:
                self.browser.point(1, 1)
        if click:
            self.browser.point(x, y, click)

    def panel(self, source, destination):
        """The panel's text once it shows this pair."""
        return self.browser.wait("""
            const panel = document.querySelector('#pair');
            return panel.dataset.pair === arguments[0] && panel.innerText;""",
                                 f"{source} {destination}")

    def painted_anew(self, row, column, before, seconds=10):
        """The cell once it has another colour: the model changes first, then the page is painted."""
        deadline = time.monotonic() + seconds
        while (cell := self.cell(row, column))["colour"] == before["colour"]:
            self.assertLess(time.monotonic(), deadline, "the cell keeps its colour")
            time.sleep(0.05)
        return cell

    def test_a_cell_per_pair(self):
        self.start(8)
        for row in range(8):
            for column in range(8):
                cell = self.cell(row, column)
                if row == column:
                    self.assertEqual((cell["state"], cell["colour"][3]), ("", 0))
                else:
                    self.assertEqual((cell["state"], cell["colour"][3]), ("ok", 255))
        self.browser.click("[data-probe=gpu-to-storage]")
        self.browser.wait("document.querySelector('#heatmap').dataset.columns === '2'")
        self.browser.wait("document.querySelector('#heatmap').dataset.pairs === '16'")
        self.assert_quiet()

    def test_pointing_shows_the_row_both_ways(self):
        self.start(4)
        self.point_at(0, 1)
        text = self.panel("10.0.0.1", "10.0.0.2")
        for part in ("gpu-001 → gpu-002", "there", "back", "network", "responder", "prober", "rtt",
                     "p99", "sent", "kernel clock"):
            self.assertIn(part, text)
        self.assertEqual(self.browser.run("document.querySelectorAll('#pair .split').length"), 2)
        self.assert_quiet()

    def test_a_change_arrives_without_a_reload(self):
        self.start(8)
        self.browser.run("window.sameDocument = 1; return 1;")
        before = self.cell(2, 5)
        self.server.say("pair 0 2 5 loss")
        self.browser.wait("""
            const map = document.querySelector('#heatmap').heatmap;
            return map.grid.stateName(21) === 'loss';""")
        self.browser.wait("document.querySelector('[data-state=loss] b').textContent === '1'")
        after = self.painted_anew(2, 5, before)
        red, green, blue, _ = after["colour"]
        self.assertGreater(red, max(green, blue) * 1.3)
        self.assertEqual(self.browser.run("window.sameDocument"), 1)
        self.assert_quiet()

    def test_the_shown_pair_follows(self):
        self.start(4)
        self.point_at(0, 1, click=True)
        self.panel("10.0.0.1", "10.0.0.2")
        self.server.say("pair 0 0 1 unreachable")
        self.browser.wait("document.querySelector('#pair .way').innerText.includes('unreachable')")

    def test_each_state_looks_its_own(self):
        self.start(12)
        names = ["loss", "unreachable", "refused", "agent-down", "stale", "anomalous", "pending",
                 "ok"]
        for column, name in enumerate(names):
            self.server.say(f"pair 0 11 {column} {name}")
        self.browser.wait("""
            const grid = document.querySelector('#heatmap').heatmap.grid;
            return arguments[0].every((name) => grid.countOf(name) > 0);""", names)
        self.browser.wait("document.querySelector('.legend [data-state=stale] b').innerText === '1'")
        for scheme in ("dark", "light"):
            self.browser.prefer(scheme)
            self.browser.wait(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
            colours = {tuple(self.cell(11, column)["colour"]) for column in range(len(names))}
            self.assertEqual(len(colours), len(names), scheme)
        self.assert_quiet()

    def test_keys_reach_every_cell(self):
        self.start(4)
        self.browser.run("document.querySelector('#heatmap').focus(); return 1;")
        self.browser.press(RIGHT, DOWN)
        text = self.browser.wait("document.querySelector('#readout').textContent")
        self.assertIn("gpu-003 to gpu-002: ok, network p50", text)
        self.assertIn("; back: ok, network p50", text)
        self.browser.press(SPACE)
        self.browser.wait("document.querySelector('#pair .held')")
        self.panel("10.0.0.3", "10.0.0.2")
        self.browser.press(ESCAPE, RIGHT)
        self.panel("10.0.0.3", "10.0.0.4")
        self.browser.press(ENTER)
        self.browser.wait("document.querySelector('#pair-page')?.dataset.pair === '10.0.0.3 10.0.0.4'")
        self.browser.press(ESCAPE)
        self.browser.wait("document.querySelector('#heatmap')")
        self.browser.press("?")
        self.browser.wait("document.querySelector('.help')")
        self.browser.press(ESCAPE)
        self.browser.wait("!document.querySelector('.help')")
        self.assert_quiet()

    def test_a_link_leads_to_the_view(self):
        self.start(4, "#probe=gpu-to-storage&metric=loss")
        chosen = "document.querySelector('#probes [aria-selected=true]').dataset.probe"
        self.assertEqual(self.browser.run(chosen), "gpu-to-storage")
        self.assertEqual(self.browser.run(
            "document.querySelector('#metrics [aria-checked=true]').dataset.metric"), "loss")
        self.browser.click("[data-probe=udp]")
        self.browser.click("[data-metric=network_p99]")
        self.assertTrue(self.browser.url().endswith("#probe=udp&metric=network_p99"))
        self.browser.run("history.go(-2); return 1;")
        self.browser.wait(f"{chosen} === 'gpu-to-storage'")
        self.assert_quiet()

    def test_every_metric_comes(self):
        self.start(4)
        metrics = self.browser.run(
            "return [...document.querySelectorAll('#metrics button')].map((each) => each.dataset.metric);")
        self.assertEqual(len(metrics), 10)
        for metric in metrics:
            self.browser.click(f"[data-metric={metric}]")
            self.browser.wait("""
                const map = document.querySelector('#heatmap').heatmap;
                return map.scene.metric.id === arguments[0] && map.grid.values[1] > 0;""", metric)
        self.assert_quiet()

    def test_a_slow_host_is_a_cross(self):
        self.start(40, "#order=rack")
        self.server.say("slow 7")
        self.browser.wait("document.querySelector('.legend [data-state=\"very slow\"] b').innerText === '78'")
        lines = self.browser.run("""
            const { rowLines, columnLines } = document.querySelector('#heatmap').heatmap.scene.ranks;
            const bad = (lines) => [...Array(40).keys()].filter((line) => lines.rank(line) >> 8 !== 2);
            return [bad(rowLines), bad(columnLines)];""")
        self.assertEqual(lines, [[7], [7]])
        colours = [tuple(self.cell(*at)["colour"]) for at in ((7, 0), (39, 7), (1, 2))]
        self.assertEqual(colours[0], colours[1])
        self.assertNotEqual(colours[0], colours[2])
        self.assert_quiet()

    def test_zooming_reaches_single_cells_and_is_in_the_url(self):
        self.start(300)
        level = "document.querySelector('#heatmap').heatmap.view.level"
        size = "document.querySelector('#heatmap').heatmap.view.cellWidth"
        self.point_at(150, 200)
        self.browser.run("document.querySelector('#heatmap').focus(); return 1;")
        self.browser.press(*["+"] * 12)
        self.browser.wait(f"{size} >= 50")
        self.assertEqual(self.browser.run(level), 0)
        self.browser.wait("location.hash.includes('at=')")
        sight = "JSON.stringify(document.querySelector('#heatmap').heatmap.view.sight().zoom)"
        before = self.browser.run(sight)
        self.browser.run("location.reload(); return 1;")
        self.browser.wait("document.querySelector('#heatmap')?.dataset.pairs > 0")
        self.assertAlmostEqual(float(self.browser.run(sight)), float(before), delta=0.1)
        self.browser.run("document.querySelector('#heatmap').focus(); return 1;")
        self.browser.press("0")
        self.browser.wait("!location.hash.includes('at=')")
        self.assert_quiet()

    def test_the_worst_list(self):
        self.start(12)
        self.server.say("pair 0 3 5 unreachable")
        self.server.say("pair 0 4 6 loss")
        self.browser.click("[data-page=worst]")
        rows = "return [...document.querySelectorAll('.pairs tbody tr')].map((row) => row.innerText.split('\\t'));"
        self.browser.wait("document.querySelectorAll('.pairs tbody tr').length === 132")
        self.browser.wait("document.querySelector('.pairs tbody td').innerText === 'gpu-004'")
        self.assertEqual([row[:3] for row in self.browser.run(rows)[:2]],
                         [["gpu-004", "gpu-006", "unreachable"], ["gpu-005", "gpu-007", "loss"]])
        self.browser.run("document.querySelector('#filter').focus(); return 1;")
        self.browser.press(*"gpu-005")
        self.browser.wait("document.querySelectorAll('.pairs tbody tr').length === 22")
        self.assertIn("filter=gpu-005", self.browser.url())
        self.assert_quiet()

    def test_search_leads_to_a_host(self):
        self.start(8)
        self.browser.press("/")
        self.browser.press(*"gpu-003", ENTER)
        self.browser.wait("document.querySelector('.page h2')?.innerText === 'gpu-003'")
        self.browser.wait("document.querySelectorAll('.pairs tbody tr').length === 14")
        self.browser.wait("document.querySelector('.page').innerText.includes('No agent has registered')")
        self.assertIn("r1", self.browser.run("document.querySelector('.facts').innerText"))
        self.assert_quiet()

    def test_a_pair_has_a_page(self):
        self.start(4, "#page=pair&probe=udp&metric=network_p50&from=10.0.0.1&to=10.0.0.2")
        self.browser.wait("document.querySelectorAll('.uplot canvas').length === 2", seconds=10)
        self.browser.wait("document.querySelector('#pair-page .way')?.innerText.includes('p99')")
        self.assert_quiet()

    def test_a_rejected_pinglist_is_said(self):
        self.start(2)
        self.server.say("reject")
        text = self.browser.wait("document.querySelector('[data-kind=pinglist]')?.innerText", seconds=10)
        self.assertIn("the last good one is in force", text)
        self.assertIn("unknown protocol 'udb' <b>", text)
        self.assert_quiet()

    def test_a_phone_has_room_for_it(self):
        self.browser.resize(390, 800)
        self.addCleanup(self.browser.resize, 1280, 860)
        self.start(8)
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"),
                             self.browser.run("window.innerWidth"))

    def test_another_plan(self):
        self.start(4)
        self.server.say("plan 6")
        self.browser.wait("document.querySelector('#heatmap').dataset.rows === '6'")
        self.browser.wait("document.querySelector('#heatmap').heatmap.grid.countOf('pending') === 30")
        self.server.say("all")
        self.browser.wait("document.querySelector('#heatmap').heatmap.grid.countOf('ok') === 30")
        self.assert_quiet()

    def test_names_are_text(self):
        self.start(2)
        name = "<img src=x onerror=alert(1)>&amp;"
        self.server.say(f"plan 3 {name}")
        self.server.say("all")
        self.browser.wait("document.querySelector('#heatmap').heatmap.grid.countOf('ok') === 6")
        self.point_at(0, 1)
        self.assertIn(name, self.panel("10.0.0.1", "10.0.0.2"))
        self.assertIn(name, self.browser.run("document.querySelector('#readout').textContent"))
        self.assertEqual(self.browser.run("document.images.length"), 0)
        self.assert_quiet()

    def test_large_meshes_show_the_worst(self):
        self.start(300)
        self.server.say("pair 0 150 200 loss")
        self.browser.wait("document.querySelector('#heatmap').heatmap.grid.countOf('loss') === 1")
        shown = self.browser.wait("""
            const map = document.querySelector('#heatmap').heatmap;
            const cell = 150 * 300 + 200;
            return map.view.level > 0 && map.worstAt(map.placeOf(cell)) === cell;""")
        self.assertTrue(shown)
        self.assert_quiet()

    def test_the_end_of_the_controller_shows_and_its_return(self):
        self.start(4)
        address = self.server.url.removeprefix("http://")
        self.browser.wait("document.querySelector('#link').dataset.state === 'live'")
        self.server.close()
        self.browser.wait("document.querySelector('#link').dataset.state === 'reconnecting'")
        self.assertIn("ago", self.browser.run("document.querySelector('#link').innerText"))
        again = subprocess.Popen([ARGUMENTS.server, address, ARGUMENTS.web_root, "4"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.server.process = again
        self.assertTrue(again.stdout.readline())
        self.browser.wait("document.querySelector('#link').dataset.state === 'live'", seconds=20)
        self.browser.console()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("server", "web-root", "chromium", "chromedriver"):
        parser.add_argument(f"--{name}", required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)

"""bench/report: how a recording of perf becomes the tables "Where the CPU time goes" of docs/benchmarks.md."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench/report"))

import folding
import main
import page
import profile_table
import profiles
from sections import SECTIONS, Section

BIN = "/x/build/release/bin"
EVENTS = """\
       perf-exec     0/0     PERF_RECORD_COMM: perf-exec:10/10
 controller_rows 10/10 PERF_RECORD_COMM exec: controller_rows:10/10
 controller_rows 10/10 PERF_RECORD_FORK(20:20):(10:10)
 pingloom-contro 20/20 PERF_RECORD_COMM exec: pingloom-contro:20/20
 pingloom-contro 20/20 PERF_RECORD_FORK(20:21):(20:20)
          ledger 20/21 PERF_RECORD_COMM: ledger:20/21
 controller_rows 10/10 PERF_RECORD_FORK(30:30):(10:10)
"""


def sample(thread, pid, symbol, path, times=1):
    return f"{thread:>16} {pid}/{pid}    1001001      55801ff3e902 {symbol} ({path})\n" * times


CONTROLLER = f"{BIN}/pingloom-controller"
TEXT = EVENTS + "".join((
    sample("ledger", 20, "pingloom::wire::(anonymous namespace)::Input::readList", CONTROLLER, 20),
    sample("ledger", 20, "[unknown]", "/usr/lib/libzstd.so.1.5.4", 20),
    sample("pingloom-contro", 20, "do_syscall_64", "[kernel.kallsyms]", 9),
    sample("pingloom-contro", 20, "std::vector<int, std::allocator<int> >::push_back", CONTROLLER),
    sample("controller_rows", 10, "memcpy", "/usr/lib/x86_64-linux-gnu/libc.so.6", 25),
    sample("controller_rows", 30, "memcpy", "/usr/lib/x86_64-linux-gnu/libc.so.6", 24),
    sample("sh", 40, "main", "/usr/bin/dash")))


class Folding(unittest.TestCase):
    rows = folding.fold(TEXT.splitlines(), {"controller_rows": "load generator"})

    def test_processes_threads_and_load(self):
        self.assertEqual([(row["process"], row["thread"], row["share"]) for row in self.rows],
                         [("pingloom-controller", "", 50), ("pingloom-controller", "ledger", 40),
                          ("pingloom-controller", "pingloom-controller", 10), ("sh", "", 1), ("load generator", "", 49)])

    def test_a_row_has_shares_of_its_own_time(self):
        ledger, control = self.rows[1:3]
        self.assertEqual(ledger["spent"], [["own functions", 50], ["zstd", 50]])
        self.assertEqual(ledger["own"], [["Input::readList", 50]])
        self.assertEqual(control["spent"], [["the kernel", 90], ["templates of std and Boost", 10]])
        self.assertEqual(control["own"], [])

    def test_a_thread_of_a_measured_process_may_be_load(self):
        rows = folding.fold(TEXT.splitlines(), {"pingloom-controller/ledger": "limit: bare loop"})
        self.assertEqual([(row["process"], row["share"]) for row in rows],
                         [("controller_rows", 49), ("pingloom-controller", 10), ("sh", 1), ("limit: bare loop", 40)])

    def test_little_ones_are_joined(self):
        rows = folding.fold((TEXT + sample("x", 50, "main", "/usr/bin/x", 1)).splitlines(), {"controller_rows": "load"})
        self.assertEqual((rows[-1]["process"], rows[-1]["share"]), ("other processes", 2.0))

    def test_nothing_recorded(self):
        self.assertEqual(folding.fold([], {}), [])

    def test_what_a_sample_counts_as(self):
        libraries = "/usr/lib/x86_64-linux-gnu"
        for symbol, path, what in (
                ("malloc", f"{libraries}/libc.so.6", "memory allocation"),
                ("_int_free", f"{libraries}/libc.so.6", "memory allocation"),
                ("free_pages", "[kernel.kallsyms]", "the kernel"),
                ("nft_do_chain", "[nf_tables]", "the kernel"),
                ("[unknown]", "[unknown]", "code without a name"),
                ("__vdso_clock_gettime", "[vdso]", "reading the clock"),
                ("dictFind", "/usr/bin/redis-check-rdb", "redis-server's functions"),
                ("x", "/usr/bin/node", "node"),
                ("zmq::epoll_t::loop", f"{libraries}/libzmq.so.5.2.4", "ZeroMQ"),
                ("x", f"{libraries}/libodd.so.1", "libodd"),
                ("main", CONTROLLER, "own functions"),
                ("boost::asio::x", CONTROLLER, "templates of std and Boost")):
            self.assertEqual(folding.kind(symbol, path), what, f"{symbol} {path}")

    def test_short_names(self):
        for symbol, name in (("pingloom::controller::encodeSamples", "encodeSamples"), ("main", "main"),
                             ("pingloom::Table<std::pair<int, int> >::find", "Table::find"),
                             ("pingloom::(anonymous namespace)::work(int, void (*)(int)) const", "work"),
                             ("pingloom::Grid::derive(int)::{lambda(int)#2}::operator()", "Grid::derive::lambda"),
                             ("pingloom::icrc::sum.part.0", "sum"), ("pingloom::a::b [clone .isra.0]", "b")):
            self.assertEqual(folding.short(symbol), name)


class Rendering(unittest.TestCase):
    profile = {"date": "2026-11-28", "commit": "0123456789", "machine": "2 processors", "command": "bin/example --short",
               "samples": 12345, "rows": Folding.rows}

    def test_the_table(self):
        made = "\n".join(profile_table.lines(self.profile))
        self.assertIn("    bin/example --short\n\nProfile of 2026-11-28 at commit 0123456789, on 2 processors.\n", made)
        self.assertIn("12,345 samples", made)
        self.assertIn("| **pingloom-controller** | 50 % | own functions 40 %, zstd 40 %, the kernel 18 %", made)
        self.assertIn("| thread ledger | 40 % | own functions 50 %, zstd 50 % | `Input::readList` 50 % |", made)
        self.assertIn("| **sh** | 1.0 % | dash 100 % |  |", made)

    def test_it_stands_below_the_section_of_its_name(self):
        text = "<!-- report: example -->\n<!-- end -->\n<!-- report: other -->\n<!-- end -->\n"
        both = [Section("example", "", "", 1), Section("other", "", "", 1)]
        made = page.write(text, {}, both, {"example": self.profile})
        self.assertTrue(made.startswith("<!-- report: example -->\nNot measured yet.\n\nWhere the CPU time goes:\n"))
        self.assertTrue(made.endswith("|\n<!-- end -->\n<!-- report: other -->\nNot measured yet.\n<!-- end -->\n"))
        self.assertEqual(page.write(made, {}, both, {"example": self.profile}), made)

    def test_profiles_are_of_sections(self):
        wanted = [profile.section for profile in profiles.PROFILES]
        self.assertLessEqual(set(wanted), {section.name for section in SECTIONS})
        self.assertLessEqual(set(main.load_profiles()), set(wanted))


class Taking(unittest.TestCase):
    def test_what_fails_is_not_kept(self):
        if profiles.program("perf")():
            self.skipTest("perf is not installed")
        made, reason = profiles.take(profiles.Profile("example", "false"))
        self.assertIsNone(made)
        self.assertIn("it ended with code", reason)


if __name__ == "__main__":
    unittest.main()

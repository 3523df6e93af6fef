"""The sections of docs/benchmarks.md: what each runs, for how long at most, what it needs, its limit and its goals."""

import os
import pathlib
import shutil
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = "build/release/bin"
DASHBOARD = f"env PINGLOOM_BIN={BIN} PINGLOOM_WEB=build/release/web node"


@dataclass
class Section:
    name: str
    command: str
    quick: str  # further arguments in a quick report
    seconds: int  # the time limit
    full: str = ""  # further arguments in a full report
    targets: tuple = ()  # what the build has to make
    needs: tuple = ()  # functions that give the reason why the section cannot be run here, or None
    # Gives the name of the figure that is a figure's limit. Without one, the processor is the limit.
    limit_of: callable = lambda name: None
    goals: dict = field(default_factory=dict)
    plot: str = ""  # the page's drawing of its tables, beside the page
    across: str = ""  # what the drawing's horizontal axis counts

    def arguments(self, quick):
        return f"{self.command} {self.quick if quick else self.full}".strip()


def root():
    return None if os.geteuid() == 0 else "it needs root for network namespaces and packet sockets"


def program(name):
    return lambda: None if shutil.which(name) else f"{name} is not installed"


def chromium():
    path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    return None if os.access(path, os.X_OK) else f"{path} is missing (CHROMIUM names another)"


def postgres_server():
    there = pathlib.Path("/usr/lib/postgresql/15/bin/postgres").exists()
    return None if there else "the package postgresql-15 is not installed"


def browser_driver():
    there = (ROOT / "web/node_modules/playwright-core").exists()
    return None if there else "web/node_modules has no playwright-core (build the target web with tests on)"


def dashboard():
    there = (ROOT / "build/release/web/index.html").exists()
    return None if there else "the dashboard is not built (target web)"


def figure(name):
    return lambda _: name


def same_row(column):
    """The limit is a column of the figure's row."""
    return lambda name: f"{name.rpartition(' | ')[0]} | {column}"


def same_column(row):
    """The limit is a row of the figure's column."""
    return lambda name: f"{row} | {name.rpartition(' | ')[2]}"


def update_limit(name):
    row, _, column = name.rpartition(" | ")
    shared = "one for all threads" in row
    return f"limit: {'atomic add, one for all threads' if shared else OWN_INCREMENT} | {column}"


def history_limit(name):
    return f"{name.partition(': ')[0]}: limit: the same blocks by SQLite and zstd alone"


OWN_INCREMENT = "volatile increment, a thread's own"
BARE = "limit: bare loop, CPU per exchange"
READ_4096, READ_1024 = "READ 64 KiB, MTU 4096, 4 deep", "READ 64 KiB, MTU 1024, 2 deep"
LAB = (program("qemu-system-x86_64"), program("busybox"), program("ibv_ud_pingpong"), program("ib_read_lat"))
LAB_TARGETS = ("pingloom", "pingloom-agent", "pingloom-controller")
AGENT_GOALS = {"pings sent, of those wanted": ">= 99.9", "resident memory of the prober": "<= 64"}
GRIDS = ("network_p50 as cells", "network_p50 as json", "rtt_p99 as json", "loss as json")

SECTIONS = [
    Section("agent_scale", f"{BIN}/agent_scale --seconds 12", "--runs 1", 600, full="--runs 5", targets=("agent_scale",),
            limit_of=figure(BARE),
            goals=AGENT_GOALS | {"send lateness p99": "< 1", "CPU per exchange, of the bare loop's": "<= 1.2"}),
    Section("agent_scale_rdma", f"{BIN}/agent_scale --rdma --seconds 10", "--runs 1", 400, full="--runs 3",
            targets=("agent_scale",), limit_of=figure(BARE),
            goals=AGENT_GOALS | {"send lateness p99": "< 1", "CPU per exchange, of the bare loop's": "<= 1.35"}),
    Section("idle_agent", "bench/idle_agent/measure.py", "--seconds 10", 200, full="--seconds 40",
            targets=("pingloom-agent", "pingloom-controller"), needs=(program("redis-server"),),
            goals={"CPU of an agent with nothing to probe": "< 0.1", "resident memory": "<= 24"}),
    Section("pages_update", f"{BIN}/pages_update_bench", "--runs 2", 300, full="--runs 9", targets=("pages_update_bench",),
            limit_of=update_limit,
            goals={f"counter, a thread's own | {n}": "<= 3" for n in ("1 thread", "2 threads")}
            | {f"shared counter, one for all threads | {n}": "<= 8" for n in ("1 thread", "2 threads")}
            | {f"times faster than prometheus-cpp, counter, a thread's own | {n}": ">= 3" for n in ("1 thread", "2 threads")}
            | {f"times faster than prometheus-cpp, counter, one for all threads | {n}": ">= 2"
               for n in ("1 thread", "2 threads")}),
    Section("pages_python", "bench/pages/update.py", "--runs 3", 120, full="--runs 9", targets=("pingloom-pages",)),
    Section("collection", f"{BIN}/collection_bench", "--runs 1 --seconds 0.2", 600, full="--runs 5 --seconds 0.4 --sustained 30",
            targets=("collection_bench",),
            goals={f"readers | 2 hosts, {shape}, 2 readers on 2 cores | times 1 reader on 1 core": ">= 1.8"
                   for shape in ("64 x 64", "64 x 504")}),
    Section("cost", f"{BIN}/cost_bench", "--runs 1 --rounds 2 --long-rounds 1", 1200, full="--runs 3 --rounds 4 --long-rounds 1",
            targets=("cost_bench",),
            plot="host-cost.svg", across="cgroups or applications, 8 series each"),
    Section("churn", f"{BIN}/churn_bench", "--runs 1 --seconds 10", 1500, full="--runs 1 --seconds 120", targets=("churn_bench",),
            needs=(program("prometheus"),)),
    Section("truth", "bench/truth/truth.py", "--count 200", 400, full="--count 1000", targets=("pingloom", "truth_tool"),
            needs=(root, program("ip"), program("chrt")),
            goals={f"relay {delay}, witness at {witness} | within": ">= 99"
                   for delay in ("50us", "500us", "5ms") for witness in ("departure", "arrival")}),
    Section("controller_rows", f"{BIN}/controller_rows --rounds 20", "--runs 1", 400, full="--runs 5",
            targets=("controller_rows", "pingloom-controller"), needs=(program("redis-server"),),
            limit_of=figure("limit: Redis alone"),
            goals={"committed": ">= 1000000", "visible in Redis": ">= 1000000", "controller's CPU": "<= 1.3",
                   "visible in Redis, of what Redis alone takes": ">= 0.6"}),
    Section("controller_rows_paced", f"{BIN}/controller_rows --rate 100000 --rounds 20", "--runs 1", 400, full="--runs 5",
            targets=("controller_rows", "pingloom-controller"), needs=(program("redis-server"),),
            limit_of=figure("limit: Redis alone"), goals={"controller's CPU": "<= 1.3"}),
    Section("controller_rows_mesh", f"{BIN}/controller_rows --agents 1000 --rate 100000 --rounds 3", "--runs 1", 400,
            full="--runs 3", targets=("controller_rows", "pingloom-controller"), needs=(program("redis-server"),),
            limit_of=figure("limit: Redis alone"), goals={"controller's memory": "<= 260"}),
    Section("history", f"{BIN}/history_bench", "--runs 1", 900, full="--runs 5", targets=("history_bench",),
            limit_of=history_limit,
            goals={"a pair and window": "<= 16", "a pair and minute": "<= 4", "a pair's last 24 h: as JSON": "< 200"}
            | {f"{when}: {grid}": "< 200" for when in ("grid of the last 2 h", "grid of an older time") for grid in GRIDS}),
    Section("soft_rc", f"{BIN}/soft_rc_bench", "--runs 1", 1200, full="--runs 5", targets=("soft_rc_bench",),
            limit_of=same_row("limit: bare loop"),
            goals={f"UDP socket, {cores} | {READ_4096} | bytes": ">= 2" for cores in ("a core for each side", "one core")}
            | {f"UDP socket, {cores} | {task} | ratio to bare": ">= 0.7"
               for cores in ("a core for each side", "one core") for task in (READ_4096, READ_1024)}),
    Section("dta", f"{BIN}/dta_bench", "--runs 1 --reports 1000000", 900, full="--runs 5", targets=("dta_bench",),
            limit_of=same_row("limit: direct"),
            goals={"Append, 63 a block | both of direct": "<= 1.2", "Append, 63 a block | collector of direct": "<= 0.3",
                   "Key-Increment, Zipf | both of direct": "<= 1.5", "Postcards, 5 hops | both of direct": "<= 4.5",
                   "Key-Write, Zipf | both of direct": "<= 4.5", "Key-Write, uniform | both of direct": "<= 6",
                   "Key-Write, uniform, written every 2,000 reports | both of direct": "<= 15",
                   "keys found at 75 % load": ">= 0.999",
                   "receiving a datagram of 34 reports | bare of parsed": ">= 0.8"}
            | {f"Key-Write, {spread} | collector of direct": "<= 1" for spread in ("Zipf", "uniform")}),
    Section("fleet", f"{BIN}/fleet", "--windows 2 --pushes 1 --restarts 2", 600, full="--windows 6 --pushes 3",
            targets=("fleet", "pingloom-controller"), needs=(program("redis-server"),),
            limit_of=figure("limit: bare ZeroMQ with the same frames"),
            goals={"a restarted agent's RDMA endpoint at the last agent, from its start": "< 1000"}),
    Section("fleet_mesh", f"{BIN}/fleet --rows 2000 --window 60s --pushes 1", "--windows 1 --restarts 0", 900,
            full="--windows 2 --restarts 2", targets=("fleet", "pingloom-controller"), needs=(program("redis-server"),),
            limit_of=figure("limit: bare ZeroMQ with the same frames"),
            goals={"controller's resident memory": "<= 1200", "controller killed and restarted: up after": "<= 5000",
                   "saved pinglist to the last agent's plan": "< 1000"}),
    Section("fleet_steady", f"{BIN}/fleet_steady", "--seconds 60", 1200, full="--seconds 600",
            targets=("fleet_steady", "pingloom-controller"), needs=(program("redis-server"),),
            limit_of=figure("limit: bare ZeroMQ with the same frames"),
            goals={"committed over the whole time": ">= 499500", "windows of all agents that wait to be rolled up at the end": "<= 6"}),
    Section("fleet_cluster", f"/usr/bin/python3 -B tests/integration/postgres.py {BIN}/fleet_cluster", "--windows 2 --kills 1",
            900, full="--rows 500 --windows 4 --rounds 5 --kills 3 --upgrades 1", targets=("fleet_cluster", "pingloom-controller"),
            needs=(program("redis-server"), postgres_server),
            goals={"rows for a CPU second, several to one": ">= 0.7",
                   "controllers' CPU for a row, several to one": "<= 1.2",
                   "a controller killed: another one leads after": "<= 5000",
                   "a controller killed: all agents registered after": "< 6000",
                   "a controller killed: all rows committed after": "< 10000",
                   "a controller upgraded, no leader: longest without a verdict on all pairs": "<= 0"}),
    Section("fleet_cluster_many", f"/usr/bin/python3 -B tests/integration/postgres.py {BIN}/fleet_cluster --rows 200 --window 20s",
            "--agents 1000 --windows 1 --kills 1 --restarts 1", 900, full="--agents 10000 --windows 2 --kills 1 --restarts 1",
            targets=("fleet_cluster", "pingloom-controller"), needs=(program("redis-server"), postgres_server),
            goals={"a controller killed: all rows committed after": "< 10000"}),
    Section("icrc", f"{BIN}/icrc_bench --benchmark_min_time=0.1", "--benchmark_repetitions=1", 300,
            full="--benchmark_repetitions=9", targets=("icrc_bench",), limit_of=same_column("limit: the plain CRC call")),
    Section("verdict", f"{BIN}/verdict_bench --seed 2000000", "--scenarios 100 --runs 1", 600,
            full="--scenarios 1000 --runs 5", targets=("verdict_bench",), limit_of=figure("limit: one pass over all rows"),
            goals={"precision of culprits": ">= 0.98", "recall of culprits": ">= 0.98",
                   "judging one window of every pair": "< 1000"}),
    Section("soft_ud", f"{BIN}/soft_ud_bench", "--runs 1", 500, full="--runs 5", targets=("soft_ud_bench",),
            limit_of=same_row("limit: bare loop"),
            goals={f"{socket} | ratio": ">= 0.6" for socket in ("UDP socket, iCRC by its residue", "raw socket, iCRC exact")}),
    Section("soft_ud_single", f"{BIN}/soft_ud_bench --batch 1 --exchanges 30000", "--runs 1", 300, full="--runs 5",
            targets=("soft_ud_bench",), limit_of=same_row("limit: bare loop")),
    Section("lab_exchange", "scripts/lab.sh --hosts 2 --run bench/lab_exchange/measure.sh", "", 900, targets=LAB_TARGETS,
            needs=LAB, limit_of=figure("limit: round of ibv_ud_pingpong -e (two messages)")),
    Section("lab_read", "scripts/lab.sh --hosts 2 --run bench/lab_read/measure.sh", "", 600, targets=LAB_TARGETS, needs=LAB,
            limit_of=figure("limit: ib_read_lat -e, verbs -> verbs")),
    Section("page", f"{DASHBOARD} bench/dashboard/page.mjs --hosts 2000", "--runs 2", 400, full="--runs 10",
            targets=("board_server", "web"), needs=(program("node"), chromium, browser_driver, dashboard),
            goals={"navigation to all pairs painted": "<= 1500", "a whole window, last rows to their pixels": "<= 150",
                   "one pair in another state, known to its pixels": "<= 1000", "pan": ">= 40", "zoom": ">= 40",
                   "memory of the renderer": "<= 300"}),
    Section("viewers", f"{DASHBOARD} bench/dashboard/viewers.mjs --viewers 200 --hosts 1000", "--windows 2", 300,
            full="--windows 5", targets=("board_server", "web"), needs=(program("node"), dashboard),
            goals={"a whole window to all of them, processors used": "<= 1"}),
    Section("analytics_speed", f"{BIN}/analytics_speed", "--runs 1", 300, full="--runs 7", targets=("analytics_speed",),
            limit_of=same_column("limit: product of the sample with 32 directions")),
    Section("analytics_detection", f"{BIN}/analytics_detection", "--runs 1 --hours 4", 900, full="--runs 4",
            targets=("analytics_detection",),
            goals={"cold | the detector | recall": ">= 0.45", "after a day | the detector | recall": ">= 0.8",
                   **{f"{shape} | the detector | false alarms a quiet hour": "<= 0.3"
                      for shape in ("cold", "cold, no incidents", "after a day", "after a day, no incidents")},
                   **{f"stationary histograms | {count} | false alarms": "<= 0" for count in (1, 4)}}),
    Section("analytics_peers", f"{BIN}/analytics_peers", "--runs 1", 300, full="--runs 4", targets=("analytics_peers",),
            goals={"recall": ">= 1", "longest delay of all runs": "<= 150", "false alarms an hour": "<= 0.3"}),
    Section("analytics_season", f"{BIN}/analytics_season", "--runs 1 --days 7", 900, full="--runs 2",
            targets=("analytics_season",)),
    Section("analytics_tracing", f"{BIN}/analytics_tracing", "--runs 1 --hours 2", 600, full="--runs 3",
            targets=("analytics_tracing",)),
]

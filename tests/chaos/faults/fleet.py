"""A controller of its own with 2,000 simulated agents (bench/fleet): the real control client of each, made-up rows."""

import pathlib
import subprocess
import sys

from faults import Outcome, fault
from processes import binary

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "bench/report"))
import figures  # noqa: E402

AGENTS = 2000
ROWS = 100  # of an agent in a window


@fault("kill -9 of a controller with 2,000 simulated agents, three batches of each under way, started again at once",
       "every batch is sent again and counted once", "nothing, if the screen is not reloaded meanwhile", needs=("fleet",),
       apart=True)
def fleet_restarted(_):
    done = subprocess.run([binary("fleet"), "--agents", str(AGENTS), "--rows", str(ROWS), "--window", "2s", "--windows", "3",
                           "--pushes", "1", "--restarts", "1"], capture_output=True, text=True, timeout=600)
    found = figures.parse(done.stdout)
    if done.returncode != 0 or "batches in the ledger" not in found:
        return Outcome(failure=f"fleet: exit {done.returncode}: {done.stderr}{done.stdout[-500:]}")

    def of(name):
        return found[name].median

    restarted = "controller killed and restarted: "
    start = of(restarted + "up after") / 1000
    closed, there, distinct = (int(of(name)) for name in ("batches closed", "batches in the ledger",
                                                          "distinct batches in the ledger"))
    return Outcome(rows=there * ROWS, lost=(closed - distinct) * ROWS, twice=(there - distinct) * ROWS,
                   connected=start + of(restarted + "all registered, once it is up") / 1000,
                   shown=start + of(restarted + "everything acknowledged, once it is up") / 1000,
                   peaks={"controller": int(of("controller's resident memory")) << 20})

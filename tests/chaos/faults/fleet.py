"""A controller of its own with 2,000 simulated agents (bench/fleet): the real control client of each, made-up rows."""

import re
import subprocess

from faults import Outcome, fault
from processes import binary

AGENTS = 2000
ROWS = 100  # of an agent in a window
RESTARTED = re.compile(r"controller killed and restarted \((\d+) ms\): registered (\d+) ms later, everything acknowledged "
                       r"(\d+) ms later")
HELD = re.compile(r"history: (\d+) batches closed, (\d+) in the ledger, (\d+) of them distinct")
RESIDENT = re.compile(r"(\d+) MiB resident")


@fault("kill -9 of a controller with 2,000 simulated agents, three batches of each under way, started again at once",
       "every batch is sent again and counted once", "nothing, if the screen is not reloaded meanwhile", needs=("fleet",),
       apart=True)
def fleet_restarted(_):
    done = subprocess.run([binary("fleet"), "--agents", str(AGENTS), "--rows", str(ROWS), "--window", "2s", "--windows", "3",
                           "--pushes", "1", "--restarts", "1"], capture_output=True, text=True, timeout=600)
    restarted, held = RESTARTED.search(done.stdout), HELD.search(done.stdout)
    if done.returncode != 0 or not restarted or not held:
        return Outcome(failure=f"fleet: exit {done.returncode}: {done.stderr}{done.stdout[-500:]}")
    start, registered, acknowledged = (int(number) / 1000 for number in restarted.groups())
    closed, there, distinct = map(int, held.groups())
    return Outcome(rows=there * ROWS, lost=(closed - distinct) * ROWS, twice=(there - distinct) * ROWS,
                   connected=start + registered, shown=start + acknowledged,
                   peaks={"controller": int(RESIDENT.search(done.stdout)[1]) << 20})

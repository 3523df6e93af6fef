"""Files that are not as they were written."""

import time

import batches
from faults import fault
from processes import eventually


def spool_of(world, index):
    return world.state_dir(index) / "spool"


def damage_newest(path):
    """Flips a bit in the last record of a spool file. How many rows that destroys."""
    data = bytearray(path.read_bytes())
    at = last = 0
    while at + batches.SPOOL_HEADER.size <= len(data):
        last = at
        at += batches.SPOOL_HEADER.size + batches.SPOOL_HEADER.unpack_from(data, at)[0]
    payload = bytes(data[last + batches.SPOOL_HEADER.size:at])
    data[last + batches.SPOOL_HEADER.size + len(payload) // 2] ^= 0x10
    path.write_bytes(data)
    return sum(map(len, batches.parse_batch(payload).windows.values()))


@fault("an agent is killed while its spool is not empty; of its files one has a flipped bit, and beside them lie one of "
       "random bytes, one cut short, an empty one and a folder of such a name",
       "the damaged record is lost, for that is what the disk did; every other one is delivered",
       "`pingloom_agent_spool_damaged_records_total`, `..._truncated_files_total`, one log line")
def spool_poisoned(world):
    index = world.victim()
    world.controller.kill()
    eventually(lambda: world.agent_metrics(index)["pingloom_agent_spool_batches"] >= 4, 30, "a spool with batches")
    world.kill_agent(index)
    newest = max(spool_of(world, index).glob("*.spool"))
    destroyed = damage_newest(newest)
    number = int(newest.stem, 16)
    (newest.parent / f"{number + 1:016x}.spool").write_bytes(world.random.randbytes(5000))
    (newest.parent / f"{number + 2:016x}.spool").write_bytes(b"\x40\0\0\0\1\2")
    (newest.parent / f"{number + 3:016x}.spool").touch()
    folder = newest.parent / f"{number + 4:016x}.spool"
    folder.mkdir()
    world.start_agent(index)
    world.start_controller(wait=False)
    world.lifted()
    eventually(lambda: world.agent_metrics(index)["pingloom_agent_spool_damaged_records_total"] >= 1, 20,
               "the agent counts the damaged record")
    folder.rmdir()
    return destroyed


@fault("the pinglist is half written for 5 s", "none is lost: the plan in force stays", "one log line with file, line and "
       "column; `pinglist.error` in /api/v1/status")
def pinglist_half_written(world):
    whole = world.pinglist_path.read_text()
    world.pinglist_path.write_text(whole[:len(whole) * 2 // 3])
    time.sleep(5)
    world.pinglist_path.write_text(whole)
    world.lifted()


def refused(world, start, path):
    """The program must not start with half of its configuration, and say where it is wrong."""
    process = start()
    code = process.process.wait(20)
    assert code == 2, f"{path.name}: exit code {code} with half a configuration:\n{process.tail()}"
    last = process.log().rstrip().splitlines()[-1]
    assert path.name + ":" in last, f"{path.name} is not named: {last}"


@fault("an agent is killed and finds its configuration half written, then whole",
       "its spool keeps what it had closed", "exit code 2, one line with file, line, column and what is expected")
def config_half_written(world):
    index = world.victim()
    world.kill_agent(index)
    path = world.directory / f"agent-{index}.yaml"
    write = world.write_agent_config
    try:
        def half(number):
            write(number)
            text = path.read_text()
            path.write_text(text[:text.index("state_dir") + 4])
            return path
        world.write_agent_config = half
        refused(world, lambda: world.start_agent(index), path)
    finally:
        world.write_agent_config = write
    world.start_agent(index)
    world.lifted()

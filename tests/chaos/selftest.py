"""Proves that the accounting can fail: spoils copies of the history of this run, and what was made, one row
or window at a time, and looks whether each is seen."""

import contextlib
import shutil
import sqlite3

from accounting import Accounts, SqliteBlocks

ONE_WINDOW = "(SELECT id FROM blocks WHERE minute = 0 ORDER BY id LIMIT 1 OFFSET 7)"
COLUMNS = "probe, source, path, start_ns, window_ns, minute, incarnation, sequence, content"


def copy(ledger, path, *statements):
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as source, \
            contextlib.closing(sqlite3.connect(path)) as target:
        source.backup(target)
        for statement in statements:
            target.execute(statement)
        target.commit()


def audit(tap, ledger, spoil=None):
    accounts = Accounts(tap, SqliteBlocks(ledger))
    accounts.read_tap()
    if spoil:
        spoil(accounts)
    accounts.read_ledger()
    return accounts.audit(accounts.waiting_now())


def a_window(accounts):
    return next(iter(accounts._waiting.values()))  # the test may look inside


def row_lost(accounts):
    a_window(accounts)["192.0.2.1"] = (1, 1, 0, 0, 0)


def row_made_up(accounts):
    rows = a_window(accounts)
    del rows[next(iter(rows))]


def row_altered(accounts):
    rows = a_window(accounts)
    destination = next(iter(rows))
    sent, received, *rest = rows[destination]
    rows[destination] = (sent + 1, received + 1, *rest)


def run(tap, ledger, directory):
    """What was not seen, in words."""
    path = directory / "spoilt.sqlite"
    tap = shutil.copy(tap, directory / "sent-until-now")  # agents go on
    copy(ledger, path)
    ledger = shutil.copy(path, directory / "whole.sqlite")
    clean = audit(tap, path)
    unseen = []

    def expect(name, figure, more, found):
        if getattr(found, figure) - getattr(clean, figure) < more:
            unseen.append(f"{name}: {found} instead of {clean}")

    for name, figure, spoil in (("a row that is not held", "lost", row_lost), ("a row nobody made", "unknown", row_made_up),
                                ("a row with another count", "altered", row_altered)):
        expect(name, figure, 1, audit(tap, path, spoil))
    copy(ledger, path, f"DELETE FROM blocks WHERE id = {ONE_WINDOW}")
    expect("a window that is not held", "lost", 1, audit(tap, path))
    copy(ledger, path, f"INSERT INTO blocks({COLUMNS}) SELECT {COLUMNS} FROM blocks WHERE id = {ONE_WINDOW}")
    expect("a window that is held twice", "twice", 1, audit(tap, path))
    return unseen

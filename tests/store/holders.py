"""Programs that get in the way of others: they hold a lock, stop in the middle, or meet a limit."""

import os
import resource
import signal
import sqlite3
import sys
from pathlib import Path

from consentry.base.errors import LedgerProblem
from consentry.store.ledger import Ledger
from consentry.store.sqlite import SqliteDatabase
from consentry.store.steps import Step
from tests.record.samples import WRITER
from tests.store.crashes import BATCH, SINGLE, append_and_say, say
from tests.store.ledgers import fresh_drafts


def hold(path: str) -> None:
    """Keeps SQLite's own lock until standard input ends."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    say("held")
    sys.stdin.read()
    connection.execute("ROLLBACK")
    connection.close()


def stop(path: str, step: str) -> None:
    """Stops itself at that step of an append, as Ctrl-Z would; ends it when it is continued."""

    def reached(now: Step) -> None:
        if now is Step[step]:
            say("held")
            os.kill(os.getpid(), signal.SIGSTOP)

    ledger = Ledger(SqliteDatabase(Path(path)), WRITER, reached)
    append_and_say(ledger, SINGLE, fresh_drafts())
    ledger.close()


def meet_limit(path: str, most: str) -> None:
    """Appends until no file may grow any more; then the limit is lifted and one more is appended."""
    ledger, drafts = Ledger(SqliteDatabase(Path(path)), WRITER), fresh_drafts()
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), hard))
    for _ in range(1000):
        try:
            append_and_say(ledger, BATCH, drafts)
        except LedgerProblem as problem:
            say("failed", problem.code)
            break
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    append_and_say(ledger, BATCH, drafts)
    ledger.close()


PROGRAMS = {"hold": hold, "stop": stop, "limit": meet_limit}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])

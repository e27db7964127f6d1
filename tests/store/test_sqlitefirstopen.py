"""A new database that several processes find at once: all of them get it, none is sent away."""

import os
import time
from pathlib import Path

from consentry.store.sqlite import Access, connect

ROUNDS = 30
PROCESSES = 6


def _opened_at(moment: float, path: Path) -> int:
    """The process that opens it then; it ends with 0 when it could."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        while time.monotonic() < moment:
            pass
        connect(path, Access.WRITE, 10.0)
        status = 0
    finally:
        os._exit(status)


def test_all_that_find_it_new_open_it(tmp_path: Path) -> None:
    """To have it written ahead each needs it alone; whoever does not get that tries again."""
    for number in range(ROUNDS):
        path = tmp_path / f"{number}.db"
        moment = time.monotonic() + 0.02
        started = [_opened_at(moment, path) for _ in range(PROCESSES)]
        ended = [os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in started]
        assert ended == [0] * PROCESSES

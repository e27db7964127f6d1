"""Whose turn it is to write, among the processes that share one SQLite file.

SQLite lets one process write at a time, and a process that finds it busy sleeps for whole
milliseconds, which is many times what a commit takes. A lock on a file of its own is asked for in
short steps instead, so that the next writer begins within microseconds. The kernel gives the lock
up with the process that held it; a process that is stopped while it holds it is reported after the
same time as a locked database.

The lock orders, it does not protect: SQLite's own locks keep the file whole, also against programs
that know nothing of this one.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem

_FIRST_PAUSE = 50e-6
_LONGEST_PAUSE = 1e-3


class WriteTurn:
    """A lock file beside the database."""

    def __init__(self, path: Path, patience: float) -> None:
        self._path = path
        self._patience = patience
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(path, flags, 0o600)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Holds the turn for the block."""
        self._take()
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _take(self) -> None:
        give_up, pause = 0.0, _FIRST_PAUSE
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                now = time.monotonic()
                give_up = give_up or now + self._patience
                if now >= give_up:
                    message = f"`{self._path}` is held by another process"
                    raise LedgerProblem(Code.LEDGER_BUSY, message) from None
                time.sleep(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)
            else:
                return

    def close(self) -> None:
        """Lets go of the file."""
        os.close(self._file)

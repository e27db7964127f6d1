"""A copy of the SQLite database as it is at one moment, made while others go on writing.

SQLite's own backup reads one consistent view: every page is of the same moment, whatever is
committed meanwhile. The copy is one file that needs no log beside it, so that it can be read from
any disk; opened for writing again, it has a log as before.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, LedgerProblem, UsageProblem
from consentry.store.sqlite import BUSY_SECONDS, Access, connect

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY = 0xFF  # details are in the higher bits of an error code


def back_up(source: Path, target: Path) -> None:
    """Fills the empty file `target` with what `source` holds now; on disk when this returns."""
    try:
        with (
            closing(connect(source, Access.READ, BUSY_SECONDS)) as original,
            closing(
                sqlite3.connect(f"file:{quote(os.fsencode(target))}?mode=rw", uri=True)
            ) as copy,
        ):
            original.backup(copy)
            # It came with the mark of a database that has a log.
            copy.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as problem:
        raise _told(problem, source, target) from problem


def _told(problem: sqlite3.Error, source: Path, target: Path) -> ConsentryError:
    if getattr(problem, "sqlite_errorcode", 0) & _PRIMARY in _DAMAGED:
        return LedgerProblem(Code.LEDGER_CORRUPT, f"`{source}`: {problem}")
    return UsageProblem(
        Code.FILE_UNUSABLE, f"no copy could be made in `{target.parent}`: {problem}"
    )

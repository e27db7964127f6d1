"""Opens the ledger in the state directory: for reading what is there, or for keeping more.

Only `ledger_for_writing` makes anything: the state directory with mode 0700, the machine's id and
the database. Reading commands say that there is nothing yet instead of making an empty ledger.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, Refused
from consentry.service.statedir import find_state
from consentry.service.surroundings import Surroundings
from consentry.store.ledger import Ledger
from consentry.store.machine import machine_id
from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase

DATABASE_NAME = "ledger.db"


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """Where the ledger is or would be."""

    folder: Path

    @property
    def database(self) -> Path:
        """The database file."""
        return self.folder / DATABASE_NAME


def ledger_place(around: Surroundings) -> LedgerPlace:
    """The place, looked at and found safe; raises when it is not."""
    state = find_state(around, None)
    for concern in state.concerns:
        raise Refused(concern.code, concern.message, help_line=concern.help_line)
    return LedgerPlace(state.real)


def ledger_for_reading(around: Surroundings) -> Ledger | None:
    """The ledger, or None when nothing was ever recorded here."""
    place = ledger_place(around)
    if not place.database.exists():
        return None
    return _opened(place)


def ledger_for_writing(around: Surroundings) -> Ledger:
    """The ledger, made on first use."""
    place = ledger_place(around)
    try:
        place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise LedgerProblem(
            Code.STATE_UNUSABLE, f"`{place.folder}`: {(problem.strerror or '').lower()}"
        ) from problem
    return _opened(place)


def _opened(place: LedgerPlace) -> Ledger:
    before = os.umask(0o077)
    try:
        database = SqliteDatabase(place.database)
        migrate(database)
    finally:
        os.umask(before)
    return Ledger(database, machine_id(place.folder))

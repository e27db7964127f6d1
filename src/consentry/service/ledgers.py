"""Opens the ledger: for reading what is there, or for keeping more.

It lies in the state directory, or where `CONSENTRY_STORE` says. Only `ledger_for_writing` makes
anything: the state directory with mode 0700, the machine's id, the database, and the record of this
machine in it. Reading commands need no right to write, and say that there is nothing yet instead of
making an empty ledger.
"""

from pathlib import Path

from consentry.base.clock import Clock, SystemClock
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, Refused, UsageProblem
from consentry.base.values import dataclass
from consentry.service.foldersync import sync_folder
from consentry.service.registration import register_machine
from consentry.service.statedir import find_state
from consentry.service.surroundings import Surroundings
from consentry.store.database import Database
from consentry.store.history import History
from consentry.store.ledger import Ledger
from consentry.store.machine import machine_id
from consentry.store.migrations import NEWEST, migrate, version_of
from consentry.store.sqlite import Access, SqliteDatabase

DATABASE_NAME = "ledger.db"

_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """Where the ledger is or would be; `url` names a shared database, if there is one."""

    folder: Path
    url: str | None

    @property
    def database(self) -> Path:
        """The database file, where no shared one is named."""
        return self.folder / DATABASE_NAME


def ledger_place(around: Surroundings) -> LedgerPlace:
    """The place, looked at and found safe; raises when it is not."""
    state = find_state(around, None)
    for concern in state.concerns:
        raise Refused(concern.code, concern.message, help_line=concern.help_line)
    return LedgerPlace(state.real, _shared_store(around))


def ledger_for_reading(around: Surroundings) -> History | None:
    """What was recorded, or None when nothing ever was; raises when it cannot be read."""
    place = ledger_place(around)
    if place.url is None and not place.database.exists():
        return None
    database = _opened(place, Access.READ)
    with database.reading() as view:
        version = version_of(view)
    if version == 0:
        database.close()
        return None
    history = History(database)
    if version < NEWEST:
        history = History(_brought_up_to_date(place, history))
    history.require_known_shape()
    return history


def ledger_for_writing(around: Surroundings, clock: Clock | None = None) -> Ledger:
    """The ledger, made on first use; this machine is registered in it first of all."""
    place = ledger_place(around)
    make_state_folder(place)
    database = _opened(place, Access.WRITE)
    try:
        migrate(database)
        ledger = Ledger(database, machine_id(place.folder))
        register_machine(around, ledger, clock or SystemClock())
    except BaseException:
        database.close()
        raise
    return ledger


def state_folder(around: Surroundings) -> Path:
    """The state directory, made on first use: a box that was planned before could look into it."""
    place = ledger_place(around)
    make_state_folder(place)
    return place.folder


def make_state_folder(place: LedgerPlace) -> None:
    """The state directory and what it is in, made on first use, closed to others."""
    try:
        missing = [each for each in place.folder.parents if not each.exists()]
        if not place.folder.exists():
            missing.insert(0, place.folder)
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
            # Or the next power cut takes the folder away with all that was synced in it.
            sync_folder(folder.parent)
    except OSError as problem:
        raise LedgerProblem(
            Code.STATE_UNUSABLE, f"`{place.folder}`: {(problem.strerror or '').lower()}"
        ) from problem


def _shared_store(around: Surroundings) -> str | None:
    value = around.environ.get("CONSENTRY_STORE", "")
    if not value:
        return None
    if not value.startswith(_SCHEMES):
        # The value may hold a password, so it is not repeated.
        message = "CONSENTRY_STORE does not begin with postgresql://"
        raise UsageProblem(Code.SETTING_VALUE, message)
    return value


def _opened(place: LedgerPlace, access: Access) -> Database:
    if place.url is not None:
        from consentry.store.postgres import PostgresDatabase  # noqa: PLC0415 - an extra

        return PostgresDatabase(place.url)
    return SqliteDatabase(place.database, access)


def _brought_up_to_date(place: LedgerPlace, older: History) -> Database:
    try:
        database = _opened(place, Access.WRITE)
        migrate(database)
    except LedgerProblem as problem:
        if problem.code is Code.LEDGER_UNWRITABLE:
            older.require_known_shape()
        raise
    older.database.close()
    return database

"""A backup of this machine's ledger: one file, verified before it gets its name.

What is not in it: the key that signs checkpoints and the machine's id, which are files of their own
in the state directory. With them, the copy continues the chain on another machine; without the id,
the machine it is put on begins a chain of its own in the same ledger.
"""

import os
from contextlib import suppress
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import FilesystemRace, UsageProblem, Where
from consentry.base.jailedfiles import sync
from consentry.base.paths import SandboxedPath
from consentry.base.values import dataclass, replace
from consentry.record.chain import ChainHead
from consentry.service.audit import require_sound
from consentry.service.ledgers import LedgerPlace, ledger_for_reading, ledger_place
from consentry.service.placedfile import appear, free_place, fresh_name
from consentry.service.races import recorded_in
from consentry.service.surroundings import Surroundings
from consentry.store.backup import back_up
from consentry.store.history import History
from consentry.store.sqlite import Access, SqliteDatabase


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds, found by reading the copy itself."""

    store_id: str
    heads: tuple[ChainHead, ...]

    @property
    def events(self) -> int:
        """How many events, archived ones included."""
        return sum(head.seq for head in self.heads)


def make_backup(around: Surroundings, file: str) -> Backup:
    """Copies the ledger into a new file while others write, and follows every chain in the copy."""
    place = _require_a_file_to_copy(around)
    try:
        return _placed(around, place, file)
    except FilesystemRace as race:
        raise race.at(Where(file)) from race.__cause__


def _placed(around: Surroundings, place: LedgerPlace, file: str) -> Backup:
    with free_place(file) as (wanted, folder):
        fresh = _reserved(wanted, around)
        try:
            # The database opens its files by their names; nobody else knows this one.
            back_up(place.database, Path(fresh))
            made = _read_back(Path(fresh))
            _sync(fresh, around)
            appear(folder, fresh.relative.name, wanted.relative.name)
        finally:
            for suffix in ("", "-journal", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(fresh.relative.name + suffix, dir_fd=folder)
        sync(folder)
    return made


def _require_a_file_to_copy(around: Surroundings) -> LedgerPlace:
    place = ledger_place(around)
    if place.url is not None:
        raise UsageProblem(
            Code.USAGE,
            "the ledger is in a PostgreSQL database, which has tools of its own for this",
            help_line="use pg_dump for the database, and copy machine-id and checkpoint-key",
        )
    # Also brings the file to the shape that this program knows.
    history = ledger_for_reading(around)
    if history is None:
        raise UsageProblem(
            Code.USAGE,
            "nothing was recorded here yet, so there is nothing to back up",
            help_line="`consentry audit log` lists what was recorded",
        )
    history.database.close()
    return place


def _reserved(wanted: SandboxedPath, around: Surroundings) -> SandboxedPath:
    """An empty file in the folder of the one that was named, whose name is still free."""
    fresh = SandboxedPath.create_new(wanted.jail, fresh_name()).unwrap()
    os.close(fresh.open(os.O_WRONLY, 0o600, on_race=recorded_in(around)))
    return replace(fresh, is_new=False)


def _read_back(copy: Path) -> Backup:
    """What the copy holds, once it was followed from its first event to its last."""
    database = SqliteDatabase(copy, Access.READ)
    try:
        history = History(database)
        history.require_known_shape()
        return Backup(history.store_id(), tuple(require_sound(history)))
    finally:
        database.close()


def _sync(fresh: SandboxedPath, around: Surroundings) -> None:
    opened = fresh.open(on_race=recorded_in(around))
    try:
        os.fsync(opened)
    finally:
        os.close(opened)

"""A backup of this machine's ledger: one file, verified before it gets its name.

What is not in it: the key that signs checkpoints and the machine's id, which are files of their own
in the state directory. With them, the copy continues the chain on another machine; without the id,
the machine it is put on begins a chain of its own in the same ledger.
"""

import os
import secrets
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, UsageProblem
from consentry.base.paths import SandboxedPath
from consentry.base.values import dataclass
from consentry.record.chain import ChainHead
from consentry.service.audit import require_sound
from consentry.service.ledgers import LedgerPlace, ledger_for_reading, ledger_place
from consentry.service.placedfile import appear
from consentry.service.surroundings import Surroundings
from consentry.service.userfiles import sync_folder, told_by_error
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
    name = Path(file).name
    try:
        fresh = _reserved(file)
        folder = fresh.parent
        try:
            back_up(place.database, fresh)
            made = _read_back(fresh)
            _sync(fresh)
            appear(folder, fresh.name, name)
        finally:
            for suffix in ("", "-journal", "-wal", "-shm"):
                fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)
        sync_folder(folder)
    except OSError as problem:
        message = f"`{file}`: {(problem.strerror or 'cannot be used').lower()}"
        raise UsageProblem(Code.FILE_UNUSABLE, message) from problem
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


def _reserved(file: str) -> Path:
    """An empty file in the folder of the one that was named, whose name is still free."""
    wanted = Path(file)
    try:
        folder = SandboxedPath.create_new(wanted.parent, wanted.name).unwrap().jail
        fresh = SandboxedPath.create_new(folder, f".consentry.{secrets.token_hex(8)}.new").unwrap()
        os.close(fresh.open(os.O_WRONLY, 0o600, on_race=told_by_error))
    except ConsentryError as problem:
        raise UsageProblem(Code.FILE_UNUSABLE, f"`{file}`: {problem}") from problem
    return Path(fresh)


def _read_back(copy: Path) -> Backup:
    """What the copy holds, once it was followed from its first event to its last."""
    database = SqliteDatabase(copy, Access.READ)
    try:
        history = History(database)
        history.require_known_shape()
        return Backup(history.store_id(), tuple(require_sound(history)))
    finally:
        database.close()


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)

"""Erases all that this machine keeps: its ledger, its key, its id, what it kept of runs, the folder.

Only files that are known to be ours are touched, and when there is any other nothing is. A program
that has the ledger open meanwhile can record nothing in it any more, so that no action is let through
with a record that is gone.

Erasing removes names. What the disk, a snapshot or a backup still holds is not reached. A ledger on
a shared server is not this machine's to erase.
"""

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, Refused
from consentry.base.values import dataclass
from consentry.enforce.commitdesk import COMMITS
from consentry.enforce.commitrecover import Recovery, recover
from consentry.enforce.foldertree import remove_folder
from consentry.enforce.keptshelf import SHELVES
from consentry.service.documentcache import FOLDER as DOCUMENTS
from consentry.service.foldersync import sync_folder
from consentry.service.guardplaces import FOLDER as EXTRACTIONS
from consentry.service.ledgers import DATABASE_NAME, LedgerPlace, ledger_place
from consentry.service.passphrase import FILE_NAME as PASSPHRASE
from consentry.service.plugincache import FOLDER as PLUGIN_TREES
from consentry.service.runledger import HASHES
from consentry.service.runningruns import FOLDER as RUNNING
from consentry.service.surroundings import Surroundings
from consentry.store.keeping import close_for_good
from consentry.store.signingkeys import FOLDER as SIGNING_KEYS
from consentry.store.sqlite import SqliteDatabase

# Ours by name: the database and what SQLite keeps beside it, the key, the id, the passphrase's record,
# and what a process that was killed while it made one of them may have left.
_OURS: Final = re.compile(
    rf"{re.escape(DATABASE_NAME)}(-wal|-shm|-journal|-turn)?"
    r"|(\.)?(machine-id|checkpoint-key)(?(2)\.[0-9a-z.]+)"
    rf"|(\.)?{re.escape(PASSPHRASE)}(?(4)\.[0-9a-z.]+)"
)
_OUR_FOLDERS: Final = frozenset(
    {
        COMMITS,
        DOCUMENTS,
        EXTRACTIONS,
        HASHES,
        PLUGIN_TREES,
        RUNNING,
        SIGNING_KEYS,
        *SHELVES,
    }
)


@dataclass(frozen=True, slots=True)
class Belongings:
    """The state directory and the files in it, all of them ours; the database comes first."""

    place: LedgerPlace
    files: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """The state directory."""
        return self.place.folder


def find_belongings(around: Surroundings) -> Belongings | None:
    """What would be erased, or None where there is no state directory; raises on what is not ours."""
    place = ledger_place(around)
    try:
        found = sorted(os.scandir(place.folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise _unusable(place.folder, problem) from problem
    foreign = [entry.name for entry in found if not _is_ours(entry)]
    if foreign:
        raise Refused(
            Code.STATE_REFUSED,
            f"`{place.folder}` holds what is not ours: `{foreign[0]}`; nothing was erased",
            help_line="move it away, or remove what is in the folder by hand",
        )
    names = [entry.name for entry in found]
    return Belongings(place, tuple(sorted(names, key=lambda name: name != DATABASE_NAME)))


def erase(belongings: Belongings) -> None:
    """Erases the files and then the folder."""
    folder = belongings.folder
    _require_nothing_unfinished(folder)
    if DATABASE_NAME in belongings.files:
        _close_for_good(belongings.place.database)
    try:
        for names in _in_order(belongings.files):
            for name in names:
                if name in _OUR_FOLDERS:
                    remove_folder(folder, name)
                else:
                    (folder / name).unlink(missing_ok=True)
            sync_folder(folder)
        folder.rmdir()
        sync_folder(folder.parent)
    except OSError as problem:
        raise _unusable(folder, problem) from problem


def _require_nothing_unfinished(folder: Path) -> None:
    """What a commit renamed away lies in here until it is finished; erased with it, it were lost."""
    for each in recover(folder):
        if each.recovery is Recovery.STUCK:
            message = f"the commit of `{each.run}` is not finished: {each.why}; nothing was erased"
            raise Refused(Code.COMMIT_UNFINISHED, message)


def _close_for_good(path: Path) -> None:
    """Makes every later append fail, whoever has the file open; a file that is no ledger may go."""
    try:
        database = SqliteDatabase(path)
    except LedgerProblem as problem:
        if problem.code is Code.LEDGER_CORRUPT:
            return
        raise
    try:
        close_for_good(database)
        database.put_into_one_file()
    finally:
        database.close()


def _in_order(files: Sequence[str]) -> tuple[Sequence[str], ...]:
    """What goes together, each on disk before the next goes, so that a crash leaves no half of it.

    A log without its database would become part of the next one of that name; so it goes first,
    when the database has all that was in it. The database, closed for good, goes last: while it is
    there, nothing is recorded under a key or an id that is gone.
    """
    # SQLite may have made or removed files beside the database since they were listed.
    beside = [f"{DATABASE_NAME}{suffix}" for suffix in ("-wal", "-shm", "-journal")]
    last = [DATABASE_NAME, f"{DATABASE_NAME}-turn"]
    others = [name for name in files if name not in (*beside, *last)]
    return beside, others, last


def _is_ours(entry: "os.DirEntry[str]") -> bool:
    mode = entry.stat(follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode):
        return entry.name in _OUR_FOLDERS
    return stat.S_ISREG(mode) and _OURS.fullmatch(entry.name) is not None


def _unusable(folder: Path, problem: OSError) -> LedgerProblem:
    said = (problem.strerror or "cannot be used").lower()
    return LedgerProblem(Code.STATE_UNUSABLE, f"`{folder}`: {said}")

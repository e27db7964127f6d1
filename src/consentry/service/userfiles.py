"""Files that a person names on the command line: read in bounds, written only if they are new.

Small documents are read and written whole; what may be of any size goes piece by piece. A file that is
swapped for a link while we look is on record as `FilesystemRaceDetected`, and is refused as that.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, FilesystemRace, UsageProblem, Where
from consentry.base.jailedfiles import remove_same, sync
from consentry.base.paths import SandboxedPath
from consentry.service.races import recorded

MOST_BYTES = 8 << 20


def read_named(name: str) -> bytes:
    """The content of a plain file, of at most 8 MiB."""
    with opened_for_reading(name) as handle:
        content = handle.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UsageProblem(Code.FILE_UNUSABLE, f"`{name}` has more than {MOST_BYTES} bytes")
    return content


@contextmanager
def opened_for_reading(name: str) -> Iterator[BinaryIO]:
    """A plain file, to be read piece by piece."""
    path = Path(name)
    try:
        opened = SandboxedPath.create(path.parent, path.name).unwrap().open(on_race=recorded)
        handle = os.fdopen(opened, "rb")
    except FilesystemRace as race:
        raise race.at(Where(name)) from race.__cause__
    except (ConsentryError, OSError) as problem:
        raise unusable(name, problem) from problem
    try:
        with handle:
            yield handle
    except OSError as problem:
        raise unusable(name, problem) from problem


def write_new(name: str, content: bytes) -> None:
    """Writes a file that does not exist yet, synced; never overwrites one."""
    with new_file(name, 0o644) as file:
        file.write(content)


@contextmanager
def new_file(name: str, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A file that does not exist yet, to be written piece by piece; never overwrites one.

    It is synced when the block ends, and removed when the block is left by an error. Its folder is
    held by a descriptor meanwhile, so that what is removed is in the folder in which it was made.
    """
    path = Path(name)
    try:
        fresh = SandboxedPath.create_new(path.parent, path.name).unwrap()
        folder = fresh.open_folder(on_race=recorded)
    except FilesystemRace as race:
        raise race.at(Where(name)) from race.__cause__
    except (ConsentryError, OSError) as problem:
        raise unusable(name, problem) from problem
    try:
        with _made(name, fresh, mode) as file:
            made = os.fstat(file.fileno())
            try:
                yield file
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                remove_same(folder, path.name, made)
                raise
        sync(folder)
    except OSError as problem:
        raise unusable(name, problem) from problem
    finally:
        os.close(folder)


def _made(name: str, fresh: SandboxedPath, mode: int) -> BinaryIO:
    try:
        return os.fdopen(fresh.open(os.O_WRONLY, mode, on_race=recorded), "wb")
    except FilesystemRace as race:
        raise race.at(Where(name)) from race.__cause__
    except ConsentryError as problem:
        raise unusable(name, problem) from problem


def unusable(name: str, problem: Exception) -> UsageProblem:
    """What a person is told about a file they named that cannot be used."""
    said = (problem.strerror or "").lower() if isinstance(problem, OSError) else str(problem)
    return UsageProblem(Code.FILE_UNUSABLE, f"`{name}`: {said or 'cannot be used'}")

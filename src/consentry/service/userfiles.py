"""Files that a person names on the command line: read in bounds, written only if they are new.

Small documents are read and written whole; what may be of any size goes piece by piece.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, UsageProblem
from consentry.base.paths import FilesystemRaceDetected, SandboxedPath

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
        opened = SandboxedPath.create(path.parent, path.name).unwrap().open(on_race=told_by_error)
        handle = os.fdopen(opened, "rb")
    except (ConsentryError, OSError) as problem:
        raise _unusable(name, problem) from problem
    try:
        with handle:
            yield handle
    except OSError as problem:
        raise _unusable(name, problem) from problem


def write_new(name: str, content: bytes) -> None:
    """Writes a file that does not exist yet, synced; never overwrites one."""
    with new_file(name, 0o644) as file:
        file.write(content)


@contextmanager
def new_file(name: str, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A file that does not exist yet, to be written piece by piece; never overwrites one.

    It is synced when the block ends, and removed when the block is left by an error.
    """
    path = Path(name)
    try:
        fresh = SandboxedPath.create_new(path.parent, path.name).unwrap()
        file = os.fdopen(fresh.open(os.O_WRONLY, mode, on_race=told_by_error), "wb")
    except (ConsentryError, OSError) as problem:
        raise _unusable(name, problem) from problem
    made = os.fstat(file.fileno())
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        sync_folder(fresh.jail)
    except BaseException as problem:
        _remove(fresh, made)
        if isinstance(problem, OSError):
            raise _unusable(name, problem) from problem
        raise


def sync_folder(folder: Path) -> None:
    """Makes the name as durable as the content; not every file system can."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            os.fsync(opened)
    finally:
        os.close(opened)


def _remove(fresh: SandboxedPath, made: os.stat_result) -> None:
    """Removes what we made; what somebody else put in its place stays."""
    with suppress(OSError):
        if os.path.samestat(os.lstat(fresh), made):
            Path(fresh).unlink()


def told_by_error(race: FilesystemRaceDetected) -> None:
    """The race is raised as well, and the person who named the file reads that."""


def _unusable(name: str, problem: Exception) -> UsageProblem:
    said = problem.strerror if isinstance(problem, OSError) else str(problem)
    return UsageProblem(Code.FILE_UNUSABLE, f"`{name}`: {(said or 'cannot be used').lower()}")

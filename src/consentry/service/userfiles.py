"""Files that a person names on the command line: read in bounds, written only if they are new."""

import os
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, UsageProblem
from consentry.base.paths import FilesystemRaceDetected, SandboxedPath

MOST_BYTES = 8 << 20


def read_named(name: str) -> bytes:
    """The content of a plain file, of at most 8 MiB."""
    path = Path(name)
    try:
        opened = SandboxedPath.create(path.parent, path.name).unwrap().open(on_race=_told_by_error)
        with os.fdopen(opened, "rb") as handle:
            content = handle.read(MOST_BYTES + 1)
    except (ConsentryError, OSError) as problem:
        raise _unusable(name, problem) from problem
    if len(content) > MOST_BYTES:
        raise UsageProblem(Code.FILE_UNUSABLE, f"`{name}` has more than {MOST_BYTES} bytes")
    return content


def write_new(name: str, content: bytes) -> None:
    """Writes a file that does not exist yet, synced; never overwrites one."""
    path = Path(name)
    try:
        fresh = SandboxedPath.create_new(path.parent, path.name).unwrap()
        opened = fresh.open(os.O_WRONLY, 0o644, on_race=_told_by_error)
        with os.fdopen(opened, "wb") as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
    except (ConsentryError, OSError) as problem:
        raise _unusable(name, problem) from problem


def _told_by_error(race: FilesystemRaceDetected) -> None:
    """The race is raised as well, and the person who named the file reads that."""


def _unusable(name: str, problem: Exception) -> UsageProblem:
    said = problem.strerror if isinstance(problem, OSError) else str(problem)
    return UsageProblem(Code.FILE_UNUSABLE, f"`{name}`: {(said or 'cannot be used').lower()}")

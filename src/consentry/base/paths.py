"""`SandboxedPath`: a path that was inside its jail when it was made.

What it delivers: in-jail at construction (every link resolved, strictly, and the result checked),
and a second line of defence at `open()`, which walks from the jail's own descriptor and follows no
link in any component. A swap in between is reported as `FilesystemRaceDetected` and raised.

What it does not: a path is not in its jail for ever. Between `create` and `open` the tree may
change; a directory renamed out of the jail during the walk, a hard link planted before it, and a
bind mount inside the jail are not seen. Our own code touches users' files only through this type
or a descriptor it opened.
"""

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NewType

from consentry.base.errors import FilesystemRace, PathEscape
from consentry.base.result import Err, Ok, Result

FileDescriptor = NewType("FileDescriptor", int)


@dataclass(frozen=True, slots=True)
class FilesystemRaceDetected:
    """What a race sink is told: which path under which jail, and which component had changed."""

    jail: str
    relative: str
    component: str


RaceSink = Callable[[FilesystemRaceDetected], None]


@dataclass(frozen=True, slots=True)
class SandboxedPath:
    """A path below `jail`, resolved: `relative` has no link, no `.` and no `..` in it."""

    jail: Path
    relative: Path

    @classmethod
    def create(cls, jail: Path, relative: str | Path) -> "Result[SandboxedPath, PathEscape]":
        """Resolves an existing target strictly; `Err(PathEscape)` if it is missing or outside."""
        try:
            root = jail.resolve(strict=True)
            target = (root / _plain_relative(relative)).resolve(strict=True)
            return Ok(cls(root, _below(root, target)))
        except PathEscape as problem:
            return Err(problem)
        except (OSError, RuntimeError, ValueError) as problem:
            return Err(_unresolvable(relative, problem))

    @classmethod
    def create_new(cls, jail: Path, relative: str | Path) -> "Result[SandboxedPath, PathEscape]":
        """For a file that does not exist yet: the parent is resolved strictly, the name is free."""
        try:
            wanted = _plain_relative(relative)
            if wanted.name == "":
                raise PathEscape(f"`{relative}` names no file")
            root = jail.resolve(strict=True)
            parent = _below(root, (root / wanted.parent).resolve(strict=True))
            target = root / parent / wanted.name
            if os.path.lexists(target):
                raise PathEscape(f"`{relative}` exists already")
            return Ok(cls(root, parent / wanted.name))
        except PathEscape as problem:
            return Err(problem)
        except (OSError, RuntimeError, ValueError) as problem:
            return Err(_unresolvable(relative, problem))

    def open(
        self, flags: int = os.O_RDONLY, mode: int = 0o600, *, on_race: RaceSink
    ) -> FileDescriptor:
        """Opens it, always with `O_NOFOLLOW`, walking down from the jail without following links.

        A component that has become a link since construction is reported to `on_race` and raised
        as `FilesystemRace`. Every other refusal is the system's own `OSError`.
        """
        parts = self.relative.parts
        directory = os.open(self.jail, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts[:-1]:
                inner = self._step(directory, part, os.O_PATH | os.O_DIRECTORY, 0, on_race)
                os.close(directory)
                directory = inner
            last = parts[-1] if parts else "."
            return FileDescriptor(self._step(directory, last, flags, mode, on_race))
        finally:
            os.close(directory)

    def _step(self, directory: int, part: str, flags: int, mode: int, on_race: RaceSink) -> int:
        try:
            opened = os.open(part, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=directory)
        except OSError as problem:
            # A link in place of a directory answers ENOTDIR, in place of a file ELOOP.
            if problem.errno not in (errno.ELOOP, errno.ENOTDIR) or not _is_link(directory, part):
                raise
        else:
            # O_PATH alone opens the link itself instead of refusing it.
            if not (flags & os.O_PATH and stat.S_ISLNK(os.fstat(opened).st_mode)):
                return opened
            os.close(opened)
        on_race(FilesystemRaceDetected(str(self.jail), str(self.relative), part))
        raise FilesystemRace(f"`{part}` in `{self.relative}` became a link after it was checked")

    def __fspath__(self) -> str:
        return os.fspath(self.jail / self.relative)


def _plain_relative(relative: str | Path) -> Path:
    wanted = Path(relative)
    if wanted.is_absolute():
        raise PathEscape(f"`{relative}` is absolute; a path in a jail is relative to it")
    if ".." in wanted.parts:
        raise PathEscape(f"`{relative}` climbs with `..`")
    return wanted


def _below(root: Path, target: Path) -> Path:
    if not target.is_relative_to(root):
        raise PathEscape(f"`{target}` lies outside `{root}`")
    return target.relative_to(root)


def _unresolvable(relative: str | Path, problem: Exception) -> PathEscape:
    reason = problem.strerror if isinstance(problem, OSError) else str(problem)
    return PathEscape(f"`{relative}` cannot be resolved: {reason}")


def _is_link(directory: int, part: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(part, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False

"""`SandboxedPath`: a path that was inside its jail when it was made.

What it delivers: in-jail at construction (every link resolved, strictly, and the result checked),
and a second line of defence at `open()`, which makes sure the jail is still the same folder, walks
down from it without following a link in any component, and opens nothing but plain files and
folders. A link met on the way is reported as `FilesystemRaceDetected` and raised.

What it does not: a path is not in its jail for ever. Between `create` and `open` the tree may
change; a directory renamed out of the jail during the walk, a hard link planted over a file that
exists, and a bind mount inside the jail are not seen. Our own code touches users' files only
through this type or a descriptor it opened.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NewType

from consentry.base.errors import FilesystemRace, NotAFile, PathEscape
from consentry.base.result import Err, Ok, Result
from consentry.base.values import dataclass

FileDescriptor = NewType("FileDescriptor", int)

_MOST_NAME_BYTES = 255
# Linux opens a folder without the right to read it; other systems have to read it.
_BY_NAME: int = getattr(os, "O_PATH", os.O_RDONLY)


@dataclass(frozen=True, slots=True)
class FilesystemRaceDetected:
    """What a race sink is told: which path under which jail, and which component had changed."""

    jail: str
    relative: str
    component: str


RaceSink = Callable[[FilesystemRaceDetected], None]


@dataclass(frozen=True, slots=True)
class SandboxedPath:
    """A path below `jail`, resolved: `relative` has no link, no `.` and no `..` in it.

    `jail_identity` is the device and inode of the jail as it was; `is_new` says that the file must
    not exist when it is opened. Made by `create` and `create_new` only.
    """

    jail: Path
    relative: Path
    jail_identity: tuple[int, int]
    is_new: bool

    @classmethod
    def create(cls, jail: Path, relative: str | Path) -> "Result[SandboxedPath, PathEscape]":
        """Resolves an existing target strictly; `Err(PathEscape)` if it is missing or outside."""
        try:
            root, identity = _enter(jail)
            target = (root / _plain_relative(relative)).resolve(strict=True)
            return Ok(cls(root, _below(root, target), identity, is_new=False))
        except PathEscape as problem:
            return Err(problem)
        except (OSError, RuntimeError, ValueError) as problem:
            return Err(_unresolvable(relative, problem))

    @classmethod
    def create_new(cls, jail: Path, relative: str | Path) -> "Result[SandboxedPath, PathEscape]":
        """For a file that does not exist yet: the parent is resolved strictly, the name is free."""
        try:
            wanted = _plain_relative(relative)
            _check_name(wanted.name)
            root, identity = _enter(jail)
            parent = _below(root, (root / wanted.parent).resolve(strict=True))
            if os.path.lexists(root / parent / wanted.name):
                raise PathEscape(f"`{relative}` exists already")
            return Ok(cls(root, parent / wanted.name, identity, is_new=True))
        except PathEscape as problem:
            return Err(problem)
        except (OSError, RuntimeError, ValueError) as problem:
            return Err(_unresolvable(relative, problem))

    def open(
        self, flags: int = os.O_RDONLY, mode: int = 0o600, *, on_race: RaceSink
    ) -> FileDescriptor:
        """Opens it, always with `O_NOFOLLOW`, walking down from the jail without following links.

        A component that has become a link since construction is reported to `on_race` and raised
        as `FilesystemRace`; a pipe, socket or device is `NotAFile`. Every other refusal is the
        system's own `OSError`.
        """
        parts = _plain_relative(self.relative).parts
        if self.is_new:
            flags |= os.O_CREAT | os.O_EXCL
        directory = self._open_jail(on_race)
        try:
            for part in parts[:-1]:
                inner = self._step(directory, part, _BY_NAME | os.O_DIRECTORY, 0, on_race)
                os.close(directory)
                directory = inner
            last = parts[-1] if parts else "."
            # A pipe without a writer would hold us for ever; what it is, is asked afterwards.
            opened = self._step(directory, last, flags | os.O_NONBLOCK, mode, on_race)
        finally:
            os.close(directory)
        return self._checked(opened, flags)

    def _open_jail(self, on_race: RaceSink) -> int:
        try:
            descriptor = os.open(
                self.jail, _BY_NAME | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            )
        except NotADirectoryError:
            raise self._race(self.jail.name, on_race) from None
        if _identity(os.fstat(descriptor)) != self.jail_identity:
            os.close(descriptor)
            raise self._race(self.jail.name, on_race)
        return descriptor

    def _step(self, directory: int, part: str, flags: int, mode: int, on_race: RaceSink) -> int:
        try:
            opened = os.open(part, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=directory)
        except OSError as problem:
            if self._has_changed(directory, part, flags, problem):
                raise self._race(part, on_race) from problem
            if problem.errno == errno.ENXIO:
                raise self._not_a_file() from problem
            raise
        # O_PATH alone opens a link itself instead of refusing it.
        if flags & _BY_NAME and stat.S_ISLNK(os.fstat(opened).st_mode):
            os.close(opened)
            raise self._race(part, on_race)
        return opened

    def _has_changed(self, directory: int, part: str, flags: int, problem: OSError) -> bool:
        """Whether the refusal shows that something else stands there than when the path was made."""
        if problem.errno == errno.ELOOP:
            return True
        if problem.errno == errno.EEXIST:
            return self.is_new
        if problem.errno != errno.ENOTDIR:
            return False
        # On the way it was a folder; at the end a link in place of a folder answers the same.
        return bool(flags & _BY_NAME) or _is_link(directory, part)

    def _not_a_file(self) -> NotAFile:
        return NotAFile(f"`{self.relative}` is neither a plain file nor a folder")

    def _checked(self, opened: int, flags: int) -> FileDescriptor:
        kind = os.fstat(opened).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            os.close(opened)
            raise self._not_a_file()
        if not flags & (os.O_NONBLOCK | _BY_NAME):
            now = fcntl.fcntl(opened, fcntl.F_GETFL)
            fcntl.fcntl(opened, fcntl.F_SETFL, now & ~os.O_NONBLOCK)
        return FileDescriptor(opened)

    def _race(self, component: str, on_race: RaceSink) -> FilesystemRace:
        on_race(FilesystemRaceDetected(str(self.jail), str(self.relative), component))
        return FilesystemRace(f"`{component}` in `{self.relative}` changed after it was checked")

    def __fspath__(self) -> str:
        return os.fspath(self.jail / _plain_relative(self.relative))


def _enter(jail: Path) -> tuple[Path, tuple[int, int]]:
    root = jail.resolve(strict=True)
    status = root.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise PathEscape(f"`{jail}` is not a folder, and only a folder can be a jail")
    return root, _identity(status)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _plain_relative(relative: str | Path) -> Path:
    wanted = Path(relative)
    if wanted.is_absolute():
        raise PathEscape(f"`{relative}` is absolute; a path in a jail is relative to it")
    if ".." in wanted.parts:
        raise PathEscape(f"`{relative}` climbs with `..`")
    return wanted


def _check_name(name: str) -> None:
    encoded = os.fsencode(name)
    if not encoded or b"\0" in encoded or len(encoded) > _MOST_NAME_BYTES:
        raise PathEscape(f"`{name}` cannot be the name of a file")


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

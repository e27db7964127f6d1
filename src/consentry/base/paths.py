"""`SandboxedPath`: in-jail at construction, second-line defense at open() time via O_NOFOLLOW.

What it delivers: every link is resolved, strictly, when the path is made, and the result checked. At
`open()` the jail must still be the same folder, no link is followed in any component, and nothing but
plain files and folders is opened. Where the kernel has `openat2`, the whole way below the jail is one
call of it (`RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS`, `RESOLVE_NO_MAGICLINKS`), so that nothing can be
swapped between two steps of the walk; elsewhere the way is walked name by name, each with `O_NOFOLLOW`,
which for a single name is the same. Both give the same answers. A link met on the way is told to `on_race` as `FilesystemRaceDetected` and
then raised as `FilesystemRace`. A file that has other names (hard links) is not opened for writing.

What it does not: a path is not in its jail for ever. Between `create` and `open` the tree may change,
and what is not a link is not noticed: a file put in the place of another, a folder renamed out of the
jail while it is open, a hard link made after the file was opened for writing, a bind mount inside the
jail. Reading through a hard link is not refused. `docs/explanation/jailed-paths.md` lists all of it.

The operations (`read`, `write`, `write_new`, `replace`, `names`, `status`, `remove`, `make_folder`) go
by descriptors below the jail; none looks the path up again by its name.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NewType

from consentry.base import jailedfiles, openat2
from consentry.base.errors import FilesystemRace, HardLinked, NotAFile, PathEscape
from consentry.base.result import Err, Ok, Result
from consentry.base.values import dataclass, field, replace

FileDescriptor = NewType("FileDescriptor", int)

_MOST_NAME_BYTES = 255
# Linux opens a folder without the right to read it; other systems have to read it.
_BY_NAME: int = getattr(os, "O_PATH", os.O_RDONLY)
_ALWAYS = os.O_NOFOLLOW | os.O_CLOEXEC
_JAIL = _BY_NAME | os.O_DIRECTORY | _ALWAYS
_MAKING = os.O_CREAT | os.O_EXCL
# Emptied only once it is known whose content that is. And a pipe without a writer would hold us for
# ever; what it is, is asked afterwards.
_BUT_EMPTYING = ~os.O_TRUNC
_CAREFUL = _ALWAYS | os.O_NONBLOCK | os.O_NOCTTY
# What only names opens nothing, and `openat2` takes no more flags with it than these.
_NAMING = _BY_NAME | os.O_DIRECTORY | _ALWAYS
_ON_THE_WAY = _BY_NAME | os.O_DIRECTORY
# What is asked before a descriptor is handed out: whether it is written through, or only names.
_SPECIAL = os.O_ACCMODE | os.O_NONBLOCK | _BY_NAME
_KIND = 0o170000
_FILE, _FOLDER = stat.S_IFREG, stat.S_IFDIR
# What the kernel answers for a link, or for a way that would leave the jail.
_REFUSED_BY_KERNEL = frozenset({-errno.ELOOP, -errno.EXDEV})


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
    # What `open` hands to the kernel, made with the first one: the jail, and the way below it.
    _spelled: tuple[str, bytes] | None = field(init=False, default=None, repr=False, compare=False)

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
        """Opens it, always with `O_NOFOLLOW`, following no link in any component below the jail.

        A component that has become a link since construction is reported to `on_race` and raised
        as `FilesystemRace`; a pipe, socket or device is `NotAFile`; a file with other names is not
        opened for writing, `HardLinked`. Every other refusal is the system's own `OSError`.
        """
        jail, way = self._spelled or self._spell()
        if self.is_new:
            flags |= _MAKING
        try:
            directory = os.open(jail, _JAIL)
        except NotADirectoryError:
            raise self._race(self.jail.name, on_race) from None
        try:
            found = os.fstat(directory)
            if (found.st_dev, found.st_ino) != self.jail_identity:
                raise self._race(self.jail.name, on_race)
            careful = flags & _BUT_EMPTYING | _CAREFUL
            if flags & _BY_NAME:
                careful &= _NAMING
            if b"/" in way:
                opened = openat2.beneath(directory, way, careful, mode)
            else:
                try:  # for one name, `O_NOFOLLOW` is all there is to ask for, and costs less
                    opened = os.open(way, careful, mode, dir_fd=directory)
                except OSError as problem:
                    opened = -(problem.errno or errno.EIO)
            if opened < 0:
                opened = self._without_kernel(opened, directory, careful, mode, on_race)
        finally:
            os.close(directory)
        return self._checked(opened, flags, on_race)

    def open_folder(self, *, on_race: RaceSink) -> FileDescriptor:
        """The folder it lies in, readable where that is allowed; for what is done to its name."""
        if not self.relative.name:
            raise PathEscape("the jail itself is not in the jail")
        folder = replace(self, relative=self.relative.parent, is_new=False)
        try:
            return folder.open(os.O_RDONLY | os.O_DIRECTORY, on_race=on_race)
        except PermissionError:
            return folder.open(_BY_NAME | os.O_DIRECTORY, on_race=on_race)

    def read(self, most: int, *, on_race: RaceSink) -> bytes:
        """The content of a file that has at most so many bytes; `TooLarge` if it has more."""
        with _held(self.open(os.O_RDONLY, on_race=on_race)) as opened:
            return jailedfiles.read_whole(opened, most, str(self.relative))

    def write(self, content: bytes, *, on_race: RaceSink) -> None:
        """Writes into the file that is there: same file, same mode; neither atomic nor synced."""
        with _held(self.open(os.O_WRONLY | os.O_TRUNC, on_race=on_race)) as opened:
            jailedfiles.write_whole(opened, content)

    def write_new(self, content: bytes, mode: int = 0o600, *, on_race: RaceSink) -> None:
        """Makes a file that `create_new` found to be free; on disk when this returns, or not there."""
        with _held(self.open_folder(on_race=on_race)) as folder:
            try:
                jailedfiles.make(folder, self.relative.name, content, mode)
            except FileExistsError as problem:
                raise self._race(self.relative.name, on_race) from problem

    def replace(self, content: bytes, *, on_race: RaceSink) -> None:
        """Puts a new file in the place of the one that is there, with its mode; whole or not at all.

        What has another name keeps its content there: the new file is another file.
        """
        with _held(self.open_folder(on_race=on_race)) as folder:
            before = self._standing(folder, on_race)
            if stat.S_ISDIR(before.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(self.relative))
            jailedfiles.put_in_place(folder, self.relative.name, content, before)

    def names(self, *, on_race: RaceSink) -> tuple[str, ...]:
        """The names in a folder, sorted."""
        flags = os.O_RDONLY | os.O_DIRECTORY
        with _held(self.open(flags, on_race=on_race)) as opened:
            return tuple(sorted(os.listdir(opened)))  # noqa: PTH208 - a descriptor, not a path

    def status(self, *, on_race: RaceSink) -> os.stat_result:
        """What the system knows of a file or folder."""
        with _held(self.open(_BY_NAME, on_race=on_race)) as opened:
            return os.fstat(opened)

    def remove(self, *, on_race: RaceSink) -> None:
        """Removes a file or an empty folder; what it leads to elsewhere is never touched."""
        with _held(self.open_folder(on_race=on_race)) as folder:
            found = self._standing(folder, on_race)
            jailedfiles.remove(folder, self.relative.name, is_folder=stat.S_ISDIR(found.st_mode))

    def make_folder(self, mode: int = 0o700, *, on_race: RaceSink) -> None:
        """Makes a folder of a name that `create_new` found to be free."""
        with _held(self.open_folder(on_race=on_race)) as folder:
            try:
                os.mkdir(self.relative.name, mode, dir_fd=folder)
            except FileExistsError as problem:
                raise self._race(self.relative.name, on_race) from problem
            jailedfiles.sync(folder)

    def _spell(self) -> tuple[str, bytes]:
        way = os.fsencode(_plain_relative(self.relative))
        spelled = os.fspath(self.jail), way
        object.__setattr__(self, "_spelled", spelled)
        return spelled

    def _without_kernel(
        self, refusal: int, directory: int, flags: int, mode: int, on_race: RaceSink
    ) -> int:
        """Walks name by name: where there is no `openat2`, and to find out what its refusal meant."""
        if refusal in _REFUSED_BY_KERNEL:
            raise self._race(_first_link(directory, self.relative.parts), on_race)
        opened = self._walk(directory, flags, mode, on_race)
        if refusal == -errno.ENOTDIR:
            # A moment ago something on the way was no folder, and now it is one.
            os.close(opened)
            raise self._race(self.relative.name, on_race)
        return opened

    def _walk(self, jail: int, flags: int, mode: int, on_race: RaceSink) -> int:
        *above, last = self.relative.parts or (".",)
        directory = jail
        try:
            for part in above:
                inner = self._step(directory, part, _ON_THE_WAY, 0, on_race)
                if directory != jail:
                    os.close(directory)
                directory = inner
            return self._step(directory, last, flags, mode, on_race)
        finally:
            if directory != jail:
                os.close(directory)

    def _step(self, directory: int, part: str, flags: int, mode: int, on_race: RaceSink) -> int:
        try:
            opened = os.open(part, flags | _ALWAYS, mode, dir_fd=directory)
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
        # On the way it was a folder. At the end a link in place of a folder answers the same, and so
        # does one that has given the folder its place again.
        return flags == _ON_THE_WAY or not _is_file(directory, part)

    def _checked(self, opened: int, flags: int, on_race: RaceSink) -> FileDescriptor:
        """The descriptor, of nothing but a file or a folder, and blocking as usual."""
        found = os.fstat(opened)
        kind = found.st_mode & _KIND
        if kind != _FILE and kind != _FOLDER:  # noqa: PLR1714 - on the path of every open
            os.close(opened)
            is_link = kind == stat.S_IFLNK  # as `O_PATH` opens it
            raise self._race(self.relative.name, on_race) if is_link else self._not_a_file()
        if not flags & _SPECIAL:
            os.set_blocking(opened, True)
            return opened  # type: ignore[return-value] # calling the type would cost a twentieth
        if not flags & _BY_NAME:
            if not flags & os.O_NONBLOCK:
                os.set_blocking(opened, True)
            if flags & os.O_ACCMODE:
                self._prepare_to_write(opened, found, flags)
        return FileDescriptor(opened)

    def _prepare_to_write(self, opened: int, found: os.stat_result, flags: int) -> None:
        try:
            if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
                raise HardLinked(
                    f"`{self.relative}` has {found.st_nlink} names, and is not written"
                )
            if flags & os.O_TRUNC:
                os.ftruncate(opened, 0)
        except BaseException:
            os.close(opened)
            raise

    def _standing(self, folder: int, on_race: RaceSink) -> os.stat_result:
        """What has the name now, asked of the folder itself; a link there is a race."""
        found = os.stat(self.relative.name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            raise self._race(self.relative.name, on_race)
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise self._not_a_file()
        return found

    def _not_a_file(self) -> NotAFile:
        return NotAFile(f"`{self.relative}` is neither a plain file nor a folder")

    def _race(self, component: str, on_race: RaceSink) -> FilesystemRace:
        message = f"`{component}` in `{self.relative}` changed after it was checked"
        try:
            on_race(FilesystemRaceDetected(str(self.jail), str(self.relative), component))
        except Exception as problem:  # noqa: BLE001 - whatever a sink does, the race is what happened
            return FilesystemRace(f"{message}, and this could not be recorded: {problem}")
        return FilesystemRace(message)

    def __fspath__(self) -> str:
        return os.fspath(self.jail / _plain_relative(self.relative))


@contextmanager
def _held(descriptor: FileDescriptor) -> Iterator[FileDescriptor]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _enter(jail: Path) -> tuple[Path, tuple[int, int]]:
    root = jail.resolve(strict=True)
    status = root.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise PathEscape(f"`{jail}` is not a folder, and only a folder can be a jail")
    return root, (status.st_dev, status.st_ino)


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


def _first_link(jail: int, parts: tuple[str, ...]) -> str:
    """The first name that is a link now, for the report; the last one if it is gone already."""
    for depth, part in enumerate(parts, 1):
        if _is_link(jail, "/".join(parts[:depth])):
            return part
    return parts[-1] if parts else ""


def _is_link(directory: int, part: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(part, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _is_file(directory: int, part: str) -> bool:
    """Whether a plain file stands there, or something special; nothing is none."""
    try:
        kind = os.stat(part, dir_fd=directory, follow_symlinks=False).st_mode & _KIND
    except OSError:
        return False
    return kind not in (stat.S_IFLNK, _FOLDER)

"""A small document under a name that a person gave: there whole or not at all, and removable again.

It is written and synced under a name of its own in the same folder, and then linked to the one
asked for, which never replaces anything. Where the file system has no links (a memory stick, say),
the name is taken first and the file moved onto it, and a process killed between the two leaves an
empty one. The folder is opened once, below the jail that it is; all the rest goes by its descriptor.
"""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, FilesystemRace, PathEscape, Where
from consentry.base.jailedfiles import make, put_in_place, remove_same, sync
from consentry.base.paths import FileDescriptor, SandboxedPath
from consentry.base.values import dataclass
from consentry.service.races import recorded
from consentry.service.userfiles import unusable

_MODE = 0o644
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """A file that we made, known by what it is and not by its name alone."""

    place: SandboxedPath
    made: os.stat_result

    @property
    def path(self) -> Path:
        """Its name, for showing it."""
        return Path(self.place)

    def take_back(self) -> None:
        """Removes it, unless something else stands there by now; as well as that can be done."""
        with suppress(OSError, ConsentryError):
            folder = self.place.open_folder(on_race=recorded)
            try:
                remove_same(folder, self.place.relative.name, self.made)
            finally:
                os.close(folder)


def place_new(name: str, content: bytes) -> PlacedFile:
    """Puts a file there that did not exist; on disk when this returns, and never over another one."""
    with free_place(name) as (place, folder):
        fresh = fresh_name()
        made = make(folder, fresh, content, _MODE)
        appear(folder, fresh, place.relative.name)
        sync(folder)
        return PlacedFile(place, made)


def fresh_name() -> str:
    """A name that nobody else has, for a file that is not finished."""
    return f".consentry.{secrets.token_hex(8)}.new"


@contextmanager
def free_place(name: str) -> Iterator[tuple[SandboxedPath, FileDescriptor]]:
    """A name that was free, and its folder; what goes wrong is said of the name.

    Asked first, so that a name that is taken costs nothing; the link asks again.
    """
    wanted = Path(name)
    try:
        place = SandboxedPath.create_new(wanted.parent, wanted.name).unwrap()
        folder = place.open_folder(on_race=recorded)
        try:
            yield place, folder
        finally:
            os.close(folder)
    except FilesystemRace as race:
        raise race.at(Where(name)) from race.__cause__
    except OSError as problem:
        raise unusable(name, problem) from problem
    except ConsentryError as problem:
        if problem.code is not Code.PATH_ESCAPE:
            raise
        raise unusable(name, problem) from problem


def make_folders(folder: Path, mode: int) -> list[SandboxedPath]:
    """Makes a folder and what is missing above it; returns those that were made, outermost first."""
    missing = [place for place in (folder, *folder.parents) if not os.path.lexists(place)]
    made: list[SandboxedPath] = []
    try:
        for place in reversed(missing):
            fresh = SandboxedPath.create_new(place.parent, place.name).unwrap()
            fresh.make_folder(mode, on_race=recorded)
            made.append(fresh)
    except FilesystemRace as race:
        raise race.at(Where(str(folder))) from race.__cause__
    except PathEscape as problem:
        raise unusable(str(folder), problem) from problem
    return made


def take_back_folders(made: list[SandboxedPath]) -> None:
    """Removes folders that we made, where they are empty."""
    for place in reversed(made):
        with suppress(OSError, ConsentryError):
            place.remove(on_race=recorded)


def replace_whole(file: Path, content: bytes) -> None:
    """Puts a file in the place of one that is there, with its mode: whole, or not at all.

    A link is not followed: whoever replaces what it leads to must name that.
    """
    try:
        before = SandboxedPath.create(file.parent, file.name).unwrap().status(on_race=recorded)
        above = SandboxedPath.create(file.parent, ".").unwrap()
        folder = above.open(os.O_RDONLY | os.O_DIRECTORY, on_race=recorded)
        try:
            put_in_place(folder, file.name, content, before)
        finally:
            os.close(folder)
    except FilesystemRace as race:
        raise race.at(Where(str(file))) from race.__cause__
    except (ConsentryError, OSError) as problem:
        raise unusable(str(file), problem) from problem


def appear(folder: int, fresh: str, name: str) -> None:
    """Gives the file its name, which must be free; the one it was written under goes in any case."""
    try:
        try:
            os.link(fresh, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as problem:
            if problem.errno not in _NO_LINKS:
                raise
            taking = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            os.close(os.open(name, taking, 0o600, dir_fd=folder))
            os.replace(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=folder)

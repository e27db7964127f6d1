"""A small document under a name that a person gave: there whole or not at all, and removable again.

It is written and synced under a name of its own in the same folder, and then linked to the one
asked for, which never replaces anything. Where the file system has no links (a memory stick, say),
the name is taken first and the file moved onto it, and a process killed between the two leaves an
empty one.
"""

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, UsageProblem
from consentry.base.paths import SandboxedPath
from consentry.base.values import dataclass
from consentry.service.userfiles import sync_folder, told_by_error

_MODE = 0o644
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """A file that we made, known by what it is and not by its name alone."""

    path: Path
    device: int
    inode: int

    def take_back(self) -> None:
        """Removes it, unless something else stands there by now; as well as that can be done."""
        with suppress(OSError):
            found = self.path.lstat()
            if (found.st_dev, found.st_ino) == (self.device, self.inode):
                self.path.unlink()


def place_new(name: str, content: bytes) -> PlacedFile:
    """Puts a file there that did not exist; on disk when this returns, and never over another one."""
    wanted = Path(name)
    try:
        # Asked first, so that a name that is taken costs nothing; the link asks again.
        folder = SandboxedPath.create_new(wanted.parent, wanted.name).unwrap().jail
        fresh = f".consentry.{secrets.token_hex(8)}.new"
        found = _written(folder, fresh, content)
        appear(folder, fresh, wanted.name)
        sync_folder(folder)
    except (ConsentryError, OSError) as problem:
        said = problem.strerror if isinstance(problem, OSError) else str(problem)
        message = f"`{name}`: {(said or 'cannot be used').lower()}"
        raise UsageProblem(Code.FILE_UNUSABLE, message) from problem
    return PlacedFile(folder / wanted.name, found.st_dev, found.st_ino)


def replace_whole(file: Path, content: bytes) -> None:
    """Puts a file in the place of one that is there, with its mode: whole, or not at all.

    A link is not followed: whoever replaces what it leads to must name that.
    """
    fresh = file.with_name(f".{file.name}.{secrets.token_hex(8)}.new")
    place_new(str(fresh), content)
    try:
        opened = SandboxedPath.create(file.parent, file.name).unwrap().open(on_race=told_by_error)
        try:
            fresh.chmod(os.fstat(opened).st_mode & 0o777)
        finally:
            os.close(opened)
        fresh.replace(file)
        sync_folder(file.parent)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def appear(folder: Path, fresh: str, name: str) -> None:
    """Gives the file its name, which must be free; the one it was written under goes in any case."""
    try:
        try:
            os.link(folder / fresh, folder / name, follow_symlinks=False)
        except OSError as problem:
            if problem.errno not in _NO_LINKS:
                raise
            os.close(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            (folder / fresh).replace(folder / name)
    finally:
        (folder / fresh).unlink(missing_ok=True)


def _written(folder: Path, name: str, content: bytes) -> os.stat_result:
    path = SandboxedPath.create_new(folder, name).unwrap()
    with os.fdopen(path.open(os.O_WRONLY, _MODE, on_race=told_by_error), "wb") as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            (folder / name).unlink(missing_ok=True)
            raise
        return os.fstat(file.fileno())

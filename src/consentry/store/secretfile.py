"""Small files that only their owner may read: private keys.

Rules kept: the folder is the user's own and has mode 0700, the file has mode 0600; a link, a device,
another owner or mode is refused rather than repaired. A file appears whole or not at all, is durable
when it was written, and never replaces one that was there.

Not promised: whoever is root, or runs unconfined as the same user, reads them. Folders above the one
that holds the file are not looked at here. A process killed while it writes may leave a file
`.NAME.<hex>.new` behind, closed to others like the other; nothing reads it.
"""

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from consentry.base.errors import ConsentryError

ProblemOf: TypeAlias = Callable[[Path, str], ConsentryError]
"""Makes the error of whoever keeps the file: which file, and what is wrong with it."""

_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700
_PERMISSIONS: Final = 0o777


@contextmanager
def trusted_folder(path: Path, problem_of: ProblemOf) -> Iterator[int]:
    """A descriptor of the file's folder; what the system refuses within becomes the one error."""
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = os.fstat(folder)
            if found.st_uid != os.geteuid():
                raise problem_of(path.parent, f"belongs to user {found.st_uid}")
            if found.st_mode & _PERMISSIONS != _FOLDER_MODE:
                raise problem_of(
                    path.parent, f"has mode {found.st_mode & _PERMISSIONS:04o}, not 0700"
                )
            yield folder
        finally:
            os.close(folder)
    except OSError as problem:
        raise problem_of(path, f"cannot be used: {(problem.strerror or '').lower()}") from problem


def read_secret(path: Path, folder: int, most: int, problem_of: ProblemOf) -> bytes:
    """The content, and one byte more than `most` where there is more; raises when there is no file."""
    # O_NONBLOCK: a pipe without a writer would hold us for ever.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    if stat.S_ISLNK(os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise problem_of(path, "is a link")
    descriptor = os.open(path.name, flags, dir_fd=folder)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise problem_of(path, "is not a plain file")
        if found.st_uid != os.geteuid():
            raise problem_of(path, f"belongs to user {found.st_uid}")
        if stat.S_IMODE(found.st_mode) != _FILE_MODE:
            raise problem_of(path, f"has mode {stat.S_IMODE(found.st_mode):04o}, not 0600")
        return os.read(descriptor, most + 1)
    finally:
        os.close(descriptor)


def write_new_secret(path: Path, folder: int, content: bytes) -> None:
    """Puts the file in place; raises `FileExistsError` where there is one."""
    fresh = f".{path.name}.{secrets.token_hex(8)}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(fresh, flags, _FILE_MODE, dir_fd=folder)
    try:
        try:
            os.fchmod(descriptor, _FILE_MODE)  # whatever the umask took away
            _write(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        # A link appears whole or not at all, and never replaces.
        os.link(fresh, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    finally:
        os.unlink(fresh, dir_fd=folder)


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]

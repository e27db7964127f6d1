"""What a run changed, as values: the writable roots, and every change found in their layers.

A run writes to a copy-on-write layer; the host's files stay as they were. `layerscan.scan` reads the
layer into the `Changes` of this module, `writeverdicts.judge` says which of them may reach the host,
`commit.commit` takes those there.

Paths are bytes, because names on Linux are: they are relative to the root's host folder, and are
spelled for people and records by `path_text`.
"""

import os
import stat
import sys
import time
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

from consentry.base.values import dataclass, field
from consentry.enforce.filecalls import open_beneath
from consentry.enforce.foldertree import below

_SET_ID: Final = stat.S_ISUID | stat.S_ISGID


class ChangeKind(StrEnum):
    """How a path differs from what it was."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    REPLACED = "replaced"
    """Something of another type stands there now."""
    MODE = "mode"
    """The same content with another mode."""


class FileType(StrEnum):
    """What a name can stand for."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    FIFO = "fifo"
    SOCKET = "socket"
    DEVICE = "device"

    @classmethod
    def of(cls, mode: int) -> "FileType":
        """The type that a mode says."""
        return _TYPES.get(stat.S_IFMT(mode), cls.DEVICE)


_TYPES: Final = {
    stat.S_IFREG: FileType.FILE,
    stat.S_IFDIR: FileType.FOLDER,
    stat.S_IFLNK: FileType.LINK,
    stat.S_IFIFO: FileType.FIFO,
    stat.S_IFSOCK: FileType.SOCKET,
}
COMMITTED_TYPES: Final = frozenset({FileType.FILE, FileType.FOLDER, FileType.LINK})


@dataclass(frozen=True, slots=True)
class LayerRoot:
    """A folder that a run could write to, and where its layer is.

    `host` is an existing folder, without links in its path; `rest` the names from there to the
    writable folder, where that did not exist when the run began. `inside` is where the box showed
    `host`. `made` are folders (relative to `host`) that the engine put into the layer itself, so
    that there was something to write to; unless something was written there, they are no change.
    """

    number: int
    host: bytes
    identity: tuple[int, int]
    inside: bytes
    rest: bytes = b""
    made: frozenset[bytes] = frozenset()

    def __hash__(self) -> int:
        # Asked for several times for each change.
        return hash((self.number, self.host))

    @classmethod
    def over(
        cls, number: int, folder: Path, *, inside: str | None = None, made: Iterable[str] = ()
    ) -> Self:
        """The root for the layer `upper<number>` over `folder`, which need not exist yet.

        To be called before the run. `inside` is the folder's path in the box, its own by default;
        `made` is relative to the folder.
        """
        rest: list[str] = []
        host = folder
        while not os.path.lexists(host):
            rest.insert(0, host.name)
            host = host.parent
        host = host.resolve(strict=True)
        found = host.stat()
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(f"`{host}` is not a folder")
        shown = Path(inside if inside is not None else folder)
        for name in reversed(rest):
            if shown.name != name:
                raise ValueError(f"`{shown}` does not end like `{folder}`")
            shown = shown.parent
        start = os.fsencode("/".join(rest))
        folders: set[bytes] = set()
        for path in (start, *(below(start, os.fsencode(each)) for each in made)):
            at = b""
            for each in path.split(b"/") if path else []:
                at = below(at, each)
                folders.add(at)
        return cls(
            number=number,
            host=os.fsencode(host),
            identity=(found.st_dev, found.st_ino),
            inside=os.fsencode(shown),
            rest=start,
            made=frozenset(folders),
        )

    def open(self) -> int:
        """The host folder, if it is still the same one; raises `OSError` or `RootReplaced`."""
        opened = open_root(self.host)
        found = os.fstat(opened)
        if (found.st_dev, found.st_ino) != self.identity:
            os.close(opened)
            raise RootReplaced(path_text(self.host))
        return opened


class RootReplaced(Exception):
    """Another folder stands at the name of a root than when the run began."""


@dataclass(frozen=True, slots=True)
class Was:
    """What stood at a path on the host when the layer was scanned."""

    type: FileType
    mode: int
    size: int
    device: int
    inode: int
    mtime_ns: int
    ctime_ns: int
    sha256: str | None = None
    target: bytes | None = None
    owner: tuple[int, int] | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls, found: os.stat_result, sha256: str | None = None, target: bytes | None = None
    ) -> "Was":
        """As the host tells it; a folder has no size of its own."""
        kind = FileType.of(found.st_mode)
        return cls(
            type=kind,
            mode=stat.S_IMODE(found.st_mode),
            size=0 if kind is FileType.FOLDER else found.st_size,
            device=found.st_dev,
            inode=found.st_ino,
            mtime_ns=found.st_mtime_ns,
            ctime_ns=found.st_ctime_ns,
            sha256=sha256,
            target=target,
            owner=(found.st_uid, found.st_gid),
        )


@dataclass(frozen=True, slots=True)
class Laid:
    """How a plain file lay in its layer when it was looked at, just before its bytes were read.

    `marks` are the names of its extended attributes.
    """

    inode: int
    ctime_ns: int
    mode: int
    uid: int
    gid: int
    marks: tuple[str, ...]

    @classmethod
    def of(cls, found: os.stat_result, marks: Iterable[str]) -> "Laid":
        """As the layer tells it."""
        mode = stat.S_IMODE(found.st_mode)
        return cls(found.st_ino, found.st_ctime_ns, mode, found.st_uid, found.st_gid, tuple(marks))


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs. For `deleted`, type, size and mode are those of what was there.

    `is_lost` says that the run had changed a file or folder of the host that is not there any
    more. `shared` is the layer's number for a file with several names, and 0 for others.
    """

    root: LayerRoot
    path: bytes
    kind: ChangeKind
    type: FileType
    size: int
    mode: int
    mtime_ns: int
    sha256: str | None = None
    target: bytes | None = None
    was: Was | None = None
    is_lost: bool = False
    drops_set_id: bool = False
    shared: int = 0
    laid: Laid | None = field(default=None, compare=False)

    @property
    def inside(self) -> bytes:
        """The path as the run knew it."""
        return inside_of(self.root, self.path)


@dataclass(frozen=True, slots=True)
class Odd:
    """A path in a layer that can never be committed, and why."""

    root: LayerRoot
    path: bytes
    type: FileType
    why: str

    @property
    def inside(self) -> bytes:
        """The path as the run knew it."""
        return inside_of(self.root, self.path)


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that a scan found, folders before what is in them.

    `unhashed` are files whose bytes were not read, because the budget was spent or they cannot be
    read; their number is `unhashed_count`, of which only the first are listed. With
    `is_complete` false the scan stopped at its limit, and nothing of it can be committed.
    """

    roots: tuple[LayerRoot, ...]
    entries: tuple[Change, ...]
    odd: tuple[Odd, ...]
    unhashed: tuple[bytes, ...]
    unhashed_count: int
    is_complete: bool
    started_ns: int


def inside_of(root: LayerRoot, path: bytes) -> bytes:
    """A path below a root as the box showed it."""
    return root.inside.rstrip(b"/") + b"/" + path if path else root.inside


def file_clock_ns() -> int:
    """A moment by the clock that files are stamped with: what changed before it is not later.

    To be taken when a run begins. The clock has ticks of some milliseconds, and kernels since 6.13
    put finer stamps between them on request: looking at a file and changing it again is such a
    request. Then every later change of any file is told apart from every earlier one; on older
    kernels a change within the same tick counts as earlier.
    """
    if sys.platform != "linux":
        # There are no layers there that it could be needed for.
        return time.time_ns()
    probe = os.memfd_create("clock", os.MFD_CLOEXEC)
    try:
        tick = os.fstat(probe).st_ctime_ns
        os.fchmod(probe, 0o600)
        now = os.fstat(probe).st_ctime_ns
    finally:
        os.close(probe)
    return now - 1 if now > tick else now


def kept_mode(mode: int) -> int:
    """The bits of a mode that are taken to the host: never those that lend somebody's identity."""
    return stat.S_IMODE(mode) & ~_SET_ID


def open_root(host: bytes) -> int:
    """An absolute path as a descriptor that names what is in it; a link on the way is refused."""
    top = os.open(b"/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flags = os.O_PATH | os.O_DIRECTORY
        return open_beneath(top, host.strip(b"/"), flags, crosses_mounts=True)
    finally:
        os.close(top)


def path_text(path: bytes) -> str:
    r"""A path as text that is valid Unicode and reads back: `\xNN` for odd bytes, `\\` for `\`."""
    return path.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")

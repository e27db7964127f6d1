"""The files of a packed sdist, read in memory and never put on the disk.

It is gone through twice: once for the names, so that imports can be followed, and once for the
content. What symbolic links lead to is held on to; a hard link, a device, or a file with holes in it is
unclassified, and so is a name that is there twice.
"""

import gzip
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator
from posixpath import join, normpath
from typing import IO, Final, cast

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.declare.patchbundle import MOST_BLOB, PLAIN_MODE, Blob
from consentry.examine.atoms import Unclassified
from consentry.examine.sides import EXECUTABLE, LINK
from consentry.service.archivenames import member_path, top_folder
from consentry.service.boundedfile import BoundedFile, TooMuch
from consentry.service.sources import MOST_FILES, Entry, NotRead, too_large, unreadable

ENDINGS: Final = (".tar.gz", ".tgz", ".tar")
_PLAIN: Final = ".tar"
_MOST_LINKED: Final = 64 << 20
_PIECE: Final = 1 << 20
_OWNER_EXECUTES: Final = 0o100
_DAMAGED: Final = (
    tarfile.TarError,
    zlib.error,
    EOFError,
    OSError,
    OverflowError,
    RecursionError,
    TooMuch,
    ValueError,
)


class TarSource:
    """All files of a tar archive."""

    is_whole = True
    not_read: tuple[NotRead, ...] = ()

    def __init__(self, name: str, handle: IO[bytes], described: str) -> None:
        """`handle` is the archive, open for reading; it is closed with this."""
        self.described = described
        self._handle = handle
        self._is_packed = not name.lower().endswith(_PLAIN)
        names: list[str] = []
        links: list[tuple[str, str]] = []
        for path, member, _ in self._members():
            names.append(path)
            if member.issym():
                links.append((path, member.linkname))
            if len(names) > MOST_FILES:
                raise _no_archive(f"it has more than {MOST_FILES:,} files")
        self._top = top_folder(names)
        self._times = Counter(name.removeprefix(self._top) for name in names)
        self._wanted = {
            normpath(join(path.rpartition("/")[0], target)).removeprefix(self._top)
            for path, target in links
        }
        self._held: dict[str, Blob] = {}
        self._links: dict[str, Blob] = {}
        self._left = _MOST_LINKED

    @property
    def count(self) -> int:
        """How many entries there will be."""
        return self._times.total()

    def entries(self) -> Iterator[Entry]:
        """Every member in the order of the archive, links last, when what they lead to is known."""
        for full, member, stream in self._members():
            path = full.removeprefix(self._top)
            found = _content(path, member, stream)
            if not isinstance(found, Blob):
                yield path, found
            elif found.mode == LINK:
                self._links[path] = found
            else:
                self._hold(path, found)
                yield path, found
        yield from self._links.items()
        for path in sorted(each for each, count in self._times.items() if count > 1):
            yield path, unreadable(path, "it is in the archive more than once")

    def has(self, path: str) -> bool:
        """Whether there is a file of that name."""
        return path in self._times

    def read(self, path: str) -> Blob | None:
        """A file that some link leads to, once it was passed; nothing else is held."""
        return self._held.get(path) or self._links.get(path)

    def close(self) -> None:
        """Lets go of the archive."""
        self._handle.close()

    def _hold(self, path: str, found: Blob) -> None:
        if path in self._wanted and len(found.content) <= self._left:
            self._left -= len(found.content)
            self._held[path] = found

    def _members(self) -> Iterator[tuple[str, tarfile.TarInfo, BoundedFile]]:
        """The members that are no folders, from the first one on."""
        self._handle.seek(0)
        inner = gzip.GzipFile(fileobj=self._handle, mode="rb") if self._is_packed else self._handle
        stream = BoundedFile(cast("IO[bytes]", inner), is_forward=True)
        try:
            with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:") as tar:
                while (member := tar.next()) is not None:
                    # It would keep all of them, with all that they say of themselves.
                    tar.members = []  # type: ignore[attr-defined]
                    path = member_path(member.name)
                    if not member.isdir():
                        yield path, member, stream
            _check_end(stream)
        except _DAMAGED as problem:
            raise _no_archive(str(problem)) from problem


def _check_end(stream: BoundedFile) -> None:
    """Raises unless it ended as archives end: other readers would go on where ours stopped."""
    if not stream.last or any(stream.last):
        raise _no_archive("it is cut off, or damaged in the middle")
    while piece := stream.read(_PIECE):
        if any(piece):
            raise _no_archive("more stands behind its end")


def _content(path: str, member: tarfile.TarInfo, stream: BoundedFile) -> Blob | Unclassified:
    if member.issym():
        return Blob(member.linkname.encode("utf-8", "surrogateescape"), LINK)
    if not member.isreg() or member.issparse():
        return unreadable(path, "it is no plain file")
    if member.size > MOST_BLOB:
        return too_large(path)
    stream.seek(member.offset_data)
    content = stream.content(member.size)
    if len(content) < member.size:
        raise _no_archive("it is cut off")
    return Blob(content, EXECUTABLE if member.mode & _OWNER_EXECUTES else PLAIN_MODE)


def _no_archive(why: str) -> BadInput:
    return BadInput(
        Code.FILE_UNUSABLE, f"it cannot be read as an archive: {why}", help_line="fetch it again"
    )

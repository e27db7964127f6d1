"""The files of a wheel or another zip archive, read in memory and never put on the disk.

Installers read the modes, the names and the packing of members in different ways. Where two of them
could see two different files (a name that is there twice, a link, a member that is encrypted or
damaged) the member is unclassified; a name that leads out of the archive is an error.
"""

import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, cast

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.declare.patchbundle import MOST_BLOB, PLAIN_MODE, Blob
from consentry.examine.atoms import Unclassified
from consentry.examine.sides import EXECUTABLE
from consentry.service.archivenames import installed_path, member_path, top_folder
from consentry.service.boundedfile import MOST_ARCHIVE, BoundedFile, TooMuch
from consentry.service.sources import MOST_FILES, Entry, NotRead, too_large, unreadable

ENDINGS: Final = (".whl", ".zip", ".egg", ".pyz")
_WHEEL: Final = ".whl"
_PIECE: Final = 1 << 20
_PACKINGS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 0x41
_OWNER_EXECUTES: Final = 0o100
_DAMAGED: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    TooMuch,
    ValueError,
)


class ZipSource:
    """All files of a zip archive."""

    is_whole = True
    not_read: tuple[NotRead, ...] = ()

    def __init__(self, file: Path, handle: IO[bytes], described: str) -> None:
        """`handle` is the archive, open for reading; it is closed with this."""
        self.described = described
        self._handle = handle
        try:
            self._zip = zipfile.ZipFile(cast("IO[bytes]", BoundedFile(handle)))
        except _DAMAGED as problem:
            raise _no_archive(str(problem)) from problem
        self._members = self._placed(is_wheel=file.name.lower().endswith(_WHEEL))
        self._by_path = dict(self._members)
        self._left = MOST_ARCHIVE

    @property
    def count(self) -> int:
        """How many entries there will be."""
        return len(self._members)

    def entries(self) -> Iterator[Entry]:
        """Every member; one whose name is there twice is read and unclassified as well."""
        times = Counter(path for path, _ in self._members)
        for path, member in self._members:
            yield path, self._content(path, member)
        for path in sorted(each for each, count in times.items() if count > 1):
            yield path, unreadable(path, "it is in the archive more than once")

    def has(self, path: str) -> bool:
        """Whether there is a file of that name."""
        return path in self._by_path

    def read(self, path: str) -> Blob | None:
        """The file of that name, if there is one and it can be read."""
        member = self._by_path.get(path)
        found = None if member is None else self._content(path, member)
        return found if isinstance(found, Blob) else None

    def close(self) -> None:
        """Lets go of the archive."""
        with suppress(OSError):
            self._zip.close()
        self._handle.close()

    def _placed(self, *, is_wheel: bool) -> list[tuple[str, zipfile.ZipInfo]]:
        """The members that are no folders, by the paths that they are read as."""
        named: list[tuple[str, zipfile.ZipInfo]] = []
        for member in self._zip.infolist():
            path = member_path(member.orig_filename)
            if not member.filename.endswith("/"):
                named.append((path, member))
        if len(named) > MOST_FILES:
            raise _no_archive(f"it has more than {MOST_FILES:,} files")
        if not is_wheel:
            top = top_folder(path for path, _ in named)
            return [(path.removeprefix(top), member) for path, member in named]
        taken = {path for path, _ in named}
        return [(_free(installed_path(path), path, taken), member) for path, member in named]

    def _content(self, path: str, member: zipfile.ZipInfo) -> Blob | Unclassified:
        mode = member.external_attr >> 16
        if stat.S_ISLNK(mode):
            return unreadable(path, "it is a link, which some installers follow and some do not")
        if member.flag_bits & _ENCRYPTED:
            return unreadable(path, "it is encrypted")
        if member.compress_type not in _PACKINGS:
            return unreadable(path, "it is packed in a way that installers do not use")
        if member.file_size > MOST_BLOB:
            return too_large(path)
        try:
            content = self._unpacked(member)
        except _DAMAGED as problem:
            return unreadable(path, str(problem) or "it is damaged")
        if len(content) > MOST_BLOB:
            return too_large(path)
        self._left -= len(content)
        if self._left < 0:
            raise _no_archive(f"it unpacks to more than {MOST_ARCHIVE >> 30} GB")
        return Blob(content, EXECUTABLE if mode & _OWNER_EXECUTES else PLAIN_MODE)

    def _unpacked(self, member: zipfile.ZipInfo) -> bytes:
        pieces: list[bytes] = []
        size = 0
        with self._zip.open(member) as handle:
            while size <= MOST_BLOB and (piece := handle.read(_PIECE)):
                pieces.append(piece)
                size += len(piece)
        return b"".join(pieces)


def _free(wanted: str, path: str, taken: set[str]) -> str:
    return path if wanted in taken else wanted


def _no_archive(why: str) -> BadInput:
    return BadInput(
        Code.FILE_UNUSABLE, f"it cannot be read as an archive: {why}", help_line="fetch it again"
    )

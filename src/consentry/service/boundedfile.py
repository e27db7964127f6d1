"""A file that hands out only so much at a time and only so far: what archive readers are given.

The readers of the standard library believe sizes that stand in the archive. Here a piece that is larger
than any honest header raises, and so does going further than any honest archive does, so that neither
memory nor time depends on what somebody wrote into it.
"""

from typing import IO, Final

MOST_PIECE: Final = 16 << 20
MOST_ARCHIVE: Final = 4 << 30
"""Bytes of an archive, unpacked."""


class TooMuch(Exception):
    """The archive asks for more than is given."""


class BoundedFile:
    """A readable file, by the calls that `tarfile` and `zipfile` make.

    With `is_forward` it never goes back, so that a header cannot lead to itself.
    """

    def __init__(self, inner: IO[bytes], *, is_forward: bool = False) -> None:
        self._inner = inner
        self._is_forward = is_forward
        self.last = b""
        """What was read last."""

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes, or all the rest; raises where that is more than a piece."""
        self._check(self._inner.tell())
        self.last = self._inner.read(min(size, MOST_PIECE + 1) if size >= 0 else MOST_PIECE + 1)
        if max(size, len(self.last)) > MOST_PIECE:
            raise TooMuch("a part of it is larger than any that is read")
        return self.last

    def seek(self, offset: int, whence: int = 0) -> int:
        """Moves on, or back where that is allowed."""
        if whence == 0:
            self._check(offset)
            if self._is_forward and offset < self._inner.tell():
                raise TooMuch("a part of it leads back to what was read already")
        return self._inner.seek(offset, whence)

    def tell(self) -> int:
        """Where the next byte comes from."""
        return self._inner.tell()

    def seekable(self) -> bool:
        """It is."""
        return True

    def content(self, size: int) -> bytes:
        """So many bytes, piece by piece, however many they are; the caller bounds them."""
        pieces: list[bytes] = []
        while size > 0:
            piece = self.read(min(size, MOST_PIECE))
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _check(self, place: int) -> None:
        if place > MOST_ARCHIVE:
            raise TooMuch(f"it has more than {MOST_ARCHIVE >> 30} GB")

"""The lines of a diff, read one after the other; whatever is wrong is told with its number."""

from typing import Final, NoReturn

from consentry.examine.diff.changes import DiffIncomplete

MOST_BYTES: Final = 64 << 20
MOST_UNPACKED: Final = 128 << 20
"""How much all binary contents of a diff may be together, unpacked."""


class DiffLines:
    """A place between two lines that only moves on."""

    def __init__(self, content: bytes) -> None:
        if not content:
            raise DiffIncomplete("the diff is empty", 1)
        if len(content) > MOST_BYTES:
            raise DiffIncomplete(f"the diff has more than {MOST_BYTES:,} bytes", 1)
        if not content.endswith(b"\n"):
            raise DiffIncomplete("the last line has no end", content.count(b"\n") + 1)
        self._lines = content[:-1].split(b"\n")
        self._at = 0
        self._unpacked = 0

    def has_more(self) -> bool:
        """Whether there is a next line."""
        return self._at < len(self._lines)

    def begins(self, start: bytes) -> bool:
        """Whether there is a next line, and it begins so."""
        return self._at < len(self._lines) and self._lines[self._at].startswith(start)

    def take(self, what: str) -> bytes:
        """The next line, and moves on; where there is none, `what` is missing."""
        if self._at == len(self._lines):
            self.stop(f"the diff ends where {what} must follow")
        self._at += 1
        return self._lines[self._at - 1]

    def unpack(self, size: int) -> None:
        """Counts what a binary content takes."""
        self._unpacked += size
        if self._unpacked > MOST_UNPACKED:
            self.stop_before(f"the binary contents have more than {MOST_UNPACKED:,} bytes together")

    def stop(self, reason: str) -> NoReturn:
        """Raises about the line that comes next."""
        raise DiffIncomplete(reason, self._at + 1)

    def stop_before(self, reason: str) -> NoReturn:
        """Raises about the line that was taken last."""
        raise DiffIncomplete(reason, self._at)

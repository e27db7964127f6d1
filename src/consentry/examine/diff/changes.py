"""What a diff says, as values: the files it changes, each with its names, modes and content.

Names are bytes as the file system has them, without `a/` and `b/`; lines keep their ends. Nothing
here says that the diff fits any file: `applying` finds that out.
"""

from enum import StrEnum
from typing import Final

from consentry.base.values import dataclass

LINK: Final = "120000"
SUBMODULE: Final = "160000"
PLAIN: Final = "100644"
EXECUTABLE: Final = "100755"
MODES: Final = frozenset({PLAIN, EXECUTABLE, LINK, SUBMODULE})


def sort_of(mode: str | None) -> str | None:
    """What a mode makes of a file: a file, a link or a submodule; executable or not is the same."""
    return PLAIN if mode == EXECUTABLE else mode


class DiffIncomplete(Exception):
    """A diff that was cut, or has something in it that is not understood; never half read."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(f"line {line}: {reason}")
        self.reason = reason
        self.line = line


class DiffMismatch(Exception):
    """A diff that does not fit the content it is applied to, to the letter."""


class ChangeKind(StrEnum):
    """What happens to a file; one whose content and mode change is `modified`."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"
    RENAMED = "renamed"
    COPIED = "copied"
    MODE = "mode"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that stand in the place of others; both with the context around them.

    A start is the number of the first line, or where there is none, of the line before.
    """

    old_start: int
    old: tuple[bytes, ...]
    new_start: int
    new: tuple[bytes, ...]


class Packing(StrEnum):
    """How a binary part is written down."""

    LITERAL = "literal"
    DELTA = "delta"


@dataclass(frozen=True, slots=True)
class BinaryPart:
    """A whole content, or the steps that make it from the other one."""

    packing: Packing
    content: bytes


@dataclass(frozen=True, slots=True)
class BinaryPatch:
    """A binary content both ways."""

    forward: BinaryPart
    backward: BinaryPart


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a diff. An id is None where the diff has none, or says that there is no file.

    `is_binary` without `binary` says that the contents differ and no more. `similarity` is the
    percentage that a rename or copy states.
    """

    old_path: bytes | None
    new_path: bytes | None
    kind: ChangeKind
    old_mode: str | None = None
    new_mode: str | None = None
    hunks: tuple[Hunk, ...] = ()
    is_binary: bool = False
    old_oid: str | None = None
    new_oid: str | None = None
    binary: BinaryPatch | None = None
    similarity: int | None = None

    @property
    def is_bare(self) -> bool:
        """Whether it has a header and no content, so that content may have been cut off behind it."""
        return not self.hunks and not self.is_binary


@dataclass(frozen=True, slots=True)
class ParsedDiff:
    """A whole diff. `is_signed`: a line behind the last file says that there is no other."""

    changes: tuple[FileChange, ...]
    is_signed: bool = False

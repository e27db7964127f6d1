"""Where code lies that somebody asks about: a folder, a file, an archive, an installed distribution.

A source names its files, hands them out one after the other so that never all of them are held, and
says what it left out on purpose. What it should have read and could not is no exception but something
unclassified: nobody knows what it holds.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

from consentry.base.canonical import digest_bytes
from consentry.base.values import dataclass
from consentry.declare.patchbundle import MOST_BLOB, Blob
from consentry.examine.atoms import Unclassified

MOST_FILES: Final = 200_000
"""So many files of one source are read; one with more is refused."""


class Skipped(StrEnum):
    """Why something was left out on purpose."""

    VERSIONS = "version control"
    COMPILED = "compiled from source"
    ENVIRONMENT = "virtual environment"
    SPECIAL = "neither file nor folder"
    MISSING = "listed and not there"


@dataclass(frozen=True, slots=True, order=True)
class NotRead:
    """A file, or a folder with all below it, that was left out."""

    path: str
    why: Skipped


Entry: TypeAlias = tuple[str, Blob | Unclassified]
"""A file by its path from the top of the source, or why it is not known."""


class Source(Protocol):
    """Code in one place."""

    @property
    def described(self) -> str:
        """What it is, for people: `folder `app`` or `requests 2.32.3, installed`."""
        ...

    @property
    def count(self) -> int:
        """How many entries there will be."""
        ...

    @property
    def not_read(self) -> tuple[NotRead, ...]:
        """What was left out on purpose, in order."""
        ...

    @property
    def is_whole(self) -> bool:
        """Whether the entries are all there is; else imports lead to more of the same tree."""
        ...

    def entries(self) -> Iterator[Entry]:
        """Every file, once; links as links."""
        ...

    def has(self, path: str) -> bool:
        """Whether there is a file of that name."""
        ...

    def read(self, path: str) -> Blob | None:
        """The file of that name, if there is one and it can be read."""
        ...

    def close(self) -> None:
        """Lets go of everything that is open."""
        ...


def unreadable(path: str, why: str) -> Unclassified:
    """A file that should have been read."""
    name = digest_bytes(path.encode("utf-8", "surrogateescape"))
    return Unclassified(f"unreadable {name}", 1, f"cannot be read: {why}")


def too_large(path: str) -> Unclassified:
    """A file with more bytes than anybody looks through."""
    return unreadable(path, f"it has more than {MOST_BLOB >> 20} MB")

r"""One digest for a tree of files: over names, executable bit, contents and the text of links.

Entries are files and links; folders are no entries, they exist by what lies in them. The encoding is
unambiguous, every part of variable length has its length in front of it, and it begins with a name and
version of its own, so that no other digest of the product can be taken for one:

    SHA-256( "consentry/plugin-tree/v1\n" · count · entry · entry · … )

    count   the number of entries, 8 bytes, most significant first
    entry   kind (1 byte: `f` file, `x` executable file, `l` link)
            · length of the path (4 bytes, most significant first) · path (UTF-8, `/` between parts)
            · SHA-256 of the content, or of the link's text (32 bytes)

Entries are in the order of the bytes of their paths. So neither the order in which files were made or
listed nor owner, times, place or machine is part of it. A digest says that bytes are the same as before;
it is an integrity check, and anyone can compute one.
"""

import hashlib
from collections.abc import Iterable
from enum import StrEnum
from operator import attrgetter
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.values import dataclass

DOMAIN: Final = b"consentry/plugin-tree/v1\n"
MOST_PATH: Final = 4096
"""Characters of a path: more than that no system opens by its name."""
_PREFIX: Final = "sha256:"


class EntryKind(StrEnum):
    """What an entry of a tree is."""

    FILE = "file"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file or a link: `digest` is over the content, or over the text of the link.

    `size` counts the bytes of either. It is no part of the tree's digest, which has the content's.
    """

    path: str
    kind: EntryKind
    executable: bool
    size: int
    digest: Digest

    @property
    def letter(self) -> bytes:
        """The kind as the encoding has it."""
        if self.kind is EntryKind.LINK:
            return b"l"
        return b"x" if self.executable else b"f"


def in_order(entries: Iterable[TreeEntry]) -> tuple[TreeEntry, ...]:
    """Sorted by the bytes of their paths, which is the order of their code points."""
    return tuple(sorted(entries, key=attrgetter("path")))


def tree_digest(entries: Iterable[TreeEntry]) -> Digest:
    """The digest of a tree with exactly these entries, in whatever order they come."""
    return rows_digest((each.path, each.letter, each.digest) for each in entries)


def rows_digest(rows: Iterable[tuple[str, bytes, Digest]]) -> Digest:
    """The same from path, letter and digest of each entry alone."""
    ordered = sorted(rows)
    parts = [DOMAIN, len(ordered).to_bytes(8, "big")]
    for path, letter, digest in ordered:
        encoded = path.encode()
        content = bytes.fromhex(digest.removeprefix(_PREFIX))
        parts += (letter, len(encoded).to_bytes(4, "big"), encoded, content)
    return Digest(_PREFIX + hashlib.sha256(b"".join(parts)).hexdigest())

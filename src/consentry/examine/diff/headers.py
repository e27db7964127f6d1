"""The header of one file in a diff of git: its names, its modes, and what kind of change it is.

    diff --git a/old.py b/new.py
    old mode 100644                 and `new mode`, `new file mode`, `deleted file mode`
    similarity index 95%            and `dissimilarity index`
    rename from old.py              and `rename to`, `copy from`, `copy to`
    index 1234567..89abcde 100644

Each at most once, and only together with those it goes with. A change of a file into a link, or
back, is two files in a diff: the one that goes and the one that comes.
"""

import re
from typing import Final

from consentry.base.values import dataclass
from consentry.examine.diff.changes import MODES, ChangeKind, sort_of
from consentry.examine.diff.difflines import DiffLines
from consentry.examine.diff.names import (
    NEW,
    OLD,
    BadName,
    are_both,
    checked_path,
    name_of,
    same_name,
)
from consentry.examine.diff.oids import is_full

START: Final = b"diff --git "

_INDEX: Final = re.compile(rb"([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?")
_PERCENT: Final = re.compile(rb"(0|[1-9][0-9]?|100)%")
_KEYS: Final = (
    b"old mode ",
    b"new mode ",
    b"new file mode ",
    b"deleted file mode ",
    b"similarity index ",
    b"dissimilarity index ",
    b"rename from ",
    b"rename to ",
    b"copy from ",
    b"copy to ",
    b"index ",
)
# Which keys make which kind, and which others may stand beside them.
_OPTIONAL: Final = frozenset({b"index "})
_MODE_CHANGE: Final = frozenset({b"old mode ", b"new mode "})
_KINDS: Final = (
    (ChangeKind.ADDED, frozenset({b"new file mode "}), frozenset[bytes]()),
    (ChangeKind.DELETED, frozenset({b"deleted file mode "}), frozenset[bytes]()),
    (
        ChangeKind.RENAMED,
        frozenset({b"similarity index ", b"rename from ", b"rename to "}),
        _MODE_CHANGE,
    ),
    (
        ChangeKind.COPIED,
        frozenset({b"similarity index ", b"copy from ", b"copy to "}),
        _MODE_CHANGE,
    ),
    (ChangeKind.MODIFIED, frozenset[bytes](), _MODE_CHANGE | {b"dissimilarity index "}),
)


@dataclass(frozen=True, slots=True)
class Header:
    """What a header says; a change without content is still called `modified` here."""

    kind: ChangeKind
    old_path: bytes
    new_path: bytes
    old_mode: str | None
    new_mode: str | None
    old_oid: str | None
    new_oid: str | None
    similarity: int | None

    @property
    def has_index(self) -> bool:
        """Whether it names the contents, which says that they differ."""
        return self.old_oid is not None or self.new_oid is not None

    @property
    def has_full_index(self) -> bool:
        """Whether it names the contents with all digits of their ids."""
        given = [each for each in (self.old_oid, self.new_oid) if each is not None]
        return bool(given) and all(map(is_full, given))


def read_header(lines: DiffLines) -> Header:
    """The header that begins with the next line."""
    names = lines.take("a file")[len(START) :]
    said: dict[bytes, bytes] = {}
    while key := next((each for each in _KEYS if lines.begins(each)), None):
        value = lines.take("a header")[len(key) :]
        if key in said:
            lines.stop_before(f"`{key.decode().strip()}` is there twice")
        said[key] = value
    kind = _kind(said, lines)
    old_path, new_path = _paths(names, said, kind, lines)
    old_oid, new_oid, shared = _index(said.get(b"index "), kind, lines)
    old_mode, new_mode = _modes(said, shared, lines)
    return Header(
        kind, old_path, new_path, old_mode, new_mode, old_oid, new_oid, _similarity(said, lines)
    )


def _kind(said: dict[bytes, bytes], lines: DiffLines) -> ChangeKind:
    fitting = [
        kind
        for kind, needed, others in _KINDS
        if needed <= said.keys() <= needed | others | _OPTIONAL
    ]
    if not fitting or len(_MODE_CHANGE & said.keys()) == 1:
        lines.stop_before("the lines of a header do not go together, or some are missing")
    return fitting[0]


def _paths(
    names: bytes, said: dict[bytes, bytes], kind: ChangeKind, lines: DiffLines
) -> tuple[bytes, bytes]:
    try:
        if kind not in (ChangeKind.RENAMED, ChangeKind.COPIED):
            path = same_name(names)
            return path, path
        word = b"rename" if kind is ChangeKind.RENAMED else b"copy"
        old = checked_path(name_of(said[word + b" from "]))
        new = checked_path(name_of(said[word + b" to "]))
        if old == new or not are_both(names, b" ", OLD + old, NEW + new):
            lines.stop_before("a header names other files than its first line")
    except BadName as problem:
        lines.stop_before(str(problem))
    return old, new


def _index(
    said: bytes | None, kind: ChangeKind, lines: DiffLines
) -> tuple[str | None, str | None, bytes | None]:
    """Both ids, and the mode where it is the same before and after."""
    if said is None:
        return None, None, None
    found = _INDEX.fullmatch(said)
    if found is None:
        lines.stop_before("an `index` line is not understood")
    old, new = (None if not each.strip(b"0") else each.decode() for each in (found[1], found[2]))
    if len(found[1]) != len(found[2]) or found[1] == found[2]:
        lines.stop_before("an `index` line has two ids that cannot be")
    if (old is None) != (kind is ChangeKind.ADDED) or (new is None) != (kind is ChangeKind.DELETED):
        lines.stop_before("an `index` line says otherwise than its header whether there is a file")
    return old, new, found[3]


def _modes(
    said: dict[bytes, bytes], shared: bytes | None, lines: DiffLines
) -> tuple[str | None, str | None]:
    old = said.get(b"old mode ", said.get(b"deleted file mode ", shared))
    new = said.get(b"new mode ", said.get(b"new file mode ", shared))
    others = said.keys() & {*_MODE_CHANGE, b"new file mode ", b"deleted file mode "}
    if shared is not None and others:
        lines.stop_before("the mode of a file is there twice")
    modes = tuple(None if each is None else each.decode("ascii", "replace") for each in (old, new))
    if any(each is not None and each not in MODES for each in modes):
        lines.stop_before("a mode is not one that git has for files")
    if b"old mode " in said and (old == new or sort_of(modes[0]) != sort_of(modes[1])):
        lines.stop_before("a change of mode is none, or makes another kind of file")
    return modes[0], modes[1]


def _similarity(said: dict[bytes, bytes], lines: DiffLines) -> int | None:
    found: int | None = None
    for key in (b"similarity index ", b"dissimilarity index "):
        if key in said:
            percent = _PERCENT.fullmatch(said[key])
            if percent is None:
                lines.stop_before("a percentage is not understood")
            found = int(percent[1]) if key == b"similarity index " else None
    return found

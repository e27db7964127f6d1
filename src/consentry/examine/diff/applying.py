"""Applies one change of a diff to a whole content, forth or back: to the letter, or not at all.

There is no searching and no leniency: every line of context and every number must fit. Laws, proved
on generated texts: `unapply_change(c, apply_change(c, old)) == old`, and the other way round.
"""

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

from consentry.examine.diff.binary import made_by
from consentry.examine.diff.changes import (
    BinaryPart,
    ChangeKind,
    DiffMismatch,
    FileChange,
)
from consentry.examine.diff.oids import names_content

_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")

_Edit: TypeAlias = tuple[int, tuple[bytes, ...], tuple[bytes, ...]]
"""Where lines begin (as a hunk counts), the lines, and those that take their place."""


def apply_change(change: FileChange, base: bytes | None) -> bytes | None:
    """What becomes of `base`, the content of the old name; None is a file that is not there."""
    edits = ((hunk.old_start, hunk.old, hunk.new) for hunk in change.hunks)
    forward = None if change.binary is None else change.binary.forward
    _check_there(base, is_there=change.kind is not ChangeKind.ADDED)
    made = _made(change, base or b"", edits, forward)
    _check_binary(change, base or b"", made)
    return _result(made, is_there=change.kind is not ChangeKind.DELETED)


def unapply_change(change: FileChange, after: bytes | None) -> bytes | None:
    """What `after`, the content of the new name, was before."""
    edits = ((hunk.new_start, hunk.new, hunk.old) for hunk in change.hunks)
    backward = None if change.binary is None else change.binary.backward
    _check_there(after, is_there=change.kind is not ChangeKind.DELETED)
    made = _made(change, after or b"", edits, backward)
    _check_binary(change, made, after or b"")
    return _result(made, is_there=change.kind is not ChangeKind.ADDED)


def _check_there(content: bytes | None, *, is_there: bool) -> None:
    if (content is not None) != is_there:
        raise DiffMismatch("a file is missing" if is_there else "a file is there already")


def _result(made: bytes, *, is_there: bool) -> bytes | None:
    if is_there:
        return made
    if made:
        raise DiffMismatch("a file that goes has more lines than the diff says")
    return None


def _made(
    change: FileChange, content: bytes, edits: Iterable[_Edit], part: BinaryPart | None
) -> bytes:
    if part is not None:
        return made_by(part, content)
    if change.is_binary:
        raise DiffMismatch("the diff says that binary contents differ, and not how")
    if not change.hunks and change.kind in (ChangeKind.ADDED, ChangeKind.DELETED) and content:
        raise DiffMismatch("an empty file is not empty")
    return _edited(content, edits)


def _check_binary(change: FileChange, old: bytes, new: bytes) -> None:
    """A binary patch names both contents in full, and a part without lines fits anything else."""
    if change.binary is None:
        return
    for oid, content, is_there in (
        (change.old_oid, old, change.kind is not ChangeKind.ADDED),
        (change.new_oid, new, change.kind is not ChangeKind.DELETED),
    ):
        if is_there and not names_content(oid, content):
            raise DiffMismatch("a binary content is not the one that the diff names")


def _edited(content: bytes, edits: Iterable[_Edit]) -> bytes:
    lines = _LINE.findall(content)
    made: list[bytes] = []
    at = 0
    for start, was, becomes in edits:
        first = start - 1 if was else start
        if not at <= first <= len(lines) or tuple(lines[first : first + len(was)]) != was:
            raise DiffMismatch(f"line {start} and those that follow are not what the diff says")
        made += lines[at:first]
        made += becomes
        at = first + len(was)
    made += lines[at:]
    if not all(line.endswith(b"\n") for line in made[:-1]):
        raise DiffMismatch("a line without an end is not the last")
    return b"".join(made)

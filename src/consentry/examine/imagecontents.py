"""The content of one changed file before and after, from what is given of it and from the diff."""

import re
from typing import Final

from consentry.base.values import dataclass
from consentry.declare.patchbundle import BundleIncomplete
from consentry.examine.diff.applying import apply_change, unapply_change
from consentry.examine.diff.changes import (
    LINK,
    SUBMODULE,
    ChangeKind,
    DiffMismatch,
    FileChange,
)
from consentry.examine.diff.oids import names_content

_COMMIT: Final = re.compile(rb"(?:Subproject commit )?([0-9a-f]{40}(?:[0-9a-f]{24})?)\n?")


@dataclass(frozen=True, slots=True)
class Given:
    """What a bundle has of a file; `is_last`: what followed it in the diff may have been cut off."""

    base: bytes | None
    after: bytes | None
    is_last: bool
    sort: str


def contents_of(change: FileChange, given: Given, path: str) -> tuple[bytes | None, bytes | None]:
    """Both contents; raises `BundleIncomplete` where they are not known for certain."""
    if given.sort == SUBMODULE:
        given = Given(
            _submodule(given.base, path), _submodule(given.after, path), given.is_last, given.sort
        )
    try:
        before, after = _contents(change, given)
    except DiffMismatch as problem:
        raise BundleIncomplete(f"the diff does not fit: {problem}", path) from None
    reason = _doubt(change, given, before, after)
    if reason is not None:
        raise BundleIncomplete(reason, path)
    return before, after


def _submodule(content: bytes | None, path: str) -> bytes | None:
    """The line that diffs have for a submodule, from any way to name its commit."""
    if content is None:
        return None
    found = _COMMIT.fullmatch(content)
    if found is None:
        raise BundleIncomplete("a submodule is the id of a commit", path)
    return b"Subproject commit %s\n" % found[1]


def _contents(change: FileChange, given: Given) -> tuple[bytes | None, bytes | None]:
    is_new, is_gone = change.kind is ChangeKind.ADDED, change.kind is ChangeKind.DELETED
    if change.is_binary and change.binary is None:
        return _differing(change, given)
    if is_new or given.base is not None:
        made = apply_change(change, None if is_new else given.base)
        if given.after is not None and made != given.after:
            raise DiffMismatch("it does not lead to what `after` has")
        return None if is_new else given.base, made
    if is_gone or given.after is not None:
        after = None if is_gone else given.after
        return unapply_change(change, after), after
    if not _is_whole(change, given.sort):
        raise DiffMismatch("it holds a part of the file, and neither `base` nor `after` has it")
    [hunk] = change.hunks
    return b"".join(hunk.old), b"".join(hunk.new)


def _differing(change: FileChange, given: Given) -> tuple[bytes | None, bytes | None]:
    """Binary contents that the diff does not have: both must be there, and be those it names."""
    sides = (
        (given.base, change.old_oid, change.kind is not ChangeKind.ADDED),
        (given.after, change.new_oid, change.kind is not ChangeKind.DELETED),
    )
    for content, oid, is_there in sides:
        if is_there and (content is None or not names_content(oid, content)):
            raise DiffMismatch("it has no binary content, and no blob is the one that it names")
    return given.base, given.after


def _is_whole(change: FileChange, sort: str) -> bool:
    """Whether the only hunk is all of the file: it begins with it and ends with it, on both sides."""
    if len(change.hunks) != 1 or change.hunks[0].old_start != 1 or change.hunks[0].new_start != 1:
        return False
    sides = (change.hunks[0].old, change.hunks[0].new)
    if sort == SUBMODULE:
        return all(len(side) == 1 for side in sides)
    return all(side and not side[-1].endswith(b"\n") for side in sides)


def _doubt(
    change: FileChange, given: Given, before: bytes | None, after: bytes | None
) -> str | None:
    """Why the contents may not be all there is, if so."""
    contents = [each for each in (before, after) if each is not None]
    if given.sort == LINK and any(each.endswith(b"\n") for each in contents):
        return "the target of a link ends with a newline, as if the diff was cut behind it"
    if given.sort == SUBMODULE:
        is_named = all(_COMMIT.fullmatch(each) for each in contents)
        return None if is_named else "a submodule is something else than a commit"
    if change.is_binary:
        return None
    made = [
        (content, oid)
        for known, content, oid in (
            (given.base, before, change.old_oid),
            (given.after, after, change.new_oid),
        )
        if known is None and content is not None
    ]
    for content, oid in made:
        if content.endswith(b"\n") and names_content(oid, content[:-1]):
            return "the diff was cut before the remark that the last line has no newline"
    if not made or change.kind in (ChangeKind.ADDED, ChangeKind.DELETED):
        return None
    return _doubt_of_made(change, made, before if given.is_last else None)


def _doubt_of_made(
    change: FileChange, made: list[tuple[bytes, str | None]], before: bytes | None
) -> str | None:
    """Of contents that the diff made from their other side; `before` where it may have been cut."""
    for content, oid in made:
        if oid is not None and not names_content(oid, content):
            return "the diff makes another content than the one that it names"
    if before is None or all(oid is not None for _, oid in made):
        return None
    if change.is_bare:
        return "the diff ends with this header, and content may have been cut off behind it"
    return None if _reaches_end(change, before) else "the diff ends here, and may have been cut"


def _reaches_end(change: FileChange, before: bytes) -> bool:
    """Whether the last hunk ends with the file, so that no other can follow."""
    last = change.hunks[-1]
    end = last.old_start - 1 + len(last.old) if last.old else last.old_start
    return end == before.count(b"\n") + (not before.endswith(b"\n") and before != b"")

"""Documents that a change is judged by, as they were before it: a change does not allow itself anything.

A wish or a registry usually lies in the repository whose change is examined. Where the change touches
it, or a link or folder on the way to it, the document counts as it was before; one that was not there
before does not count at all. Everything else is read from the disk.

Not looked at: a file of the repository that lies elsewhere under a second name (a hard link, a mount).
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from consentry.base.values import dataclass
from consentry.examine.sides import LINK, SourceTree
from consentry.service.guarding import Change
from consentry.service.userfiles import read_named

MOST_LINKS: Final = 40


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document by the name that somebody gave; `content` is None where there was none before."""

    name: str
    content: bytes | None
    is_prior: bool = False


def document_for(
    name: str, change: Change, roots: Sequence[Path], *, only_committed: bool = False
) -> NamedDocument:
    """The document of that name, for judging this change.

    Args:
        name: as it was typed.
        change: what is to be judged.
        roots: folders that the paths of the change start from, with links resolved.
        only_committed: a document that was there before counts as it was, whatever the disk has: of
            what is staged, the disk has a later state that nobody examines.
    """
    touched = {each.path_before for each in change.files} | {
        each.path_after for each in change.files
    }
    for root in roots:
        inside = [
            (place.relative_to(root).as_posix(), rest)
            for place, rest in _places(name)
            if place != root and place.is_relative_to(root)
        ]
        if not inside:
            continue
        first, rest = inside[0]
        whole = "/".join((first, *rest))
        if any(path in touched for path, _ in inside):
            return NamedDocument(name, _read_prior(change.tree_before, whole), is_prior=True)
        if only_committed:
            found = _read_prior(change.tree_before, whole)
            if found is not None:
                return NamedDocument(name, found, is_prior=found != read_named(name))
    return NamedDocument(name, read_named(name))


def _places(name: str) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Every place on the way to a file, each link included, with what is left of the way behind it."""
    waiting = [*reversed(name.split("/"))]
    at = Path("/") if name.startswith("/") else Path(os.path.realpath("."))
    links = 0
    while waiting:
        part = waiting.pop()
        if part in ("", "."):
            continue
        if part == "..":
            at = at.parent
            continue
        at /= part
        yield at, tuple(reversed(waiting))
        try:
            target = os.readlink(at)  # noqa: PTH115 - a Path would lose `.` and `..`
        except OSError:
            continue
        links += 1
        if links > MOST_LINKS:
            return
        at = Path("/") if target.startswith("/") else at.parent
        waiting.extend(reversed(target.split("/")))


def _read_prior(tree: SourceTree, path: str) -> bytes | None:
    """The file that the path led to in a tree; None where it left the tree or led to no file."""
    waiting = [*reversed(path.split("/"))]
    at: list[str] = []
    links = 0
    while waiting:
        part = waiting.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not at:
                return None
            at.pop()
            continue
        at.append(part)
        blob = tree.read("/".join(at))
        if blob is None:
            continue
        if blob.mode != LINK:
            return None if waiting else blob.content
        target = blob.content.decode("utf-8", "surrogateescape")
        links += 1
        if links > MOST_LINKS or target.startswith("/"):
            return None
        at.pop()
        waiting.extend(reversed(target.split("/")))
    return None

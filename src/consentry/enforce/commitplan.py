"""The steps of a commit, made from the accepted changes: as few renames as will do.

A new folder goes into place with everything in it, a deleted one goes away with everything in it, so
no step depends on another one.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.foldertree import Tree, below, by_place
from consentry.enforce.layer import Change, ChangeKind, FileType, LayerRoot, Was

_MOST_SEALED: Final = 1_000_000


class Action(StrEnum):
    """What a step does at its path."""

    PUT = "put"
    """Something new where nothing was."""
    SWAP = "swap"
    """Something new in the place of what was there."""
    TAKE = "take"
    """What was there goes away."""
    MODE = "mode"
    """What is there gets another mode."""


@dataclass(frozen=True, slots=True)
class Step:
    """One path to deal with. `inner` is new and below it, `swept` goes away with it."""

    number: int
    action: Action
    change: Change
    inner: tuple[Change, ...] = ()
    swept: tuple[Change, ...] = ()

    @property
    def root(self) -> LayerRoot:
        """The root it lies below."""
        return self.change.root

    @property
    def path(self) -> bytes:
        """Relative to the root's host folder."""
        return self.change.path


@dataclass(frozen=True, slots=True)
class Seal:
    """What tells that a file, link or whole folder is still the one it was, after being renamed."""

    inode: int
    text: str


def steps_of(accepted: Sequence[Change]) -> tuple[Step, ...]:
    """The steps that take these changes to the host; folders come before what is in them."""
    steps: list[Step] = []
    at = 0
    while at < len(accepted):
        change = accepted[at]
        end = at + 1
        if _takes_all_below(change):
            prefix = change.path + b"/"
            while end < len(accepted) and _is_below(accepted[end], change.root, prefix):
                end += 1
        rest = accepted[at + 1 : end]
        steps.append(
            Step(
                number=len(steps),
                action=_action(change),
                change=change,
                inner=tuple(each for each in rest if each.kind is not ChangeKind.DELETED),
                swept=tuple(each for each in rest if each.kind is ChangeKind.DELETED),
            )
        )
        at = end
    return tuple(steps)


def _takes_all_below(change: Change) -> bool:
    return change.kind in (ChangeKind.CREATED, ChangeKind.DELETED, ChangeKind.REPLACED)


def _is_below(change: Change, root: LayerRoot, prefix: bytes) -> bool:
    return change.root is root and change.path.startswith(prefix)


def _action(change: Change) -> Action:
    match change.kind:
        case ChangeKind.CREATED:
            return Action.PUT
        case ChangeKind.DELETED:
            return Action.TAKE
        case ChangeKind.MODE:
            return Action.MODE
        case ChangeKind.MODIFIED | ChangeKind.REPLACED:
            return Action.SWAP


def seal_of_old(step: Step) -> Seal | None:
    """The seal of what the scan saw at the step's path, with everything below it."""
    was = step.change.was
    if was is None:
        return None
    start = len(step.path) + 1
    lines = ((each.path[start:], each.was) for each in step.swept if each.was is not None)
    return Seal(was.inode, _text(was, lines))


def seal_of_file(found: os.stat_result) -> Seal:
    """The seal of a plain file or a link, by what is known of it."""
    return Seal(found.st_ino, _mark(Was.of(found)))


def seal_at(tree: Tree, path: bytes) -> Seal | None:
    """The seal of what stands at a path now; None for nothing."""
    top = _seen(tree, path)
    if top is None:
        return None
    found: list[tuple[bytes, Was]] = []
    waiting = [b""] if top.type is FileType.FOLDER else []
    while waiting:
        at = waiting.pop()
        try:
            names = tree.names(below(path, at) if at else path, _MOST_SEALED)
        except PermissionError:
            continue  # nobody else of this user could have changed what is in it either
        for name in names:
            inner = below(at, name)
            was = _seen(tree, below(path, inner))
            if was is not None:
                found.append((inner, was))
                if was.type is FileType.FOLDER:
                    waiting.append(inner)
    return Seal(top.inode, _text(top, found))


def _seen(tree: Tree, path: bytes) -> Was | None:
    found = tree.status(path)
    return None if found is None else Was.of(found)


def _text(top: Was, inner: Iterable[tuple[bytes, Was]]) -> str:
    if top.type is not FileType.FOLDER:
        return _mark(top)
    content = hashlib.sha256()
    for path, was in sorted(inner, key=lambda each: by_place(each[0])):
        content.update(path + b"\0" + _mark(was).encode() + b"\0")
    return f"{_mark(top)} {content.hexdigest()}"


def _mark(was: Was) -> str:
    """A rename changes the time of change, so that is left out; folders are what is in them."""
    if was.type is FileType.FOLDER:
        return f"{was.type} {was.inode}"
    return f"{was.type} {was.inode} {was.size} {was.mtime_ns}"

"""The two sides of a change, as bytes: what the file was, and what it is to be or became.

While an effect waits, the old side is the host's file, if it is still the one that the run saw, and the
new side is kept. After a commit it is the other way round. Only the beginning of a file is read, and
only of plain files; what is not there any more, or is something else by now, is None.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol

from consentry.enforce.commitdesk import DONE
from consentry.enforce.commitjournal import Journal
from consentry.enforce.commitstage import in_layer
from consentry.enforce.effect import Effect
from consentry.enforce.foldertree import Tree, below
from consentry.enforce.layer import Change, ChangeKind, FileType, LayerRoot, RootReplaced, Was
from consentry.enforce.layerfiles import open_plain, sha256_of
from consentry.enforce.undoshelf import old_places


class Sides(Protocol):
    """Reads both sides of a change, at most so many bytes of each."""

    def old(self, change: Change, most: int) -> bytes | None:
        """What was there."""
        ...

    def new(self, change: Change, most: int) -> bytes | None:
        """What comes, or came."""
        ...


class _Hosts:
    def __init__(self, roots: Sequence[LayerRoot], held: ExitStack) -> None:
        self._trees: dict[LayerRoot, Tree] = {}
        for root in roots:
            try:
                self._trees[root] = held.enter_context(Tree(root.open()))
            except (OSError, RootReplaced):
                continue

    def tree(self, change: Change) -> Tree | None:
        return self._trees.get(change.root)


class _Waiting:
    """The sides of an effect that waits to be committed."""

    def __init__(self, effect: Effect, item: Tree, held: ExitStack) -> None:
        changes = effect.verdicts().accepted
        self._now = dict(zip(effect.changes, changes, strict=True))
        self._hosts = _Hosts([each.root for each in changes], held)
        self._item = item
        self._first = {
            (each.root.number, each.shared): each
            for each in reversed(effect.changes)
            if each.shared
        }

    def old(self, change: Change, most: int) -> bytes | None:
        now = self._now[change]
        tree, was = self._hosts.tree(now), now.was
        if tree is None or was is None:
            return None
        return _read(tree, now.path, most, was)

    def new(self, change: Change, most: int) -> bytes | None:
        if change.kind in (ChangeKind.DELETED, ChangeKind.MODE) or change.type is not FileType.FILE:
            return None
        first = self._first.get((change.root.number, change.shared), change)
        path = below(b"layer/upper%d" % change.root.number, in_layer(first))
        return _read(self._item, path, most, sha256=change.sha256)


class _Committed:
    """The sides of an effect that was committed and can be undone."""

    def __init__(self, effect: Effect, journal: Journal, item: Tree, held: ExitStack) -> None:
        self._hosts = _Hosts([each.root for each in effect.verdicts().accepted], held)
        self._item = item
        self._places = old_places(journal)
        self._moves = {(journal.sites[m.site].host, m.path): m.number for m in journal.moves}
        self._now = dict(zip(effect.changes, effect.verdicts().accepted, strict=True))

    def old(self, change: Change, most: int) -> bytes | None:
        if change.was is None or change.was.type is not FileType.FILE:
            return None
        at, rest = change.path, b""
        while at:
            number = self._moves.get((change.root.host, at))
            if number is not None:
                for place in self._places[number]:
                    content = _read(self._item, below(place, rest) if rest else place, most)
                    if content is not None:
                        return content
                return None
            at, _, name = at.rpartition(b"/")
            rest = below(name, rest) if rest else name
        return None

    def new(self, change: Change, most: int) -> bytes | None:
        tree = self._hosts.tree(self._now[change])
        if tree is None or change.type is not FileType.FILE or change.kind is ChangeKind.DELETED:
            return None
        return _read(tree, change.path, most, sha256=change.sha256)


@contextmanager
def sides_of(effect: Effect, item: Tree) -> Iterator[Sides]:
    """The sides of an effect that is kept, whichever way; the caller has the item locked."""
    with ExitStack() as held:
        done = _done(item)
        if done is None:
            yield _Waiting(effect, item, held)
        else:
            yield _Committed(effect, done, item, held)


def _done(item: Tree) -> Journal | None:
    opened = open_plain(item, DONE.encode())
    if opened is None:
        return None
    with open(opened, "rb") as content:  # noqa: PTH123 - by descriptor
        try:
            return Journal.from_bytes(content.read())
        except ValueError:
            return None


def _read(
    tree: Tree, path: bytes, most: int, was: Was | None = None, sha256: str | None = None
) -> bytes | None:
    opened = open_plain(tree, path)
    if opened is None:
        return None
    try:
        found = os.fstat(opened)
        if was is not None and not _is_same(found, was):
            return None
        if sha256 is not None and found.st_size <= most:
            content = os.pread(opened, found.st_size, 0)
            return content if sha256_of(opened, found.st_size) == sha256 else None
        return os.pread(opened, most, 0)
    finally:
        os.close(opened)


def _is_same(now: os.stat_result, was: Was) -> bool:
    seen = (was.inode, was.size, was.mtime_ns, was.ctime_ns)
    is_file = stat.S_ISREG(now.st_mode) and was.type is FileType.FILE
    return is_file and seen == (now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)

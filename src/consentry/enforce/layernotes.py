"""What a scan finds while it goes: changes, odd files, files left unread, and how much is left to it."""

import os
import stat
from typing import Final

from consentry.enforce.foldertree import TooMany, Tree, below
from consentry.enforce.layer import (
    Change,
    ChangeKind,
    FileType,
    LayerRoot,
    Odd,
    Was,
    inside_of,
)
from consentry.enforce.layerfiles import Budget, is_too_long, open_plain, sha256_of

TOO_LONG: Final = "its path is too long for any program to open"
_MOST_LISTED: Final = 1_000


class Notes:
    """What was found so far, in all roots together. Paths are relative to a root's host folder."""

    def __init__(self, hashed_bytes: int, most_entries: int) -> None:
        self.left = most_entries
        self.entries: list[Change] = []
        self.odd: list[Odd] = []
        self.unhashed: list[bytes] = []
        self.unhashed_count = 0
        self._budget = Budget(hashed_bytes)

    def look(self) -> None:
        """Counts a name that is looked at; raises `TooMany` beyond the limit."""
        self.left -= 1
        if self.left < 0:
            raise TooMany

    def sha256(self, opened: int | None, size: int, root: LayerRoot, path: bytes) -> str | None:
        """The hash of an opened file, if it could be opened and the budget allows; else noted."""
        if opened is not None and self._budget.take(size):
            return sha256_of(opened, size)
        self.unhashed_count += 1
        if len(self.unhashed) < _MOST_LISTED:
            self.unhashed.append(inside_of(root, path))
        return None

    def refuse(self, root: LayerRoot, path: bytes, mode: int, why: str) -> None:
        """Something that can never be committed."""
        self.odd.append(Odd(root, path, FileType.of(mode), why))


class HostSide:
    """What the host has below a root, beneath the layer."""

    def __init__(self, root: LayerRoot, tree: Tree, notes: Notes) -> None:
        self._root = root
        self._tree = tree
        self._notes = notes
        self._device = root.identity[0]

    def status(self, path: bytes) -> os.stat_result | None:
        """What stands there; None where that, or a folder above it, is gone or a link by now."""
        try:
            return self._tree.status(path)
        except OSError:
            return None

    def open(self, path: bytes) -> int | None:
        """A plain file for reading, or None."""
        return open_plain(self._tree, path)

    def is_entered(self, path: bytes, found: os.stat_result) -> bool:
        """Whether a folder lies on the root's own file system, so that a rename can lead there."""
        if found.st_dev != self._device:
            return False
        try:
            self._tree.folder(path)
        except OSError:
            return False
        return True

    def was(self, path: bytes, found: os.stat_result, opened: int | None = None) -> Was:
        """What stands there, its bytes hashed as far as the budget goes."""
        kind = FileType.of(found.st_mode)
        sha256 = target = None
        if kind is FileType.FILE:
            mine = self.open(path) if opened is None else None
            reader = mine if opened is None else opened
            sha256 = self._notes.sha256(reader, found.st_size, self._root, path)
            if mine is not None:
                os.close(mine)
        elif kind is FileType.LINK:
            folder, name = self._tree.place(path)
            target = os.readlink(name, dir_fd=folder)
        return Was.of(found, sha256, target)

    def deleted(self, path: bytes, found: os.stat_result | None) -> None:
        """Notes that a path is gone, with everything below it."""
        if found is not None:
            self._note_deleted(path, found)
            self.deleted_below(path, found)

    def deleted_in(self, path: bytes, kept: frozenset[bytes]) -> None:
        """Notes everything in a folder that is not among `kept` as gone."""
        for name in self._tree.names(path, self._notes.left):
            if name not in kept:
                self._notes.look()
                self.deleted(below(path, name), self.status(below(path, name)))

    def deleted_below(self, path: bytes, found: os.stat_result) -> None:
        """Notes everything below a folder as gone; nothing for what is no folder."""
        waiting = [(path, found)] if stat.S_ISDIR(found.st_mode) else []
        while waiting:
            at, status = waiting.pop()
            for name in self._listed(at, status):
                self._notes.look()
                inner = below(at, name)
                there = self.status(inner)
                if there is None:
                    continue
                if is_too_long(inner):
                    self._notes.refuse(self._root, inner, there.st_mode, TOO_LONG)
                    continue
                self._note_deleted(inner, there)
                if stat.S_ISDIR(there.st_mode):
                    waiting.append((inner, there))

    def _listed(self, path: bytes, found: os.stat_result) -> list[bytes]:
        """The names in a folder; one that cannot be listed is refused, and so stays."""
        try:
            if found.st_dev == self._device:
                return self._tree.names(path, self._notes.left)
        except OSError:
            pass
        self._notes.refuse(self._root, path, found.st_mode, "what lies in it cannot be listed")
        return []

    def _note_deleted(self, path: bytes, found: os.stat_result) -> None:
        was = self.was(path, found)
        self._notes.entries.append(
            Change(
                self._root,
                path,
                ChangeKind.DELETED,
                was.type,
                was.size,
                was.mode,
                was.mtime_ns,
                was=was,
            )
        )

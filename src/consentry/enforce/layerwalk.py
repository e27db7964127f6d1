"""The way through one root's layer, folder by folder, each held against what the host has there.

Not seen: that somebody deleted a file on the host while the run was changing it, unless its folder
tells that names came or went. A rename in the layer shows as a deletion and a new file.
"""

import os
import stat
from collections.abc import Sequence
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.foldertree import below
from consentry.enforce.layer import (
    COMMITTED_TYPES,
    Change,
    ChangeKind,
    FileType,
    Laid,
    LayerRoot,
    Was,
    kept_mode,
)
from consentry.enforce.layerfiles import (
    ELSEWHERE,
    ORIGIN,
    WHITEOUT,
    Listing,
    Upper,
    is_too_long,
    marks_of,
    user_attributes,
)
from consentry.enforce.layernotes import TOO_LONG, HostSide, Notes

_SET_ID: Final = stat.S_ISUID | stat.S_ISGID


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder still to be looked into: what the layer and the host have there.

    `path` is relative to the writable folder. `is_alone`: the host's folder does not show through.
    """

    path: bytes
    upper: os.stat_result
    lower: os.stat_result | None
    is_alone: bool


class LayerWalk:
    """The way through one root's layer."""

    def __init__(
        self, root: LayerRoot, upper: Upper, host: HostSide, started_ns: int, notes: Notes
    ) -> None:
        self._root = root
        self._upper = upper
        self._host = host
        self._started_ns = started_ns
        self._notes = notes

    def go(self) -> None:
        """Through the whole layer. The mode of the topmost folder is the engine's and no change."""
        top = self._upper.status(b"")
        if top is None:
            raise FileNotFoundError
        lower = None if self._root.rest else self._host.status(b"")
        first = _Folder(b"", top, lower, is_alone=False)
        waiting = self._look_into(first, self._upper.listing(b"", self._notes.left))
        while waiting:
            folder = waiting.pop()
            path, lower = self._full(folder.path), folder.lower
            if _is_folder(lower) and lower is not None and not self._host.is_entered(path, lower):
                self._refuse(folder.path, folder.upper, "another file system is mounted there")
                continue
            listing = self._upper.listing(folder.path, self._notes.left)
            self._note_folder(folder, listing)
            waiting += self._look_into(folder, listing)

    def _look_into(self, folder: _Folder, listing: Listing) -> list[_Folder]:
        """Notes everything in a folder but the folders, which are returned."""
        is_alone = folder.is_alone or listing.opaque == b"y"
        is_over = _is_folder(folder.lower)
        inner: list[_Folder] = []
        for name in listing.names:
            self._notes.look()
            path = below(folder.path, name)
            mine = self._upper.status(path)
            if mine is None:
                continue
            old = self._host.status(self._full(path)) if is_over else None
            if is_too_long(self._full(path)):
                self._refuse(path, mine, TOO_LONG)
            elif stat.S_ISDIR(mine.st_mode):
                inner.append(_Folder(path, mine, old, is_alone))
            elif self._is_deletion(path, mine, is_marked=listing.opaque == b"x"):
                self._host.deleted(self._full(path), old)
            elif FileType.of(mine.st_mode) not in COMMITTED_TYPES:
                self._refuse(path, mine, f"a {FileType.of(mine.st_mode)} is never committed")
            elif stat.S_ISLNK(mine.st_mode):
                self._note_link(path, mine, old)
            else:
                self._note_file(path, mine, old, folder.lower)
        if is_alone and is_over:
            self._host.deleted_in(self._full(folder.path), frozenset(listing.names))
        return inner

    def _is_deletion(self, path: bytes, mine: os.stat_result, *, is_marked: bool) -> bool:
        if stat.S_ISCHR(mine.st_mode):
            return mine.st_rdev == 0
        if not is_marked or mine.st_size or not stat.S_ISREG(mine.st_mode):
            return False
        opened = self._upper.open(path)
        try:
            return WHITEOUT in marks_of(opened)
        finally:
            os.close(opened)

    def _note_folder(self, folder: _Folder, listing: Listing) -> None:
        path, lower = folder.path, folder.lower
        if lower is None:
            # A folder of the host is never renamed in a layer, so it was here that it came from.
            self._add(path, ChangeKind.CREATED, folder.upper, is_lost=listing.has_origin)
            return
        mode = self._upper.mode(path, folder.upper)
        if not stat.S_ISDIR(lower.st_mode):
            kind = ChangeKind.REPLACED
        elif kept_mode(mode) == kept_mode(lower.st_mode) or self._full(path) in self._root.made:
            return
        else:
            kind = ChangeKind.MODE
        self._add(path, kind, folder.upper, was=self._host.was(self._full(path), lower))

    def _note_link(self, path: bytes, mine: os.stat_result, old: os.stat_result | None) -> None:
        target = self._upper.target(path)
        if old is None:
            self._add(path, ChangeKind.CREATED, mine, target=target)
            return
        was = self._host.was(self._full(path), old)
        if was.type is not FileType.LINK:
            self._add(path, ChangeKind.REPLACED, mine, target=target, was=was)
            self._host.deleted_below(self._full(path), old)
        elif was.target != target:
            self._add(path, ChangeKind.MODIFIED, mine, target=target, was=was)

    def _note_file(
        self,
        path: bytes,
        mine: os.stat_result,
        old: os.stat_result | None,
        folder: os.stat_result | None,
    ) -> None:
        opened = self._upper.open(path)
        try:
            marks = marks_of(opened)
            if not ELSEWHERE.isdisjoint(marks):
                self._refuse(path, mine, "its content is not in the layer")
                return
            sha256 = self._notes.sha256(opened, mine.st_size, self._root, self._full(path))
            if old is None:
                is_lost = ORIGIN in marks and self._has_changed_since(folder)
                self._add(
                    path, ChangeKind.CREATED, mine, sha256=sha256, is_lost=is_lost, marks=marks
                )
            elif not stat.S_ISREG(old.st_mode):
                was = self._host.was(self._full(path), old)
                self._add(path, ChangeKind.REPLACED, mine, sha256=sha256, was=was, marks=marks)
                self._host.deleted_below(self._full(path), old)
            else:
                self._compare(path, opened, sha256, mine, old, marks)
        finally:
            os.close(opened)

    def _compare(
        self,
        path: bytes,
        opened: int,
        sha256: str | None,
        mine: os.stat_result,
        old: os.stat_result,
        marks: Sequence[str],
    ) -> None:
        """A file on top of a file: other bytes, another mode, or nothing at all."""
        lower = self._host.open(self._full(path))
        try:
            was = self._host.was(self._full(path), old, lower)
            is_same = sha256 is not None and sha256 == was.sha256 and mine.st_size == old.st_size
            if is_same and lower is not None:
                is_same = user_attributes(opened) == user_attributes(lower)
        finally:
            if lower is not None:
                os.close(lower)
        if not is_same:
            self._add(path, ChangeKind.MODIFIED, mine, sha256=sha256, was=was, marks=marks)
        elif kept_mode(self._upper.mode(path, mine)) != kept_mode(old.st_mode):
            self._add(path, ChangeKind.MODE, mine, sha256=sha256, was=was)

    def _has_changed_since(self, folder: os.stat_result | None) -> bool:
        """Whether names came to or went from a folder of the host since the run began."""
        return folder is not None and folder.st_mtime_ns > self._started_ns

    def _add(
        self,
        path: bytes,
        kind: ChangeKind,
        mine: os.stat_result,
        *,
        sha256: str | None = None,
        target: bytes | None = None,
        was: Was | None = None,
        is_lost: bool = False,
        marks: Sequence[str] = (),
    ) -> None:
        mode = self._upper.mode(path, mine)
        is_file = stat.S_ISREG(mine.st_mode)
        self._notes.entries.append(
            Change(
                root=self._root,
                path=self._full(path),
                kind=kind,
                type=FileType.of(mine.st_mode),
                size=0 if stat.S_ISDIR(mine.st_mode) else mine.st_size,
                mode=kept_mode(mode),
                mtime_ns=mine.st_mtime_ns,
                sha256=sha256,
                target=target,
                was=was,
                is_lost=is_lost,
                drops_set_id=is_file and bool(mode & _SET_ID),
                shared=mine.st_ino if is_file and mine.st_nlink > 1 else 0,
                laid=Laid.of(mine, marks) if is_file else None,
            )
        )

    def _refuse(self, path: bytes, found: os.stat_result, why: str) -> None:
        self._notes.refuse(self._root, self._full(path), found.st_mode, why)

    def _full(self, path: bytes) -> bytes:
        """Relative to the host's folder instead of the writable one."""
        rest = self._root.rest
        return below(rest, path) if rest and path else rest or path


def _is_folder(found: os.stat_result | None) -> bool:
    return found is not None and stat.S_ISDIR(found.st_mode)

"""Remembers which trees were hashed, so that looking again at one that nobody touched is quick.

Kept for each plugin: its paths, its digest, and one fingerprint over what the kernel says of every file,
link and folder of it (device, inode, mode, links, owner, size, times of change). When all of that is as it
was, the digest is as well, as far as the kernel's word goes. That is good enough for `plugins verify` and
`plugins list`, which say so, and never for loading: a store through a mapping of memory can leave the times
alone for seconds (on a file system in memory, for ever), and whoever owns the machine can set its clock back.

Not remembered is a tree in which anything changed less than two seconds before it was read, or later than
now: two changes may have the same time. Nor is one whose name leads to another folder by the time that the
fingerprint is taken: a folder above it may have been exchanged, which leaves no trace in the tree itself.
"""

import hashlib
import json
import os
from array import array
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from consentry.base.canonical import Digest
from consentry.base.clock import Clock, Instant
from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass
from consentry.declare.pluginlock import DIGEST_FORM
from consentry.examine.plugintree import PluginTree

FOLDER: Final = "plugin-trees"
_FORM: Final = 1
_SETTLED_MS: Final = 2_000
_MOST_BYTES: Final = 64 << 20
_NANOSECONDS: Final = 1_000_000
_NOTE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class KnownTree:
    """A digest that was computed at a time, of a tree that has not changed since, by stat."""

    digest: Digest
    hashed_at: Instant


class TreeCache:
    """One small file for each plugin that was hashed, in a folder of our own."""

    def __init__(self, state: Path | None, clock: Clock) -> None:
        self._folder = None if state is None else state / FOLDER
        self._clock = clock

    def known(self, plugin: Path) -> KnownTree | None:
        """The digest of a plugin's tree, if it was hashed and nothing has changed since."""
        note = self._read(plugin)
        if note is None:
            return None
        try:
            paths, fingerprint, digest = note["paths"], note["fingerprint"], note["digest"]
            if note["form"] != _FORM or not DIGEST_FORM.fullmatch(digest):
                return None
            hashed_at = Instant(int(note["hashed_at"]))
            str(hashed_at)  # raises for one that cannot be shown
            if _seen(plugin, paths).fingerprint != fingerprint:
                return None
            return KnownTree(Digest(digest), hashed_at)
        except (OSError, LookupError, TypeError, ValueError, OverflowError, ConsentryError):
            return None

    def remember(self, plugin: Path, tree: PluginTree, began: Instant) -> None:
        """Keeps the digest of a tree whose reading began at a time, where that is safe."""
        paths = _paths_of(tree)
        try:
            seen = _seen(plugin, paths)
            if seen.folder != tree.folder:
                return
            if seen.changed_ns > (began.unix_ms - _SETTLED_MS) * _NANOSECONDS:
                return
            note = {
                "form": _FORM,
                "digest": tree.digest,
                "hashed_at": began.unix_ms,
                "fingerprint": seen.fingerprint,
                "paths": paths,
            }
        except (OSError, OverflowError):
            return
        self._write(plugin, json.dumps(note).encode())

    def now(self) -> Instant:
        """When the reading of a tree begins."""
        return self._clock.now()

    def _read(self, plugin: Path) -> dict[str, Any] | None:
        if self._folder is None:
            return None
        try:
            opened = os.open(self._file(self._folder, plugin), _NOTE)
            with os.fdopen(opened, "rb") as handle:
                note = json.loads(handle.read(_MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return None
        return note if isinstance(note, dict) else None

    def _write(self, plugin: Path, content: bytes) -> None:
        """Written whole or not at all; a folder that cannot be written only costs time."""
        if self._folder is None:
            return
        fresh = self._folder / f".{os.getpid()}-{os.urandom(4).hex()}"
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            fresh.write_bytes(content)
            fresh.replace(self._file(self._folder, plugin))
        except OSError:
            with suppress(OSError):
                fresh.unlink()

    def _file(self, folder: Path, plugin: Path) -> Path:
        return folder / hashlib.sha256(os.fsencode(plugin.absolute())).hexdigest()


def _paths_of(tree: PluginTree) -> list[str]:
    """Everything in a tree, folders included; the tree's own folder is `.`."""
    folders = {"."}
    for entry in tree.entries:
        above = entry.path.rpartition("/")[0]
        while above and above not in folders:
            folders.add(above)
            above = above.rpartition("/")[0]
    return [*sorted(folders), *(entry.path for entry in tree.entries)]


@dataclass(frozen=True, slots=True)
class _Seen:
    """One value over all that the kernel says of a tree, when anything of it changed last, and which it is."""

    fingerprint: str
    changed_ns: int
    folder: tuple[int, int]


def _seen(plugin: Path, paths: Sequence[str]) -> _Seen:
    """No call of it follows a link at the end of a path; one on the way would show as itself."""
    numbers: list[int] = []
    newest = 0
    top = os.open(plugin, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        itself = os.fstat(top)
        for path in paths:
            found = os.stat(path, dir_fd=top, follow_symlinks=False)
            modified, changed = found.st_mtime_ns, found.st_ctime_ns
            numbers += (*found[:7], modified, changed)
            newest = max(newest, modified, changed)
    finally:
        os.close(top)
    fingerprint = hashlib.sha256(array("q", numbers).tobytes()).hexdigest()
    return _Seen(fingerprint, newest, (itself.st_dev, itself.st_ino))

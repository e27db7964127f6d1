"""Reads the tree of one plugin, once: every name, every byte, each link as a link.

Rules kept: the walk goes by descriptors, from the plugin's folder down, and follows no link in any
component, so that whoever swaps names while it runs cannot make it read elsewhere; nothing but plain
files is opened to be read, and nothing blocks. What no plugin may have is refused with its own reason
(`pluginproblems.Rejection`): bytecode, folders without anything in them, devices, pipes and sockets,
set-id bits, names that are not UTF-8 or that another system would take for the same, links that leave
the plugin, lead nowhere or in circles, and trees beyond the bounds below. A file whose status changes
between before and after its bytes were read, and a folder whose names do, is refused as well. There is
no list of ignored names.

What it does not promise: that the tree is still the same afterwards. So with `keep_contents` the very
bytes that were hashed are handed on, and only those may be loaded. Owner, group, times, access lists,
extended attributes and the modes of folders are not looked at.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NoReturn

from consentry.base.canonical import Digest
from consentry.base.treedigest import MOST_PATH, EntryKind, TreeEntry, in_order, tree_digest
from consentry.base.values import dataclass, field
from consentry.examine.pluginlinks import check_links
from consentry.examine.pluginnames import checked_names
from consentry.examine.pluginproblems import Rejection, VerificationError

__all__ = ["EntryKind", "PluginTree", "TreeEntry", "read_tree"]

MOST_ENTRIES: Final = 50_000
MOST_FILE: Final = 64 << 20
MOST_BYTES: Final = 256 << 20
MOST_DEPTH: Final = 64
"""Folders inside folders."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe that took the place of a file would hold us for ever; what it is, is asked afterwards.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_SET_ID: Final = stat.S_ISUID | stat.S_ISGID


@dataclass(frozen=True, slots=True)
class PluginTree:
    """What lies in a plugin's folder, and the digest over it.

    `entries` are sorted by the bytes of their paths; `contents` has the bytes of every file by its
    path, where they were asked for. `folder` is the device and inode of the folder that was read, for
    whoever looks at the same name again later.
    """

    name: str
    entries: tuple[TreeEntry, ...]
    digest: Digest
    contents: Mapping[str, bytes] | None = None
    folder: tuple[int, int] | None = field(default=None, compare=False)


def read_tree(folder: Path, *, keep_contents: bool) -> PluginTree:
    """Reads and hashes everything below `folder`, or raises `VerificationError`."""
    walk = _Walk(folder.name, keep_contents=keep_contents)
    descriptor = walk.open_top(folder)
    try:
        found = os.fstat(descriptor)
        walk.visit(descriptor, "", 1)
    finally:
        os.close(descriptor)
    check_links(folder.name, walk.folders, walk.links, walk.files)
    entries = in_order(walk.entries)
    identity = found.st_dev, found.st_ino
    return PluginTree(folder.name, entries, tree_digest(entries), walk.contents, identity)


class _Walk:
    """One pass over a tree; what it found so far."""

    def __init__(self, plugin: str, *, keep_contents: bool) -> None:
        self._plugin = plugin
        self._bytes = 0
        self.entries: list[TreeEntry] = []
        self.folders: set[str] = set()
        self.files: set[str] = set()
        self.links: dict[str, str] = {}
        self.contents: dict[str, bytes] | None = {} if keep_contents else None

    def refuse(self, reason: Rejection, message: str) -> NoReturn:
        """Raises: nothing of this tree is taken."""
        raise VerificationError(reason, self._plugin, message)

    def open_top(self, folder: Path) -> int:
        """The plugin's own folder, which must not be a link."""
        try:
            return os.open(folder, _FOLDER)
        except FileNotFoundError:
            self.refuse(Rejection.MISSING_PLUGIN, f"`{folder}` does not exist")
        except OSError as problem:
            if problem.errno in (errno.ELOOP, errno.ENOTDIR):
                self.refuse(
                    Rejection.SPECIAL_FILE, f"`{folder}` is not a folder; a link is not followed"
                )
            self._unreadable(str(folder), problem)

    def visit(self, descriptor: int, above: str, depth: int) -> None:
        """Everything in one folder, and in those below it; `above` ends with `/` or is empty."""
        if depth > MOST_DEPTH:
            self.refuse(Rejection.TOO_LARGE, f"`{above}` lies deeper than {MOST_DEPTH} folders")
        before = _state(os.fstat(descriptor))
        found = self._listed(descriptor, above)
        if not found:
            where = f"`{above}`" if above else "the plugin"
            self.refuse(Rejection.EMPTY_FOLDER, f"{where} has nothing in it, and git would lose it")
        texts = checked_names(self._plugin, above, [each.name for each in found])
        if len(self.entries) + len(found) > MOST_ENTRIES:
            self.refuse(Rejection.TOO_LARGE, f"there are more than {MOST_ENTRIES:,} files")
        self.folders.add(above[:-1])
        for each, text in zip(found, texts, strict=True):
            path = above + text
            if len(path) > MOST_PATH:
                self.refuse(Rejection.TOO_LARGE, f"the path `{path}` is longer than {MOST_PATH:,}")
            if each.is_file(follow_symlinks=False):
                self._file(descriptor, each.name, path)
            elif each.is_symlink():
                self._link(descriptor, each.name, path)
            elif each.is_dir(follow_symlinks=False):
                self._inner(descriptor, each.name, path, depth)
            else:
                self.refuse(Rejection.SPECIAL_FILE, f"`{path}` is a device, pipe or socket")
        again = {each.name for each in self._listed(descriptor, above)}
        if again != {each.name for each in found} or _state(os.fstat(descriptor)) != before:
            self._changed(above or self._plugin)

    def _listed(self, descriptor: int, above: str) -> list[os.DirEntry[str]]:
        found = []
        try:
            with os.scandir(descriptor) as listing:
                for each in listing:
                    found.append(each)
                    if len(found) > MOST_ENTRIES:
                        self.refuse(
                            Rejection.TOO_LARGE, f"there are more than {MOST_ENTRIES:,} files"
                        )
        except OSError as problem:
            self._unreadable(above or self._plugin, problem)
        return found

    def _inner(self, descriptor: int, name: str, path: str, depth: int) -> None:
        inner = self._opened(descriptor, name, path, _FOLDER)
        try:
            self.visit(inner, path + "/", depth + 1)
        finally:
            os.close(inner)

    def _link(self, descriptor: int, name: str, path: str) -> None:
        try:
            text = os.readlink(os.fsencode(name), dir_fd=descriptor)
        except OSError:
            self._changed(path)
        try:
            self.links[path] = text.decode()
        except UnicodeDecodeError:
            self.refuse(Rejection.NAME_NOT_UTF8, f"the link `{path}` leads to what is not UTF-8")
        digest = Digest(f"sha256:{hashlib.sha256(text).hexdigest()}")
        self.entries.append(TreeEntry(path, EntryKind.LINK, False, len(text), digest))  # noqa: FBT003

    def _file(self, descriptor: int, name: str, path: str) -> None:
        opened = self._opened(descriptor, name, path, _FILE)
        try:
            before = os.fstat(opened)
            if not stat.S_ISREG(before.st_mode):
                self._changed(path)
            if before.st_mode & _SET_ID:
                self.refuse(Rejection.SET_ID, f"`{path}` has a set-user or set-group bit")
            content = self._content(opened, path, before.st_size)
            if _state(os.fstat(opened)) != _state(before):
                self._changed(path)
        finally:
            os.close(opened)
        digest = Digest(f"sha256:{hashlib.sha256(content).hexdigest()}")
        executable = bool(before.st_mode & stat.S_IXUSR)
        self.entries.append(TreeEntry(path, EntryKind.FILE, executable, len(content), digest))
        self.files.add(path)
        if self.contents is not None:
            self.contents[path] = content

    def _content(self, opened: int, path: str, size: int) -> bytes:
        self._bytes += size
        if size > MOST_FILE or self._bytes > MOST_BYTES:
            bound = MOST_FILE if size > MOST_FILE else MOST_BYTES
            self.refuse(Rejection.TOO_LARGE, f"`{path}` goes beyond {bound >> 20} MiB")
        try:
            # One byte more than there should be: a file that grows is seen.
            content = os.read(opened, size + 1)
            while len(content) < size and (part := os.read(opened, size + 1 - len(content))):
                content += part
        except OSError as problem:
            self._unreadable(path, problem)
        if len(content) != size:
            self._changed(path)
        return content

    def _opened(self, descriptor: int, name: str, path: str, flags: int) -> int:
        try:
            return os.open(name, flags, dir_fd=descriptor)
        except OSError as problem:
            if problem.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENOENT, errno.ENXIO):
                self._changed(path)
            self._unreadable(path, problem)

    def _unreadable(self, path: str, problem: OSError) -> NoReturn:
        said = (problem.strerror or "cannot be read").lower()
        self.refuse(Rejection.UNREADABLE, f"`{path}`: {said}")

    def _changed(self, path: str) -> NoReturn:
        self.refuse(Rejection.CHANGED_WHILE_READ, f"`{path}` changed while it was read")


def _state(found: os.stat_result) -> tuple[int, ...]:
    return (
        found.st_dev,
        found.st_ino,
        found.st_mode,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )

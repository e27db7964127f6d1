"""A folder held open, and everything below it reached without following a link.

Paths are bytes, relative to that folder, `/`-separated, without `.` and `..`; the empty path is the
folder itself. No path is longer than the kernel takes in one call, so every folder is one call away
and depth costs neither memory nor descriptors.
"""

import os
import stat
from collections import OrderedDict
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import Final, Self

from consentry.enforce.filecalls import open_beneath, set_mode, status_of

LONGEST_PATH: Final = 4000
"""Longer ones are refused: no ordinary program could open them."""
_KEPT_OPEN: Final = 32
_MANY, _AT_A_TIME = 100, 8
_OWNER_ALL: Final = 0o700


class TooMany(Exception):
    """A folder with more names than may be looked at."""


class Tree:
    """What lies below one folder. Owns the descriptor; closes it with its own."""

    def __init__(self, descriptor: int, *, crosses_mounts: bool = False) -> None:
        self.descriptor = descriptor
        self._crosses_mounts = crosses_mounts
        self._open: OrderedDict[bytes, int] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self, path: bytes, flags: int) -> int:
        """A descriptor of the caller's own."""
        return open_beneath(self.descriptor, path, flags, crosses_mounts=self._crosses_mounts)

    def open_in_folder(self, path: bytes, flags: int) -> int:
        """As `open`, through the folder that is lent: quicker for one file after the other."""
        folder, name = self.place(path)
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)

    def folder(self, path: bytes) -> int:
        """A folder, good for naming what is in it; lent until the next few are asked for."""
        if not path:
            return self.descriptor
        held = self._open.get(path)
        if held is None:
            held = self.open(path, os.O_PATH | os.O_DIRECTORY)
            self._open[path] = held
            if len(self._open) > _KEPT_OPEN:
                os.close(self._open.popitem(last=False)[1])
        else:
            self._open.move_to_end(path)
        return held

    def place(self, path: bytes) -> tuple[int, bytes]:
        """The folder that a path lies in, and its name there."""
        above, _, name = path.rpartition(b"/")
        return self.folder(above), name

    def status(self, path: bytes) -> os.stat_result | None:
        """What stands there; None for nothing, `OSError` where its folder cannot be reached."""
        return status_of(*self.place(path)) if path else os.fstat(self.descriptor)

    def names(self, path: bytes, most: int) -> list[bytes]:
        """The names in a folder, sorted; raises `TooMany`."""
        descriptor = self.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return names_in(descriptor, most)
        finally:
            os.close(descriptor)

    def forget(self) -> None:
        """Looks every folder up again from here on."""
        while self._open:
            os.close(self._open.popitem()[1])

    def close(self) -> None:
        """Gives every descriptor back."""
        self.forget()
        os.close(self.descriptor)


def names_in(descriptor: int, most: int) -> list[bytes]:
    """The names in an opened folder, sorted; raises `TooMany`."""
    with os.scandir(descriptor) as entries:
        names = [os.fsencode(entry.name) for entry in islice(entries, most + 1)]
    if len(names) > most:
        raise TooMany
    return sorted(names)


def below(path: bytes, name: bytes) -> bytes:
    """The path of `name` in the folder `path`."""
    return path + b"/" + name if path else name


def by_place(path: bytes) -> bytes:
    """Sorts a folder right before what is in it."""
    return path.replace(b"/", b"\0")


def remove_folder(around: Path, name: str) -> None:
    """Removes a folder of ours with all below it; nothing there is fine."""
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    with Tree(os.open(around, flags)) as tree:
        remove_tree(tree, os.fsencode(name))


def remove_tree(tree: Tree, path: bytes) -> None:
    """Removes a file, or a folder with all below it; nothing there is fine.

    Folders whose modes stand in the way are opened up first: what is removed here is ours.
    """
    tree.forget()
    found = tree.status(path)
    if found is None:
        return
    if not stat.S_ISDIR(found.st_mode):
        folder, name = tree.place(path)
        os.unlink(name, dir_fd=folder)
        return
    emptied = [path]
    for folder_path in emptied:
        emptied.extend(_without_files(tree, folder_path))
    for folder_path in reversed(emptied):
        folder, name = tree.place(folder_path)
        os.rmdir(name, dir_fd=folder)
        tree.forget()


def _unlink_all(folder: int, names: list[bytes]) -> None:
    """Removes files, several at a time where there are many: each waits for the disk."""
    problems: list[OSError] = []

    def unlink(some: list[bytes]) -> None:
        try:
            for name in some:
                os.unlink(name, dir_fd=folder)
        except OSError as problem:
            problems.append(problem)

    others = _AT_A_TIME - 1 if len(names) >= _MANY else 0
    threads = [Thread(target=unlink, args=(names[n :: others + 1],)) for n in range(others)]
    for thread in threads:
        thread.start()
    unlink(names[others :: others + 1])
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def _without_files(tree: Tree, path: bytes) -> list[bytes]:
    """Removes the files in a folder; returns the folders in it."""
    held = tree.open(path, os.O_PATH | os.O_DIRECTORY)
    try:
        if os.fstat(held).st_mode & _OWNER_ALL != _OWNER_ALL:
            set_mode(held, _OWNER_ALL)
        reader = os.open(b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=held)
        try:
            with os.scandir(reader) as entries:
                kinds = [
                    (os.fsencode(entry.name), entry.is_dir(follow_symlinks=False))
                    for entry in entries
                ]
        finally:
            os.close(reader)
        _unlink_all(held, [name for name, is_folder in kinds if not is_folder])
    finally:
        os.close(held)
    return [below(path, name) for name, is_folder in kinds if is_folder]

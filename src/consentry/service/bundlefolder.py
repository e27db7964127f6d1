"""Reads a patch bundle from the disk: a folder, or one JSON file (CONTRACTS §12-bundle).

    patch.diff          the diff
    touched_paths       a JSON list or one path a line; `.json` or `.txt` may stand behind the name
    new_deps            the same, if there are any
    base/  after/       the files as they were, and as they are, by path

No link is followed: in `base/` and `after/` one is a blob that holds its target. A pipe, a socket or a
device is nothing that a patch can have. Names are bytes, and everything is bounded. Other files of the
folder are not looked at: people keep their wish beside a bundle.

What is wrong with a bundle raises `BundleIncomplete`; only a name that leads nowhere is a mistake of
whoever typed it.
"""

import os
import stat
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.declare.patchbundle import (
    MOST_BLOB,
    MOST_PATHS,
    MOST_TOGETHER,
    Blob,
    BundleIncomplete,
    PatchBundle,
    bundle_from_parts,
)
from consentry.declare.patchbundlefile import MOST_JSON, read_bundle_json, read_list
from consentry.enforce.foldertree import LONGEST_PATH, TooMany, Tree, below
from consentry.service.userfiles import opened_for_reading

_DIFF: Final = b"patch.diff"
_TOUCHED: Final = b"touched_paths"
_NEW_DEPS: Final = b"new_deps"
_ENDINGS: Final = (b"", b".json", b".txt")
_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


def read_bundle(name: str) -> PatchBundle:
    """The bundle in a folder or a JSON file of that name; raises `BundleIncomplete`."""
    if Path(name).is_dir():
        return read_bundle_folder(name)
    with opened_for_reading(name) as handle:
        content = handle.read(MOST_JSON + 1)
    return read_bundle_json(content)


def read_bundle_folder(name: str) -> PatchBundle:
    """The bundle in a folder; raises `BundleIncomplete`."""
    try:
        descriptor = os.open(name, _FOLDER)
    except OSError as problem:
        said = (problem.strerror or "cannot be used").lower()
        raise UsageProblem(Code.FILE_UNUSABLE, f"`{name}`: {said}") from problem
    with Tree(descriptor) as tree:
        try:
            return _read(_Reading(tree))
        except OSError as problem:
            said = (problem.strerror or "cannot be read").lower()
            raise BundleIncomplete(f"the bundle cannot be read: {said}") from problem
        except TooMany:
            raise BundleIncomplete(f"a folder has more than {MOST_PATHS:,} names") from None


def _read(reading: "_Reading") -> PatchBundle:
    touched = reading.listed(_TOUCHED)
    if touched is None:
        raise BundleIncomplete("`touched_paths` is missing")
    return bundle_from_parts(
        diff=reading.file(_DIFF),
        touched_paths=touched,
        new_deps=reading.listed(_NEW_DEPS) or (),
        base=reading.blobs(b"base"),
        after=reading.blobs(b"after"),
    )


class _Reading:
    """What was read of one folder so far, in bytes and in files."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._left = MOST_TOGETHER
        self._files = 2 * MOST_PATHS

    def file(self, path: bytes) -> bytes | None:
        """The content of a plain file; None where there is none."""
        found = self._tree.status(path)
        if found is None:
            return None
        if not stat.S_ISREG(found.st_mode):
            raise BundleIncomplete("it is no plain file", _text(path))
        return self._content(path)

    def listed(self, name: bytes) -> tuple[str, ...] | None:
        """The entries of a list, under whichever of its names it has."""
        there = [name + end for end in _ENDINGS if self._tree.status(name + end) is not None]
        if len(there) > 1:
            raise BundleIncomplete(f"`{name.decode()}` is there twice")
        content = self.file(there[0]) if there else None
        return None if content is None else read_list(content, there[0].decode())

    def blobs(self, top: bytes) -> dict[str, Blob]:
        """The files below a folder, by their path from there; none where there is no folder."""
        found: dict[str, Blob] = {}
        if self._tree.status(top) is None:
            return found
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            for name in self._tree.names(folder, MOST_PATHS):
                path = below(folder, name)
                if len(path) > LONGEST_PATH:
                    raise BundleIncomplete(f"a path has more than {LONGEST_PATH:,} bytes")
                blob = self._blob(path)
                if blob is None:
                    waiting.append(path)
                else:
                    found[_text(path[len(top) + 1 :])] = blob
        return found

    def _blob(self, path: bytes) -> Blob | None:
        """What lies there as a blob; None for a folder."""
        self._files -= 1
        if self._files < 0:
            raise BundleIncomplete(f"there are more than {2 * MOST_PATHS:,} files and folders")
        folder, name = self._tree.place(path)
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            return None
        if stat.S_ISLNK(mode):
            return Blob(os.readlink(name, dir_fd=folder), "120000")
        if not stat.S_ISREG(mode):
            raise BundleIncomplete("it is neither a file, a folder nor a link", _text(path))
        return Blob(self._content(path), "100755" if mode & stat.S_IXUSR else "100644")

    def _content(self, path: bytes) -> bytes:
        # A pipe that takes the place of a file would hold us; what it is, is asked again.
        opened = self._tree.open_in_folder(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(opened, "rb") as handle:
            if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
                raise BundleIncomplete("it changed while it was read", _text(path))
            content = handle.read(min(MOST_BLOB, self._left) + 1)
        self._left -= len(content)
        if len(content) > MOST_BLOB or self._left < 0:
            raise BundleIncomplete("the bundle is too large", _text(path))
        return content


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")

"""The note in a layer on the disk: where its parts lie, and whether anybody could still write to them.

A layer is a folder that holds `upper0`, `upper1` and so on, one for each root. In memory they are all
there. On the disk a part lies on the file system of its own root, which may be another one: the note
says where. A layer without a note is one in memory, and goes when its last descriptor is closed.
"""

import errno
import json
import os
from typing import Any, Final

from consentry.base.values import dataclass
from consentry.enforce.filecalls import open_beneath

NOTE: Final = "note"
KEPT: Final = "kept"
"""A file of this name keeps a layer from being removed when nobody has it open any more."""

_VERSION: Final = 1
_MOST_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Part:
    """The folder with one root's `upper` and `scratch`; without a path, it is the layer itself."""

    number: int
    path: bytes | None = None


@dataclass(frozen=True, slots=True)
class LayerNote:
    """What is known of a layer on the disk.

    `is_alone`: the kernel said that no process has a file of it open, mapped or as its folder, and
    no file system shows it; what is in it cannot change any more.
    """

    parts: tuple[Part, ...]
    is_alone: bool = False

    def path_of(self, number: int) -> bytes | None:
        """Where a root's part lies, if elsewhere than in the layer."""
        return next((each.path for each in self.parts if each.number == number), None)

    def keep(self, layer: int) -> None:
        """Writes it, so that it is there whole or not at all."""
        kept = {
            "version": _VERSION,
            "alone": self.is_alone,
            "parts": [
                [each.number, None if each.path is None else os.fsdecode(each.path)]
                for each in self.parts
            ],
        }
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        opened = os.open(f"{NOTE}.tmp", flags, 0o600, dir_fd=layer)
        try:
            os.write(opened, json.dumps(kept).encode("ascii"))
        finally:
            os.close(opened)
        os.rename(f"{NOTE}.tmp", NOTE, src_dir_fd=layer, dst_dir_fd=layer)


def note_of(layer: int) -> LayerNote | None:
    """The note of a layer; None of one in memory, `OSError` for one that cannot be read."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        opened = os.open(NOTE, flags, dir_fd=layer)
    except FileNotFoundError:
        return None
    try:
        content = os.read(opened, _MOST_BYTES)
    finally:
        os.close(opened)
    try:
        kept: dict[str, Any] = json.loads(content)
        if kept["version"] != _VERSION:
            raise ValueError
        parts = tuple(
            Part(number, None if path is None else os.fsencode(path))
            for number, path in kept["parts"]
        )
        return LayerNote(parts, is_alone=kept["alone"] is True)
    except (ValueError, KeyError, TypeError):
        raise OSError(errno.EINVAL, "the note of the layer cannot be read", NOTE) from None


def is_kept(layer: int) -> bool:
    """Whether somebody needs it when it is let go of."""
    try:
        os.stat(KEPT, dir_fd=layer, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def opened_part(layer: int, number: int, note: LayerNote | None) -> int:
    """The folder with a root's `upper`; the caller's to close."""
    path = None if note is None else note.path_of(number)
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    if path is None:
        return os.open(b".", flags, dir_fd=layer)
    top = os.open(b"/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        how = os.O_PATH | os.O_DIRECTORY
        return open_beneath(top, path.strip(b"/"), how, crosses_mounts=True)
    finally:
        os.close(top)

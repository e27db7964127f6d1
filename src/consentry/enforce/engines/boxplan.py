"""What a compiled plan puts where, in words that every engine can be told in.

The plan of the native engine decides what a run sees: grants, hidden places, its own folders, the
small files of `/etc`, sealed copies. Here its steps become a short list of things, so that the other
engines show the same box and decide nothing themselves. What needs a means that only the native
engine has is not in the list: `required` says so before.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.engine import Control, Lacking
from consentry.enforce.native.planner import Plan
from consentry.enforce.native.runtime import Step
from consentry.enforce.sealing import SealedFile


@dataclass(frozen=True, slots=True)
class Folder:
    """An empty folder, with those above it."""

    path: str


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link."""

    target: str
    path: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A file or folder of the host, with all that is mounted below it.

    `identity` is which file that was when the plan was made, and None where anybody's guess is as good.
    """

    source: str
    path: str
    identity: tuple[int, int] | None
    is_writable: bool


@dataclass(frozen=True, slots=True)
class Text:
    """A small file that is written for the box."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Own:
    """An empty folder of the run's own, in memory."""

    path: str
    is_writable: bool


@dataclass(frozen=True, slots=True)
class Hidden:
    """What is at that name cannot be seen, and nothing can be made there."""

    path: str
    is_folder: bool


@dataclass(frozen=True, slots=True)
class Copy:
    """The bytes of a sealed file, by its number, at the path they came from; read-only, to be run."""

    index: int
    path: str


@dataclass(frozen=True, slots=True)
class Devices:
    """The usual harmless devices at `/dev`, with terminals of the box's own."""


@dataclass(frozen=True, slots=True)
class Processes:
    """The box's own `/proc`; `hidden` are files of it that tell too much."""

    hidden: tuple[str, ...]


Item: TypeAlias = Folder | Link | Shown | Text | Own | Hidden | Copy | Devices | Processes

_OF_A_LAYER: Final = ("layer", "limit")
_MADE_BY_MOUNTING: Final = ("empty",)


def box_items(plan: Plan) -> Iterator[Item]:
    """In the order in which they are to be put there: later ones lie over earlier ones."""
    for step in plan.steps:
        item = _item(step)
        if item is not None:
            yield item


def _item(step: Step) -> Item | None:  # noqa: PLR0911 - one line for each kind
    match step:
        case ("dir", str(path), *_):
            return Folder(path)
        case ("link", str(target), str(path)):
            return Link(target, path)
        case (("bind" | "view"), str(source), str(path), tuple(how), identity):
            known = None if identity is None else _identity(identity)
            return Shown(source, path, known, is_writable="ro" not in how)
        case ("again", str(path), tuple(how)) if "ro" in how and "noexec" not in how:
            return Shown(path, path, None, is_writable=False)
        case ("file", str(path), bytes(content), *_):
            return Text(path, content)
        case ("own", str(path), int(mode), *_):
            return Own(path, is_writable=bool(mode & 0o200))
        case ("hide_folder" | "hide_file" as how, str(path)):
            return Hidden(path, is_folder=how == "hide_folder")
        case ("copy", int(index), str(path), *_):
            return Copy(index, path)
        case ("devices",):
            return Devices()
        case ("proc", hidden):
            return Processes(_texts(hidden))
        case _:
            return None


def untold(plan: Plan) -> Iterator[Lacking]:
    """Steps that are in no list because no other engine could be told of them."""
    for step in plan.steps:
        if _item(step) is None and step[0] not in (*_MADE_BY_MOUNTING, *_OF_A_LAYER, "again"):
            yield Lacking(Control.READS, f"`{step[0]}` is a step that only `native` can take")


def held_places(items: Sequence[Item]) -> dict[Shown, int]:
    """Opens what was looked at when the plan was made; raises where something else is there now.

    The descriptors name the very files, and are the caller's to close.
    """
    held: dict[Shown, int] = {}
    try:
        for item in items:
            if isinstance(item, Shown) and item.identity is not None and item not in held:
                held[item] = _opened_same(item.source, item.identity)
    except BaseException:
        for descriptor in held.values():
            os.close(descriptor)
        raise
    return held


def fresh(sealed: SealedFile) -> int:
    """Another descriptor of the sealed bytes, at their beginning; the caller's to close."""
    return os.open(f"/proc/self/fd/{sealed.descriptor}", os.O_RDONLY | os.O_CLOEXEC)


def _opened_same(path: str, identity: tuple[int, int]) -> int:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        raise _replaced(path) from None
    found = os.fstat(descriptor)
    if (found.st_dev, found.st_ino) != identity:
        os.close(descriptor)
        raise _replaced(path)
    return descriptor


def _replaced(path: str) -> Refused:
    message = f"`{Path(path)}` is not the file it was a moment ago, so nothing was started"
    return Refused(Code.FILESYSTEM_RACE, message)


def _identity(told: object) -> tuple[int, int]:
    if not isinstance(told, tuple):
        raise TypeError("an identity is a device and an inode")
    device, inode = told
    return int(device), int(inode)


def _texts(told: object) -> tuple[str, ...]:
    if not isinstance(told, tuple):
        raise TypeError("a list of paths")
    return tuple(map(str, told))

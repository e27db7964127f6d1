"""What is mounted where in a container, from what a plan puts into a box.

A container's makers mount in the order of depth, whatever order they are told; so what would come to
lie below a later mount is left out here. Folders of the host are bound with all that is mounted below
them, and each such mount is bound once more by itself: read-only is said of one mount, not of those
below it.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.engines.boxplan import (
    Copy,
    Folder,
    Hidden,
    Item,
    Link,
    Own,
    Shown,
    Text,
)
from consentry.enforce.mounts import Mount as HostMount

CLOSED_BYTES: Final = 4096
"""Of a folder in memory in which there is nothing to be made."""

SYSTEM: Final = "/sys"
_COVERED_IN_SYSTEM: Final = (
    "block", "bus", "class", "dev", "devices", "firmware", "hypervisor", "kernel", "module",
    "power",
)  # fmt: skip
"""All of `/sys` but the folder with the container's own groups."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A file or folder of the host."""

    source: str
    path: str
    is_writable: bool = False


@dataclass(frozen=True, slots=True)
class InMemory:
    """An empty folder in memory."""

    path: str
    size: int
    mode: int
    is_writable: bool


@dataclass(frozen=True, slots=True)
class Mounting:
    """Everything to be mounted, and the links that are made before the program starts."""

    bound: tuple[Bound, ...]
    in_memory: tuple[InMemory, ...]
    links: tuple[tuple[str, str], ...]


def mounting_of(
    items: Sequence[Item],
    files: Mapping[str, str],
    own_bytes: Mapping[str, int],
    mounts: Sequence[HostMount],
    covers: Sequence[Bound | InMemory] = (),
) -> Mounting:
    """The mounts for these items.

    `files` are the places of the files that were written for the box, copies among them, by the path
    they have inside; `own_bytes` the sizes of the run's own folders; `covers` lie over what a folder
    of the host has at their place, and below what is shown there besides.
    """
    made: dict[str, Bound | InMemory] = {}
    for item in items:
        for mount in _mounts_of(item, files, own_bytes, mounts):
            _put(made, mount)
        if isinstance(item, Shown):
            for cover in covers:
                if _is_below(cover.path, item.path):
                    _put(made, cover)
    for item in items:
        if isinstance(item, Folder) and _is_missing(item.path, made):
            _put(made, InMemory(item.path, CLOSED_BYTES, 0o755, is_writable=False))
    return Mounting(
        tuple(each for each in made.values() if isinstance(each, Bound)),
        tuple(each for each in made.values() if isinstance(each, InMemory)),
        # Those of the root are the image's.
        tuple(
            (item.target, item.path)
            for item in items
            if isinstance(item, Link) and Path(item.path).parent != Path("/")
        ),
    )


def _mounts_of(
    item: Item,
    files: Mapping[str, str],
    own_bytes: Mapping[str, int],
    mounts: Sequence[HostMount],
) -> Iterator[Bound | InMemory]:
    match item:
        case Shown(source, path, _, is_writable):
            yield Bound(source, path, is_writable)
            for below in _mounted_below(source, mounts):
                yield Bound(below, path + below.removeprefix(source.rstrip("/")), is_writable)
        case Text(path, _) | Copy(_, path) | Hidden(path, False):
            yield Bound(files[path], path)
        case Hidden(path, _):
            yield InMemory(path, CLOSED_BYTES, 0, is_writable=False)
        case Own(path, _):
            # Links are made in it first; Landlock says what the program may do there.
            yield InMemory(path, own_bytes[path], 0o1777, is_writable=True)
        case _:
            pass  # devices and `/proc` are the container's own


def covered_in_system(root: Path = Path(SYSTEM)) -> Iterator[InMemory]:
    """What the host's `/sys` tells of it."""
    for name in _COVERED_IN_SYSTEM:
        if (root / name).is_dir():
            yield InMemory(f"{SYSTEM}/{name}", CLOSED_BYTES, 0o555, is_writable=False)


def _put(made: dict[str, Bound | InMemory], mount: Bound | InMemory) -> None:
    for path in [each for each in made if _is_below(each, mount.path)]:
        del made[path]
    made.pop(mount.path, None)
    made[mount.path] = mount


def _mounted_below(source: str, mounts: Sequence[HostMount]) -> Iterator[str]:
    for point in sorted({each.point for each in mounts if each.kind != "autofs"}):
        if _is_below(point, source) and (Path(point).is_dir() or Path(point).is_file()):
            yield point


def _is_missing(path: str, made: Mapping[str, Bound | InMemory]) -> bool:
    """Whether nothing would make that folder: no mount at or below it, none that has it."""
    if any(each == path or _is_below(each, path) for each in made):
        return False
    around = [each for each in made.values() if _is_below(path, each.path)]
    if not around:
        return True
    innermost = max(around, key=lambda each: len(each.path))
    if isinstance(innermost, InMemory):
        return True
    return not Path(innermost.source + path.removeprefix(innermost.path)).is_dir()


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")

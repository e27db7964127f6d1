"""The parts of a plan: which steps and rights each kind of grant becomes."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from consentry.base.values import dataclass
from consentry.enforce.confinement import Confinement
from consentry.enforce.facts import HostView
from consentry.enforce.mounts import Mount, is_socketless, read_mounts
from consentry.enforce.native.rights import EXECUTE, READ, WRITE, Handled
from consentry.enforce.native.runtime import HOME, Runtime, Step, identity_of
from consentry.enforce.roots import Root, outermost
from consentry.surface.pattern import Anchor, Pattern, Wildcard
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import ProtectedRoots

Rule: TypeAlias = tuple[str, int]

READ_ONLY: Final = ("ro", "nosuid", "nodev", "idmap")


@dataclass(frozen=True, slots=True)
class Layered:
    """A root whose writes go to a layer: its number there, and the places writable below it."""

    number: int
    root: Root
    writable: tuple[Root, ...]


def layered_roots(reads: Iterable[Root], writes: Iterable[Root]) -> Iterator[Layered]:
    """The outermost roots with something writable at or below them, numbered."""
    wanted = [root for root in writes if root.path != Path("/")]
    number = 0
    for root in outermost([*reads, *wanted]):
        below = tuple(each for each in wanted if each.path.is_relative_to(root.path))
        if below:
            yield Layered(number, _folder_of(root), below)
            number += 1


def around_layers(reads: Iterable[Root], writes: Iterable[Root]) -> Iterator[Root]:
    """The readable roots that become part of a layer where something in them is writable.

    A pattern stays out of it if what is writable are folders below, so that it can be held file by
    file around them: a layer has a place to be mounted at only where its folder exists.
    """
    places = [writable_place(root) for root in writes]
    for root in reads:
        below = [place for place in places if place.is_relative_to(root.path)]
        is_around = all(place != root.path and place.is_dir() for place in below)
        if root.is_whole or not is_around:
            yield root


def _folder_of(root: Root) -> Root:
    """A layer lies over a folder; over the parent, where a single file may be written."""
    if not _is_file(root):
        return root
    parent = root.path.parent
    found = parent.stat()
    return Root(
        parent, root.pattern, is_whole=False, is_folder=True, identity=(found.st_dev, found.st_ino)
    )


def apart_from_layers(
    reads: Iterable[Root], layered: Iterable[Layered], runtime: Runtime
) -> Iterator[Root]:
    """The roots that are only read, and that nothing else shows already."""
    shown = [*runtime.roots, *(str(layer.root.path) for layer in layered)]
    for root in outermost(reads):
        if root.exists and not any(root.path.is_relative_to(above) for above in shown):
            yield root


def layer_steps(layered: Iterable[Layered], *, runs_any: bool) -> Iterator[Step]:
    """Each layer at its place, with the folders that are to be writable and do not exist yet."""
    for layer in layered:
        root, folders = layer.root, made_folders(layer)
        attributes = () if runs_any else ("noexec",)
        yield ("dir", str(root.path))
        source = str(root.path) if root.exists else None
        yield ("layer", source, str(root.path), attributes, root.identity, folders)
        # Landlock only adds up: a writable folder above would open all of this. Mounts take away.
        places = dict.fromkeys(map(writable_place, layer.writable))
        if root.path not in places:
            for place in places:
                yield ("again", str(place), ())
            yield ("limit", str(root.path), ("ro",))


def made_folders(layer: Layered) -> tuple[str, ...]:
    """The folders that are to be writable and do not exist yet, relative to the layer's root."""
    root = layer.root.path
    return tuple(
        str(each.path.relative_to(root))
        for each in layer.writable
        if not each.exists and not _is_file(each) and each.path != root
    )


def writable_place(root: Root) -> Path:
    """A file is replaced by its writers as often as it is written, so its folder is opened."""
    return root.path.parent if _is_file(root) else root.path


def _is_file(root: Root) -> bool:
    """Whether one file is meant, be it there already or not."""
    return not root.is_folder and (root.exists or not root.pattern.is_tree)


def bind_steps(readable: Iterable[Root]) -> Iterator[Step]:
    """Each root where it is outside."""
    mounts = read_mounts(HostView()) or ()
    for root in readable:
        path = str(root.path)
        if root.is_folder:
            yield ("dir", path)
            how = (*READ_ONLY, "socketless") if is_socketless(root.path, mounts) else READ_ONLY
            yield ("view", path, path, how, root.identity)
            yield from _mounted_steps(root.path, mounts)
        else:
            yield ("dir", str(root.path.parent))
            yield ("empty", path)
            yield ("bind", path, path, READ_ONLY, root.identity)


def _mounted_steps(folder: Path, mounts: tuple[Mount, ...]) -> Iterator[Step]:
    """What is mounted below a folder is a part of it, and no part of a view of it."""
    plain = ("ro", "nosuid", "nodev")
    for point in sorted({mount.point for mount in mounts if mount.kind != "autofs"}):
        path = Path(point)
        if path == folder or not path.is_relative_to(folder):
            continue
        if path.is_dir():
            how = (*plain, "socketless") if is_socketless(path, mounts) else plain
            yield ("view", point, point, how, None)
        elif path.is_file():
            # A socket with a mount of its own is not a file that can be read.
            yield ("bind", point, point, plain, None)


def layer_rules(layered: Iterable[Layered], handled: Handled, *, runs_any: bool) -> Iterator[Rule]:
    """A layer shows a whole root; what of it may be written is said one by one."""
    rights = WRITE | EXECUTE if runs_any else WRITE
    for layer in layered:
        for root in layer.writable:
            place = writable_place(root)
            if place == root.path:
                yield (str(place), handled.on(rights, folder=True))
            else:
                # The folder is opened for one file's sake; what lies beside it is not to be read.
                yield (str(place), handled.on(WRITE & ~READ, folder=True))
                yield (str(root.path), handled.on(rights, folder=False))


def read_rules(roots: Iterable[Root], handled: Handled, *, runs_any: bool) -> Iterator[Rule]:
    """What may be read as it is; with the power to run anything, started as well."""
    rights = READ | EXECUTE if runs_any else READ
    for root in roots:
        yield (str(root.path), handled.on(rights, folder=root.is_folder))


def program_steps(wanted: Confinement, *, runs_any: bool) -> Iterator[Step]:
    """Private copies of the hashed files at their own paths; other programs bound over `noexec`."""
    program = wanted.program
    for index, path in enumerate(program.copies):
        yield ("dir", str(path.parent))
        yield ("empty", str(path))
        yield ("copy", index, str(path), 0o555)
    if not runs_any:
        for path in program.startable:
            if path not in program.copies:
                identity = identity_of(path)
                yield ("bind", str(path), str(path), ("ro", "nosuid", "nodev"), identity)


def program_rules(wanted: Confinement, handled: Handled) -> Iterator[Rule]:
    """Only these files may be executed."""
    for path in (*wanted.program.copies, *wanted.program.startable):
        yield (str(path), handled.on(READ | EXECUTE, folder=False))


def own_folders(writes: PatternScope) -> tuple[tuple[str, bool], ...]:
    """The run's own folders, and whether it may write them."""
    is_writable = PatternScope.parse(["/tmp/"]) <= writes  # noqa: S108 - the box's own
    return (("/tmp", is_writable), (HOME, is_writable))  # noqa: S108 - as above


def home_steps(shown: Iterable[Root], home: Path | None) -> Iterator[Step]:
    """What is granted below the caller's home folder is found below the run's own one, too."""
    real = None if home is None else Path(os.path.realpath(home))
    for root in outermost(shown):
        if real is not None and root.path != real and root.path.is_relative_to(real):
            place = Path(HOME, root.path.relative_to(real))
            if place != root.path:
                yield ("dir", str(place.parent))
                yield ("link", str(root.path), str(place))


def protected_patterns(shown: Iterable[Root], protected: ProtectedRoots) -> Iterator[Pattern]:
    """What is never granted and lies in a root that is."""
    for root in shown:
        if root.is_folder:
            names = root.path.parts[1:]
            tree = Pattern.literal(Anchor.ABSOLUTE, names, and_below=Wildcard.FOLDERS)
            for row in protected.within(tree):
                yield row.pattern


def hidden_places(
    denied: Iterable[Pattern], shown: Iterable[Root], workspace: Path, home: Path | None
) -> Iterator[str]:
    """What lies inside a granted root, exists, and is denied: covered, so that it is not there."""
    roots = [root.path for root in shown if root.is_folder]
    for path in existing_places(denied, workspace, home):
        if any(path.is_relative_to(root) and path != root for root in roots):
            yield str(path)


def existing_places(
    denied: Iterable[Pattern], workspace: Path, home: Path | None
) -> Iterator[Path]:
    """What is there now of what the patterns name, each once."""
    seen: set[Path] = set()
    for pattern in denied:
        for spelled in _existing(pattern, workspace, home):
            # Nothing can be mounted over a link; what it leads to is what must not be there.
            path = Path(os.path.realpath(spelled))
            if path not in seen:
                seen.add(path)
                yield path


def _existing(pattern: Pattern, workspace: Path, home: Path | None) -> Iterator[Path]:
    names = pattern.prefix
    base = {Anchor.WORKSPACE: workspace, Anchor.ABSOLUTE: Path("/"), Anchor.HOME: home}.get(
        pattern.anchor
    )
    if base is None:
        return
    if pattern.is_literal or pattern.is_tree:
        path = base.joinpath(*names)
        if os.path.lexists(path):
            yield path
        return
    spelling = pattern.text.lstrip("/").removeprefix("~/").removesuffix("/**").rstrip("/")
    yield from base.glob(spelling)

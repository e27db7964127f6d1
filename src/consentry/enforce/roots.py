"""Binds the patterns of a surface to the real tree: which folders and files the kernel is told of.

A pattern is held by its literal root, the names before its first wildcard. Links are resolved once,
here; what a root turned out to be (device and inode) goes with it, so that an engine can tell when
something else is at that name later.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.surface.automaton import AllOf
from consentry.surface.entries import deepest_of
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import ProtectedRoots

OWN_FOLDERS = ("/tmp", "/home/user", "/dev/shm")  # noqa: S108 - those of the run, inside the box
"""Names that mean the run's own folders, and never the host's."""


@dataclass(frozen=True, slots=True)
class Root:
    """A place in the host's tree that a pattern leads to.

    `is_whole` says that the pattern opens everything at and below it; otherwise it is held rounded
    up to this root, or file by file. `identity` is None for a place that does not exist yet. `also`
    are the patterns that a path must match besides.
    """

    path: Path
    pattern: Pattern
    is_whole: bool
    is_folder: bool
    identity: tuple[int, int] | None
    also: tuple[Pattern, ...] = ()

    @property
    def exists(self) -> bool:
        """Whether there is such a place now."""
        return self.identity is not None


def bound_roots(
    scope: PatternScope, workspace: Path, home: Path | None, protected: ProtectedRoots
) -> tuple[Root, ...]:
    """The roots of every entry, in order of path; raises where one may not be granted."""
    found = [_bound(entry, workspace, home, protected) for entry in scope.entries]
    return tuple(sorted((root for root in found if root is not None), key=lambda r: str(r.path)))


def outermost(roots: Iterable[Root]) -> Iterator[Root]:
    """The roots that lie below no other one."""
    above: Path | None = None
    for root in sorted(roots, key=lambda r: r.path.parts):
        if above is None or not root.path.is_relative_to(above):
            above = root.path if root.is_folder or not root.exists else above
            yield root


def place_of(pattern: Pattern, workspace: Path, home: Path | None) -> Path | None:
    """The literal root of a pattern as a path of the host; None for what names no place."""
    match pattern.anchor:
        case Anchor.WORKSPACE:
            return workspace.joinpath(*pattern.prefix)
        case Anchor.ABSOLUTE:
            return Path("/", *pattern.prefix)
        case Anchor.HOME if home is not None:
            return home.joinpath(*pattern.prefix)
        case _:
            return None


def is_own(path: Path) -> bool:
    """Whether the name means one of the run's own folders."""
    return any(path.is_relative_to(folder) for folder in OWN_FOLDERS)


def _bound(
    entry: AllOf, workspace: Path, home: Path | None, protected: ProtectedRoots
) -> Root | None:
    pattern = deepest_of(entry)
    also = tuple(each for each in entry if each is not pattern)
    path = place_of(pattern, workspace, home)
    if path is None:
        raise Refused(Code.SURFACE_PATTERN, f"`{pattern.text}` names no place that could be bound")
    if pattern.anchor is not Anchor.WORKSPACE and is_own(path):
        return None
    real = Path(os.path.realpath(path))
    if real != path or pattern.anchor is not Anchor.WORKSPACE:
        _require_grantable(real, pattern, protected)
    found = _look(real)
    is_folder = found is not None and stat.S_ISDIR(found.st_mode)
    is_whole = not also and (pattern.is_tree or pattern.is_literal)
    identity = found and (found.st_dev, found.st_ino)
    return Root(real, pattern, is_whole, is_folder, identity, also)


def _require_grantable(real: Path, pattern: Pattern, protected: ProtectedRoots) -> None:
    names = tuple(part for part in real.parts if part != "/")
    row = protected.over(Pattern.literal(Anchor.ABSOLUTE, names)) if names else None
    if row is not None:
        leads = f"`{pattern.text}`" + ("" if str(real) == pattern.text else f" leads to `{real}`")
        raise Refused(
            Code.PROTECTED_ROOT,
            f"{leads}, which lies in `{row.pattern.text}` and is never granted: {row.why}",
        )


def _look(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise Refused(
            Code.FILE_UNUSABLE, f"`{path}`: {(problem.strerror or 'cannot be read').lower()}"
        ) from problem

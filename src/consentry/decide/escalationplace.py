"""Where a denied path lies, as far as its spelling says: in the workspace, or at an absolute place.

Only the spelling is looked at: `.`, empty names and `..` are removed, no link is followed and no file
is looked for. A path that climbs out of a workspace whose place is unknown lies nowhere that is known.
"""

import posixpath
from enum import StrEnum
from functools import lru_cache
from typing import Final

from consentry.base.values import dataclass
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.patterns import PatternScope

_WILDCARDS: Final = frozenset("*?")


class Exactness(StrEnum):
    """How exactly something was named."""

    EXACT = "exact"
    WHOLE = "whole"
    PATTERN = "pattern"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Place:
    """A path by its names: below the workspace or below `/`; the mark is for an unknown place."""

    anchor: Anchor
    names: tuple[str, ...]
    is_folder: bool = False

    @property
    def pattern(self) -> Pattern:
        """Exactly this path; a wildcard in it is just that character."""
        return Pattern.literal(self.anchor, self.names)

    def is_in(self, scope: PatternScope) -> bool:
        """Whether it lies in one of the folders of that scope."""
        return any(
            anchor is self.anchor and self.names[: len(root)] == root
            for anchor, root in _folders(tuple(scope))
        )


def place_of(resource: str, workspace: str | None) -> Place | None:
    """The place that a path names; None for what can be no path."""
    if not resource or "\0" in resource:
        return None
    base = workspace if workspace and workspace.startswith("/") else None
    is_folder = resource.endswith(("/", "/.", "/..")) or resource in (".", "..")
    if resource.startswith("/"):
        return _below(base, posixpath.normpath(resource), is_folder)
    inside = posixpath.normpath(resource)
    if inside != ".." and not inside.startswith("../"):
        names = () if inside == "." else tuple(inside.split("/"))
        return Place(Anchor.WORKSPACE, names, is_folder)
    if base is None:
        return Place(Anchor.MARK, (), is_folder)
    return _below(base, posixpath.normpath(f"{base}/{resource}"), is_folder)


def is_pattern(resource: str) -> bool:
    """Whether it has a wildcard in it."""
    return not _WILDCARDS.isdisjoint(resource)


def absolute_names(place: Place, workspace: str | None) -> tuple[str, ...] | None:
    """The names from `/` on; None where they are not known."""
    if place.anchor is Anchor.ABSOLUTE:
        return place.names
    if place.anchor is Anchor.WORKSPACE and workspace and workspace.startswith("/"):
        return (*_names(posixpath.normpath(workspace)), *place.names)
    return None


def _below(base: str | None, path: str, is_folder: bool) -> Place:  # noqa: FBT001 - our own
    names = _names(path)
    if base is not None:
        root = _names(posixpath.normpath(base))
        if names[: len(root)] == root:
            return Place(Anchor.WORKSPACE, names[len(root) :], is_folder)
    return Place(Anchor.ABSOLUTE, names, is_folder)


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in path.split("/") if name)


@lru_cache(maxsize=64)
def _folders(spelled: tuple[str, ...]) -> tuple[tuple[Anchor, tuple[str, ...]], ...]:
    patterns = [Pattern.parse(text) for text in spelled]
    return tuple((each.anchor, each.prefix) for each in patterns if each.is_tree)

"""Finds the files that a pattern matches, so that the kernel can be told of each one by its name.

The tree is followed from the pattern's literal root, name by name; a folder in which nothing can
match is not entered, and one in which everything does is taken whole. Links are neither followed nor
matched: what one leads to is open only if its own path matches. The walk is bounded, because a tree
is as large as whoever fills it likes; beyond the bound there is no answer, and the caller rounds up.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from consentry.base.values import dataclass, field
from consentry.enforce.roots import Root
from consentry.surface.automaton import AllOf, matches
from consentry.surface.pattern import Pattern, Segment, Wildcard

MOST_MATCHED: Final = 10_000
"""So many files get a rule each; loading one takes the kernel some microseconds."""

MOST_SEEN: Final = 100_000

_Positions: TypeAlias = frozenset[int]
_IsName: TypeAlias = Callable[[str], bool]


@dataclass(slots=True)
class Budget:
    """What is left for one plan: files to match, and names to look at."""

    matched: int = MOST_MATCHED
    seen: int = MOST_SEEN

    @property
    def is_spent(self) -> bool:
        """Whether the answer would be incomplete."""
        return self.matched < 0 or self.seen < 0


@dataclass(frozen=True, slots=True)
class Picked:
    """A root of which only what its pattern matched is open: single files, and whole folders."""

    root: Root
    files: frozenset[str]
    folders: tuple[str, ...]

    def has(self, place: str) -> bool:
        """Whether that file is open."""
        return place in self.files or any(place.startswith(f"{each}/") for each in self.folders)


def pick(root: Root, without: Sequence[str], budget: Budget) -> Picked | None:
    """What a root's pattern matches now, less what lies in `without`; None beyond the budget."""
    files: list[str] = []
    folders: list[str] = []
    waiting = [(str(root.path), _begun(root))] if root.is_folder else []
    closed = frozenset(without)
    while waiting and not budget.is_spent:
        folder, trails = waiting.pop()
        for entry in _listed(folder):
            budget.seen -= 1
            if entry.path in closed or budget.is_spent:
                continue
            after = [trail.after(entry.name) for trail in trails]
            if entry.is_dir(follow_symlinks=False):
                if all(trail.takes_all for trail in after):
                    folders.append(entry.path)
                elif all(trail.positions for trail in after):
                    waiting.append((entry.path, after))
            elif entry.is_file(follow_symlinks=False) and all(trail.accepts for trail in after):
                budget.matched -= 1
                files.append(entry.path)
    return None if budget.is_spent else Picked(root, frozenset(files), tuple(folders))


def is_matched(root: Root, place: str) -> bool:
    """Whether a path at or below a root is one that its pattern means."""
    trails = _begun(root)
    for name in Path(place).relative_to(root.path).parts:
        trails = [trail.after(name) for trail in trails]
    return all(trail.accepts for trail in trails)


def _listed(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []  # whoever cannot list it here cannot read in it there


@dataclass(frozen=True, slots=True)
class _Trail:
    """How far some names lead into a pattern: the places between its segments where they may be."""

    segments: tuple[Segment, ...]
    names: tuple[_IsName, ...] = field(repr=False)
    positions: _Positions

    @classmethod
    def of(cls, pattern: Pattern) -> "_Trail":
        names = tuple(_matcher(pattern, segment) for segment in pattern.segments)
        return cls(pattern.segments, names, _settled(pattern.segments, {0}))

    def after(self, name: str) -> "_Trail":
        moved = set()
        for at in self.positions:
            if at < len(self.segments) and self.names[at](name):
                moved.add(at if self.segments[at] is Wildcard.FOLDERS else at + 1)
        return _Trail(self.segments, self.names, _settled(self.segments, moved))

    @property
    def accepts(self) -> bool:
        return len(self.segments) in self.positions

    @property
    def takes_all(self) -> bool:
        """Whether it matches whatever names follow."""
        last = len(self.segments) - 1
        return last in self.positions and self.segments[last] is Wildcard.FOLDERS


def _begun(root: Root) -> list[_Trail]:
    entry: AllOf = (root.pattern, *root.also)
    trails = [_Trail.of(pattern) for pattern in entry]
    for name in root.pattern.prefix:
        trails = [trail.after(name) for trail in trails]
    return trails


def _settled(segments: tuple[Segment, ...], positions: set[int]) -> _Positions:
    """With the places behind `**`, which may stand for nothing."""
    for at, segment in enumerate(segments):
        if at in positions and segment is Wildcard.FOLDERS:
            positions.add(at + 1)
    return frozenset(positions)


def _matcher(pattern: Pattern, segment: Segment) -> _IsName:
    if isinstance(segment, str):
        return segment.__eq__
    if segment is Wildcard.FOLDERS or segment == (Wildcard.MANY,):
        return lambda _: True
    if len(segment) == 2 and segment[0] is Wildcard.MANY and isinstance(segment[1], str):  # noqa: PLR2004
        ending = segment[1]  # `*.txt`, which most patterns end in
        return lambda name: name.endswith(ending)
    alone = pattern.with_segments((segment,))
    return lambda name: matches(alone, (name,))

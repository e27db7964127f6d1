"""Counts the files that patterns match in a workspace, in one walk for all of them.

Rules kept: a folder in which nothing can match is not entered; links are not followed; whatever is
no folder counts as a file, links too; the order of the walk, and so the examples, depend on the names
alone. The walk is bounded, because a tree is as large as whoever fills it likes: what lies beyond the
bound, or in a folder that cannot be listed, is not guessed, and the answer says that there are at
least so many. Names and sizes are looked at, never contents.
"""

import os
from collections.abc import Iterator, Sequence
from heapq import heappush, heappushpop
from itertools import islice
from pathlib import Path
from typing import Final

from consentry.base.values import dataclass
from consentry.surface.automaton import AllOf
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.patterntable import PatternTable, Place, Step, in_one_line

MOST_SEEN: Final = 1_000_000
MOST_EXAMPLES: Final = 20
MOST_LARGEST: Final = 20

_AT_ONCE: Final = 10_000


@dataclass(frozen=True, slots=True)
class Matched:
    """The files of one entry: how many, how large, whether these are all, and the first of them."""

    files: int
    bytes: int
    is_whole: bool
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Existing:
    """The files of all sized entries together, each counted once, and the largest of them."""

    files: int
    bytes: int
    is_whole: bool
    largest: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """What one walk found: for each entry in turn, and for the sized ones together."""

    matched: tuple[Matched, ...]
    sized: Existing


def count_files(
    workspace: Path,
    entries: Sequence[AllOf],
    *,
    sized: Sequence[AllOf] = (),
    denied: Sequence[AllOf] = (),
    most_seen: int = MOST_SEEN,
) -> Counted:
    """Counts `entries` and `sized`, in this order; the bytes only of `sized`, which costs more.

    What `denied` matches is not counted. Only entries of the workspace can match.
    """
    counted = (*entries, *sized)
    table = PatternTable((*counted, *denied), len(counted))
    walk = _Walk(table, str(workspace), len(entries), most_seen)
    walk.through()
    return walk.result()


def spelled(path: str) -> str:
    """A path of the workspace in the spelling of patterns, which has one for every byte."""
    return Pattern.literal(Anchor.WORKSPACE, tuple(path.split("/"))).text


class _Walk:
    """One walk, and what it has counted so far."""

    def __init__(self, table: PatternTable, root: str, first_sized: int, most_seen: int) -> None:
        self._table = table
        self._root = root
        self._first_sized = first_sized
        self._left = most_seen
        self._files = [0] * table.counted
        self._bytes = [0] * table.counted
        self._examples: list[list[str]] = [[] for _ in range(table.counted)]
        self._partial: set[int] = set()
        self._sized_files = 0
        self._sized_bytes = 0
        self._largest: list[tuple[int, str]] = []

    def through(self) -> None:
        """Walks the tree, folders in the order of their names."""
        start = self._table.start()
        waiting = [] if start is None else [("", start)]
        while waiting:
            folder, place = waiting.pop()
            first: dict[int, list[str]] = {}
            below: list[str] = []
            for files, folders in self._listed(folder, place):
                below += folders
                for step, names in self._sorted_out(place, files):
                    self._count(folder, step, names, first)
            for number, names in first.items():
                self._examples[number] += [folder + name for name in names]
            for name, step in place.steps(sorted(below, reverse=True)):
                next_place = self._table.place(step.after)
                if next_place is not None:
                    waiting.append((f"{folder}{name}/", next_place))

    def _listed(self, folder: str, place: Place) -> Iterator[tuple[list[str], list[str]]]:
        """The names of a folder, so many at a time: files, and folders."""
        try:
            with os.scandir(f"{self._root}/{folder}") as found:
                while (most := min(_AT_ONCE, self._left - self._table.spent)) > 0:
                    some = list(islice(found, most))
                    self._left -= len(some)
                    files = [each.name for each in some if not each.is_dir(follow_symlinks=False)]
                    folders: list[str] = []
                    if len(files) < len(some):
                        folders = [each.name for each in some if each.is_dir(follow_symlinks=False)]
                    yield files, folders
                    if len(some) < most:
                        return
            self._partial.update(self._table.live(place.stand))
        except OSError:
            # Whoever cannot list it does not know what is in it.
            self._partial.update(self._table.live(place.stand))

    def _sorted_out(
        self, place: Place, names: list[str]
    ) -> Iterator[tuple[Step, int | Sequence[str]]]:
        """Where the files of a folder lead: their names, or only how many where that is enough."""
        line = in_one_line(names)
        special = place.special(names, line)
        endings = place.endings_of(names, line)
        left = len(names) - len(special)
        for name in special:
            ending = name[name.rfind(".") :]
            if ending in endings:
                endings[ending] -= 1
            yield place.step(name), (name,)
        for ending, step in place.by_ending.items():
            count = endings.get(ending, 0)
            left -= count
            if count and step.is_sated:
                yield step, count
            elif count and step.accepted:
                ended = [name for name in names if name.endswith(ending)]
                yield step, [name for name in ended if name not in special]
        if left and place.others.is_sated:
            yield place.others, left
        elif left and place.others.accepted:
            known = place.by_ending
            others = [name for name in names if name[name.rfind(".") :] not in known]
            yield place.others, [name for name in others if name not in special]

    def _count(
        self, folder: str, step: Step, names: int | Sequence[str], first: dict[int, list[str]]
    ) -> None:
        if isinstance(names, int):
            for number in step.accepted:
                self._files[number] += names
            return
        is_sized = bool(step.accepted) and step.accepted[-1] >= self._first_sized
        step.is_sated = not is_sized
        for number in step.accepted:
            self._files[number] += len(names)
            wanted = MOST_EXAMPLES - len(self._examples[number])
            if wanted > 0:
                first[number] = sorted((*first.get(number, ()), *names))[:wanted]
                step.is_sated = False
        if is_sized:
            self._weigh(folder, names, step.accepted)

    def _weigh(self, folder: str, names: Sequence[str], accepted: tuple[int, ...]) -> None:
        for name in names:
            path = folder + name
            try:
                size = os.lstat(f"{self._root}/{path}").st_size
            except OSError:
                size = 0  # it is gone again; it was there
            self._sized_files += 1
            self._sized_bytes += size
            for number in accepted:
                self._bytes[number] += size
            if len(self._largest) < MOST_LARGEST:
                heappush(self._largest, (size, path))
            else:
                heappushpop(self._largest, (size, path))

    def result(self) -> Counted:
        """What was counted."""
        matched = tuple(
            Matched(
                self._files[number],
                self._bytes[number],
                number not in self._partial,
                tuple(map(spelled, self._examples[number])),
            )
            for number in range(self._table.counted)
        )
        is_whole = not any(number >= self._first_sized for number in self._partial)
        largest = sorted(self._largest, key=lambda each: (-each[0], each[1]))
        shown = tuple((spelled(path), size) for size, path in largest)
        return Counted(matched, Existing(self._sized_files, self._sized_bytes, is_whole, shown))

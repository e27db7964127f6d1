"""Many patterns at once, followed name by name: what is asked of a tree when all its files are counted.

A `Place` is one way to stand in all patterns at once, as a folder does; a `Step` is where a kind of
name leads from there. Both are worked out once, however many folders and files are alike, so that a
file costs a look-up and not one question for each pattern. Three kinds of name are told apart: one
that a pattern spells out, one that ends as `*.tex` says, and one that a pattern with other wildcards
matches; all others lead to the same step.

What it answers is what `automaton.matches` answers for each pattern alone; the tests hold the two
against each other. Only patterns of the workspace are followed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from consentry.base.values import dataclass
from consentry.surface.automaton import AllOf
from consentry.surface.pattern import Anchor, Pattern, Segment, Wildcard

Stand: TypeAlias = tuple[frozenset[int], ...]
"""For each pattern, the places between its segments where the names so far may have led."""

_WITH_ENDING: Final = 2
_FEW: Final = 16


def in_one_line(names: Sequence[str]) -> str:
    """The names of a folder one after the other, each between two slashes, which none contains."""
    return f"/{'/'.join(names)}/"


class _Key(NamedTuple):
    """All that the patterns can tell of a name."""

    literal: str | None
    ending: str | None
    general: frozenset[str]


_UNKNOWN: Final = _Key(None, None, frozenset())


@dataclass(slots=True, eq=False)
class Step:
    """What a name leads to: the entries that take it as a file, and how all stand below it."""

    accepted: tuple[int, ...]
    after: Stand
    is_sated: bool = False
    """Whether the one who counts wants only numbers from now on."""


class PatternTable:
    """The patterns of all entries, and every place that was met so far.

    The first `counted` entries are asked for; what a later one matches is taken by none.
    """

    def __init__(self, entries: Sequence[AllOf], counted: int) -> None:
        self.patterns: list[Pattern] = []
        self.counted = counted
        self.spent = 0
        """What working out steps has cost, in names that could have been looked at instead."""
        self._parts: list[range] = []
        self._places: dict[Stand, Place | None] = {}
        for entry in entries:
            begin = len(self.patterns)
            self.patterns.extend(entry)
            self._parts.append(range(begin, len(self.patterns)))

    def start(self) -> "Place | None":
        """At the workspace itself."""
        begin = (
            _settled(pattern.segments, {0}) if pattern.anchor is Anchor.WORKSPACE else frozenset()
            for pattern in self.patterns
        )
        return self.place(tuple(begin))

    def place(self, stand: Stand) -> "Place | None":
        """The place for this stand; None where nothing below can be counted."""
        if stand not in self._places:
            self.spent += len(stand)
            goes_on = bool(self.live(stand)) and not self._is_closed(stand)
            self._places[stand] = Place(self, stand) if goes_on else None
        return self._places[stand]

    def accepted(self, stand: Stand) -> tuple[int, ...]:
        """The entries that take a file here; none where it is denied."""
        taken = tuple(
            number
            for number, parts in enumerate(self._parts)
            if all(len(self.patterns[part].segments) in stand[part] for part in parts)
        )
        return () if taken and taken[-1] >= self.counted else taken

    def live(self, stand: Stand) -> list[int]:
        """The counted entries that may still take something below."""
        return [
            number
            for number, parts in enumerate(self._parts[: self.counted])
            if all(
                any(at < len(self.patterns[part].segments) for at in stand[part]) for part in parts
            )
        ]

    def _is_closed(self, stand: Stand) -> bool:
        """Whether all below is denied."""
        return any(
            all(
                self.patterns[part].segments[-1:] == (Wildcard.FOLDERS,)
                and len(self.patterns[part].segments) - 1 in stand[part]
                for part in parts
            )
            for parts in self._parts[self.counted :]
        )


class Place:
    """One way to stand in all patterns at once, and where each kind of name leads from there."""

    def __init__(self, table: PatternTable, stand: Stand) -> None:
        self.stand = stand
        self._table = table
        self._steps: dict[_Key, Step] = {}
        segments = {
            pattern.segments[at]
            for pattern, positions in zip(table.patterns, stand, strict=True)
            for at in positions
            if at < len(pattern.segments)
        }
        self._literals = frozenset(each for each in segments if isinstance(each, str))
        self._endings = frozenset(ending for each in segments if (ending := _ending(each)))
        self._needles = tuple((each, f"/{each}/") for each in self._literals)
        general = sorted({_as_regex(each) for each in segments if _is_general(each)})
        self._general = {each: re.compile(each).fullmatch for each in general}
        self._all_general = re.compile(f"/({'|'.join(general)})(?=/)").findall if general else None
        self.others = self._step(_UNKNOWN)
        """Where a name leads that is nothing special."""
        ending_steps = {each: self._step(_UNKNOWN._replace(ending=each)) for each in self._endings}
        is_told = any(step.accepted != self.others.accepted for step in ending_steps.values())
        self.by_ending = ending_steps if is_told else {}
        """Where names with these endings lead, where it makes a difference to files."""

    def special(self, names: Sequence[str], line: str) -> set[str]:
        """Those of the names that a pattern spells out, or matches by more than an ending.

        `line` is the names as `in_one_line` writes them: to look through it once for each word is
        quicker than to look at each name, as long as the words are few.
        """
        if len(self._needles) > _FEW:
            found = set(self._literals.intersection(names))
        else:
            found = {each for each, needle in self._needles if needle in line}
        if self._all_general is not None:
            found.update(self._all_general(line))
        return found

    def endings_of(self, names: Sequence[str], line: str) -> dict[str, int]:
        """How many of the names end so, for the endings that make a difference to files."""
        if len(self.by_ending) > _FEW:
            return Counter([name[name.rfind(".") :] for name in names])
        return {ending: line.count(f"{ending}/") for ending in self.by_ending}

    def steps(self, names: Sequence[str]) -> Iterator[tuple[str, Step]]:
        """Where each of these names leads, in their order."""
        special = self.special(names, in_one_line(names))
        for name in names:
            is_usual = name not in special and name[name.rfind(".") :] not in self._endings
            yield name, self.others if is_usual else self.step(name)

    def step(self, name: str) -> Step:
        """Where any name leads."""
        ending = name[name.rfind(".") :]
        general = [each for each, matches in self._general.items() if matches(name)]
        return self._step(
            _Key(
                name if name in self._literals else None,
                ending if ending in self._endings else None,
                frozenset(general),
            )
        )

    def _step(self, key: _Key) -> Step:
        known = self._steps.get(key)
        if known is None:
            table = self._table
            table.spent += len(self.stand)
            after = tuple(
                _moved(pattern.segments, positions, key)
                for pattern, positions in zip(table.patterns, self.stand, strict=True)
            )
            known = self._steps[key] = Step(table.accepted(after), after)
        return known


def _moved(segments: tuple[Segment, ...], positions: frozenset[int], key: _Key) -> frozenset[int]:
    moved = {
        at if segments[at] is Wildcard.FOLDERS else at + 1
        for at in positions
        if at < len(segments) and _takes(segments[at], key)
    }
    return _settled(segments, moved)


def _settled(segments: tuple[Segment, ...], positions: set[int]) -> frozenset[int]:
    """With the places behind `**`, which may stand for nothing."""
    for at in sorted(positions):
        if at < len(segments) and segments[at] is Wildcard.FOLDERS:
            positions.add(at + 1)  # never two in a row, so this one is not `**` again
    return frozenset(positions)


def _takes(segment: Segment, key: _Key) -> bool:
    if isinstance(segment, str):
        return segment == key.literal
    if _is_general(segment):
        return _as_regex(segment) in key.general
    ending = _ending(segment)
    return ending is None or ending == key.ending


def _ending(segment: Segment) -> str | None:
    """`.tex` of `*.tex`, which most patterns end in; None where it is not that simple."""
    if not isinstance(segment, tuple) or len(segment) != _WITH_ENDING:
        return None
    first, last = segment
    if first is not Wildcard.MANY or not isinstance(last, str) or last.rfind(".") != 0:
        return None
    return last


def _is_general(segment: Segment) -> bool:
    """Whether it has wildcards, is not simply any name, and more than an ending."""
    return isinstance(segment, tuple) and segment != (Wildcard.MANY,) and _ending(segment) is None


def _as_regex(segment: Segment) -> str:
    """A name with wildcards as an expression whose time grows with the name, whatever it is.

    What stands between two `*` is looked for once and never again further on (an atomic group): its
    first place is as good as any later one.
    """
    stretches = [""]
    for part in segment if isinstance(segment, tuple) else ():
        if part is Wildcard.MANY:
            stretches.append("")
        else:
            stretches[-1] += "[^/]" if part is Wildcard.ONE else re.escape(str(part))
    if len(stretches) == 1:
        return stretches[0]
    first, *middle, last = stretches
    return first + "".join(f"(?>[^/]*?{each})" for each in middle) + f"[^/]*{last}"

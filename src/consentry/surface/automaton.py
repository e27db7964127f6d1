"""Decides what patterns match, exactly, by one search.

The search: is there a path that all of these match and none of those?

    p covers q          no path is matched by q and not by p
    p and q are apart   no path is matched by both

Patterns are regular languages; the search walks the product of the wanted patterns (one position
each) with the unwanted ones (a set of positions in one integer), and keeps only the smallest
unwanted sets met at each place. Two facts keep it small:

- Where every wanted pattern is at a wildcard, one character that no pattern spells out stands for
  all: an unwanted pattern that matches it there matches any other character there too.
- The search is bounded by a number of steps, never by time: patterns that need more are refused
  with `surface-too-complex`, the same on every machine, and nothing is granted.

Paths are words in which every name is followed by `/`; the names `.` and `..` do not exist.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, product, repeat
from typing import NamedTuple, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.surface.pattern import Pattern, Wildcard, parts_of

AllOf: TypeAlias = tuple[Pattern, ...]
"""Patterns that a path must match together; one pattern alone is the usual case."""

MOST_STEPS = 20_000

_SLASH = "/"
_UNSPELLED = "\0"  # no pattern can spell NUL, so it stands for every character not spelled out

# How far the name being read is from being `.` or `..`, which are not names.
_NAME_EMPTY, _NAME_DOT, _NAME_DOTS, _NAME_GOOD = range(4)


@dataclass(frozen=True, slots=True)
class _Machine:
    """Several patterns as one nondeterministic automaton over bits of an integer.

    A pattern takes one bit for each position between its tokens. `FOLDERS` takes two: outside and
    inside a name.
    """

    spelled: dict[str, int]
    letter_at: dict[int, str]
    one: int
    many: int
    outside: int
    inside: int
    start: int
    accepts: tuple[int, ...]

    def step(self, states: int, character: str) -> int:
        """The positions reachable by reading one character."""
        if character == _SLASH:
            ended = states & self.spelled.get(_SLASH, 0)
            after = ended << 1 | (states & self.inside) >> 1
        else:
            moved = states & (self.spelled.get(character, 0) | self.one | self.outside)
            after = moved << 1 | states & (self.many | self.inside)
        return self.settle(after)

    def settle(self, states: int) -> int:
        """Adds the positions behind wildcards that may match nothing."""
        while True:
            skipped = states | (states & self.many) << 1 | (states & self.outside) << 2
            if skipped == states:
                return states
            states = skipped


class _Place(NamedTuple):
    """Where the search stands, and the step that led there."""

    positions: tuple[int, ...]
    rival: int
    name: int
    origin: "tuple[_Place, str] | None"


def find_path(wanted: AllOf, unwanted: Sequence[AllOf] = ()) -> str | None:
    """A path matched by every pattern in `wanted` and by no entry of `unwanted`, or None.

    The path is spelled as a literal pattern would be, so that it can be shown to a person.
    """
    if not wanted or len({pattern.anchor for pattern in wanted}) > 1:
        return None
    machines = tuple(_machine((pattern,)) for pattern in wanted)
    rivals = [entry for entry in unwanted if entry and entry[0].anchor is wanted[0].anchor]
    against = _machine(tuple(pattern for entry in rivals for pattern in entry))
    refusals = _refusals(rivals, against)
    goal = tuple(machine.accepts[0] for machine in machines)

    start = tuple(machine.start for machine in machines)
    queue: deque[_Place] = deque(
        _Place(positions, against.start, _NAME_EMPTY, None) for positions in _one_of_each(start)
    )
    smallest: dict[tuple[tuple[int, ...], int], list[int]] = {}
    steps = 0
    while queue:
        place = queue.popleft()
        if place.positions == goal and not any(place.rival & need == need for need in refusals):
            return _spell_path(wanted[0], place, (*machines, against))
        for letter in _letters(machines, place.positions):
            name = _read(place.name, letter)
            moved = tuple(map(_Machine.step, machines, place.positions, repeat(letter)))
            if name is None or not all(moved):
                continue
            rival = against.step(place.rival, letter)
            for positions in _one_of_each(moved):
                steps += 1
                if _is_news(smallest, (positions, name), rival):
                    queue.append(_Place(positions, rival, name, (place, letter)))
        if steps > MOST_STEPS:
            shown = " \\& ".join(pattern.text for pattern in wanted)
            raise BadInput(
                Code.SURFACE_TOO_COMPLEX, f"cannot decide in bounded work what covers `{shown}`"
            )
    return None


def matches(pattern: Pattern, names: Iterable[str]) -> bool:
    """Whether the path made of `names` (under the pattern's anchor) is matched."""
    machine = _machine((pattern,))
    states = machine.start
    for name in names:
        for character in name:
            states = machine.step(states, character)
        states = machine.step(states, _SLASH)
    return bool(states & machine.accepts[0])


def _refusals(rivals: Sequence[AllOf], machine: _Machine) -> list[int]:
    needs: list[int] = []
    index = 0
    for entry in rivals:
        need = 0
        for _ in entry:
            need |= machine.accepts[index]
            index += 1
        needs.append(need)
    return needs


def _letters(machines: tuple[_Machine, ...], positions: tuple[int, ...]) -> tuple[str, ...]:
    """The characters worth reading here: the one that some wanted pattern spells out, if any."""
    for machine, position in zip(machines, positions, strict=True):
        letter = machine.letter_at.get(position)
        if letter is not None:
            return (letter,)
    return (_UNSPELLED, _SLASH)


def _one_of_each(states: tuple[int, ...]) -> Iterable[tuple[int, ...]]:
    """Every way to be in exactly one position of each machine."""
    return product(*map(_bits, states))


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest
        mask ^= lowest


def _is_news(
    smallest: dict[tuple[tuple[int, ...], int], list[int]],
    here: tuple[tuple[int, ...], int],
    rival: int,
) -> bool:
    """Whether no smaller set of unwanted positions was met at the same place; remembers it."""
    known = smallest.setdefault(here, [])
    if any(earlier & rival == earlier for earlier in known):
        return False
    known[:] = [earlier for earlier in known if rival & earlier != rival]
    known.append(rival)
    return True


def _read(name: int, letter: str) -> int | None:
    if letter == _SLASH:
        return _NAME_EMPTY if name == _NAME_GOOD else None
    if letter == "." and name < _NAME_GOOD:
        return name + 1
    return _NAME_GOOD


def _spell_path(like: Pattern, place: _Place, machines: tuple[_Machine, ...]) -> str:
    letters: list[str] = []
    step = place.origin
    while step is not None:
        before, letter = step
        letters.append(letter)
        step = before.origin
    taken = set().union(*(machine.spelled for machine in machines))
    stand_in = next(
        c for c in map(chr, chain(range(0x78, 0x7B), range(0x61, 0x110000))) if c not in taken
    )
    word = "".join(reversed(letters)).replace(_UNSPELLED, stand_in)
    return like.with_segments(tuple(word.split(_SLASH)[:-1])).text


@lru_cache(maxsize=4096)
def _machine(patterns: AllOf) -> _Machine:
    spelled: dict[str, int] = {}
    letter_at: dict[int, str] = {}
    one = many = outside = inside = start = 0
    accepts: list[int] = []
    bit = 1
    for pattern in patterns:
        start |= bit
        for segment in pattern.segments:
            if segment is Wildcard.FOLDERS:
                outside |= bit
                inside |= bit << 1
                bit <<= 2
                continue
            for part in (*parts_of(segment), _SLASH):
                for token in part if isinstance(part, str) else (part,):
                    if isinstance(token, str):
                        spelled[token] = spelled.get(token, 0) | bit
                        letter_at[bit] = token
                    elif token is Wildcard.ONE:
                        one |= bit
                    else:
                        many |= bit
                    bit <<= 1
        accepts.append(bit)
        bit <<= 1
    wild = one, many, outside, inside
    unsettled = _Machine(spelled, letter_at, *wild, start, tuple(accepts))
    return replace(unsettled, start=unsettled.settle(start))

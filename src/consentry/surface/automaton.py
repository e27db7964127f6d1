"""Decides what patterns match, exactly, by one search.

The search: is there a path that all of these match and none of those?

    p covers q          no path is matched by q and not by p
    p and q are apart   no path is matched by both

Patterns are regular languages; the search walks the product of the wanted patterns (one position
each) with the unwanted ones (a set of positions in one integer), and keeps only the smallest
unwanted sets met at each place. Two facts keep it small:

- Where every wanted pattern is at a wildcard, one character that no pattern spells out stands for
  all: an unwanted pattern that matches it there matches any other character there too.
- The search is bounded by an amount of work, never by time: patterns that need more are refused
  with `surface-too-complex`, the same on every machine, and nothing is granted.

Paths are words in which every name is followed by `/`; the names `.` and `..` do not exist.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, product, repeat
from math import prod
from typing import NamedTuple, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.surface.pattern import Pattern, Wildcard, parts_of

AllOf: TypeAlias = tuple[Pattern, ...]
"""Patterns that a path must match together; one pattern alone is the usual case."""

MOST_WORK = 300_000
"""How much one operation on scopes may cost; a step of the search costs 1, more with wide patterns."""

_SLASH = "/"
_UNSPELLED = "\0"  # no pattern can spell NUL, so it stands for every character not spelled out
_SHORT = 256
_BITS_PER_UNIT = 256

# How far the name being read is from being `.` or `..`, which are not names.
_NAME_EMPTY, _NAME_DOT, _NAME_DOTS, _NAME_GOOD = range(4)


class Work:
    """What is left of the work that one operation may cost; shared by all searches it makes."""

    __slots__ = ("left",)

    def __init__(self, amount: int = MOST_WORK) -> None:
        self.left = amount

    def spend(self, amount: int) -> None:
        """Takes some away, or raises `surface-too-complex` when there is not enough."""
        self.left -= amount
        if self.left < 0:
            raise BadInput(
                Code.SURFACE_TOO_COMPLEX, "the patterns cannot be compared in bounded work"
            )


@dataclass(frozen=True, slots=True)
class _Machine:
    """Patterns as one nondeterministic automaton over the bits of an integer.

    A pattern takes one bit for each position between its tokens. `FOLDERS` takes two: outside and
    inside a name.
    """

    width: int
    spelled: dict[str, int]
    letter_at: dict[int, str]
    one: int
    many: int
    outside: int
    inside: int
    begin: int
    accepts: tuple[int, ...]

    @property
    def cost(self) -> int:
        """What one step of it costs."""
        return 1 + self.width // _BITS_PER_UNIT

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


def find_path(
    wanted: AllOf, unwanted: Sequence[AllOf] = (), work: Work | None = None
) -> str | None:
    """A path matched by every pattern in `wanted` and by no entry of `unwanted`, or None.

    The path is spelled as a literal pattern would be, so that it can be shown to a person.
    """
    if not wanted or not _share_an_anchor(wanted):
        return None
    work = work or Work()
    machines = tuple(_machine(pattern, work) for pattern in wanted)
    rivals = [entry for entry in unwanted if entry and _share_an_anchor((wanted[0], *entry))]
    against = _side_by_side([pattern for entry in rivals for pattern in entry], work)
    refusals = _refusals(rivals, against)
    goal = tuple(machine.accepts[0] for machine in machines)
    cost = against.cost + sum(machine.cost for machine in machines)

    begin = tuple(machine.settle(machine.begin) for machine in machines)
    rival = against.settle(against.begin)
    queue = deque(
        _Place(positions, rival, _NAME_EMPTY, None) for positions in _one_of_each(begin, work, cost)
    )
    smallest: dict[tuple[tuple[int, ...], int], list[int]] = {}
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
            for positions in _one_of_each(moved, work, cost):
                if _is_news(smallest, (positions, name), rival, work):
                    queue.append(_Place(positions, rival, name, (place, letter)))
    return None


def matches(pattern: Pattern, names: Iterable[str], work: Work | None = None) -> bool:
    """Whether the path made of `names` (under the pattern's anchor) is matched."""
    work = work or Work()
    machine = _machine(pattern, work)
    states = machine.settle(machine.begin)
    for name in names:
        work.spend(1 + len(name) * machine.cost // 8)
        for character in name:
            states = machine.step(states, character)
        states = machine.step(states, _SLASH)
        if not states:
            return False
    return bool(states & machine.accepts[0])


def _share_an_anchor(patterns: AllOf) -> bool:
    return all(pattern.anchor is patterns[0].anchor for pattern in patterns)


def _refusals(rivals: Sequence[AllOf], machine: _Machine) -> list[int]:
    """For each unwanted entry the accepting positions that it needs together."""
    accepts = iter(machine.accepts)
    return [sum(next(accepts) for _ in entry) for entry in rivals]


def _letters(machines: tuple[_Machine, ...], positions: tuple[int, ...]) -> tuple[str, ...]:
    """The characters worth reading here: the one that some wanted pattern spells out, if any."""
    for machine, position in zip(machines, positions, strict=True):
        letter = machine.letter_at.get(position)
        if letter is not None:
            return (letter,)
    return (_UNSPELLED, _SLASH)


def _one_of_each(states: tuple[int, ...], work: Work, cost: int) -> Iterable[tuple[int, ...]]:
    """Every way to be in exactly one position of each machine, paid for before it is made."""
    work.spend(cost * prod(mask.bit_count() for mask in states))
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
    work: Work,
) -> bool:
    """Whether no smaller set of unwanted positions was met at the same place; remembers it."""
    known = smallest.setdefault(here, [])
    work.spend(len(known) // 8)
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
    candidates = map(chr, chain(range(0x78, 0x7B), range(0x61, 0x110000)))
    stand_in = next(character for character in candidates if character not in taken)
    word = "".join(reversed(letters)).replace(_UNSPELLED, stand_in)
    return like.spelled_like(tuple(word.split(_SLASH)[:-1]))


def _machine(pattern: Pattern, work: Work) -> _Machine:
    work.spend(1 + len(pattern.text) // 64)
    return _short_machine(pattern) if len(pattern.text) <= _SHORT else _build(pattern)


@lru_cache(maxsize=1024)
def _short_machine(pattern: Pattern) -> _Machine:
    return _build(pattern)


def _build(pattern: Pattern) -> _Machine:
    spelled: dict[str, int] = {}
    letter_at: dict[int, str] = {}
    wild = dict.fromkeys((Wildcard.ONE, Wildcard.MANY, Wildcard.FOLDERS), 0)
    bit = 1
    for segment in pattern.segments:
        if segment is Wildcard.FOLDERS:
            wild[Wildcard.FOLDERS] |= bit
            bit <<= 2
            continue
        for part in (*parts_of(segment), _SLASH):
            for token in part if isinstance(part, str) else (part,):
                if isinstance(token, str):
                    spelled[token] = spelled.get(token, 0) | bit
                    letter_at[bit] = token
                else:
                    wild[token] |= bit
                bit <<= 1
    outside = wild[Wildcard.FOLDERS]
    one, many = wild[Wildcard.ONE], wild[Wildcard.MANY]
    width = bit.bit_length()
    return _Machine(width, spelled, letter_at, one, many, outside, outside << 1, 1, (bit,))


def _side_by_side(patterns: Sequence[Pattern], work: Work) -> _Machine:
    """One machine that runs all of them, each on its own stretch of bits."""
    spelled: dict[str, int] = {}
    one = many = outside = inside = begin = offset = 0
    accepts: list[int] = []
    for pattern in patterns:
        machine = _machine(pattern, work)
        work.spend(len(machine.spelled) * (1 + offset // (8 * _BITS_PER_UNIT)))
        for letter, mask in machine.spelled.items():
            spelled[letter] = spelled.get(letter, 0) | mask << offset
        one |= machine.one << offset
        many |= machine.many << offset
        outside |= machine.outside << offset
        inside |= machine.inside << offset
        begin |= machine.begin << offset
        accepts.append(machine.accepts[0] << offset)
        offset += machine.width
    return _Machine(offset, spelled, {}, one, many, outside, inside, begin, tuple(accepts))

r"""A set of patterns as one scope: join, meet, cover and difference, decided and indexed.

Entries are patterns, or all-of entries where a meet has no single spelling (written with ` \& `
between the patterns, which no pattern can contain). An entry that the others cover is left out.
Equality is mutual cover, so it does not depend on spelling.

An index by leading names answers the usual question (is this file in that folder?) in a few
dictionary look-ups, however many entries there are; only entries whose literal names can lead to
the asked pattern ever reach the decision procedure.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.surface.automaton import AllOf, Work, find_path, matches
from consentry.surface.narrowing import meet_of
from consentry.surface.pattern import Anchor, Pattern, Segment, Vocabulary, Wildcard, parts_of

MOST_SIBLINGS = 2_000
MOST_TOGETHER = 8
MOST_NAMES = 200_000

_AND = " \\& "


class _Node:
    """The entries whose literal names end here, and the names that lead further down."""

    __slots__ = ("children", "entries", "holds_tree")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.entries: list[tuple[int, str, AllOf]] = []
        self.holds_tree = False

    def spelled_within(self, letters: str) -> list[AllOf]:
        """The entries here that spell out only those letters, in that order."""
        beyond = ~_classes(letters)
        return [
            entry
            for classes, needed, entry in self.entries
            if not classes & beyond and _is_subsequence(needed, letters)
        ]

    def below(self) -> "Iterator[_Node]":
        """This node and every one further down."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.children.values())


class _Index:
    """Finds, among many entries, the few that could match a path that a pattern matches."""

    __slots__ = ("roots", "texts")

    def __init__(self, entries: Iterable[AllOf] = ()) -> None:
        self.texts: set[str] = set()
        self.roots: dict[Anchor, _Node] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: AllOf) -> None:
        self.texts.add(entry_text(entry))
        deepest = _deepest(entry)
        node = self.roots.setdefault(deepest.anchor, _Node())
        for name in deepest.prefix:
            node = node.children.setdefault(name, _Node())
        if len(node.entries) >= MOST_SIBLINGS:
            raise BadInput(
                Code.SURFACE_TOO_COMPLEX,
                f"more than {MOST_SIBLINGS} wildcard patterns beside `{deepest.text}`",
            )
        letters = _letters(deepest.segments[len(deepest.prefix) :])
        node.entries.append((_classes(letters), letters, entry))
        node.holds_tree |= len(entry) == 1 and deepest.is_tree

    def covers(self, asked: AllOf, work: Work) -> bool:
        """Whether every path that `asked` matches is matched by some entry."""
        if entry_text(asked) in self.texts:
            return True
        root = self.roots.get(asked[0].anchor)
        if root is None:
            return False
        work.spend(1 + len(asked[0].segments) // 8)
        if any(_leads_into_tree(root, pattern) for pattern in asked):
            return True
        if len(asked) > 1:
            letters = "".join(_letters(pattern.segments) for pattern in asked)
            candidates = list(self.neighbours(asked, work, beyond=~_classes(letters)))
        else:
            candidates = _met_on_the_way(root, asked[0], work)
        if len(asked) == 1 and asked[0].is_literal:
            names = asked[0].prefix
            return any(all(matches(p, names, work) for p in entry) for entry in candidates)
        return bool(candidates) and find_path(asked, candidates, work) is None

    def neighbours(self, asked: AllOf, work: Work, *, beyond: int = 0) -> Iterator[AllOf]:
        """Entries whose literal names lead to, or on from, those of `asked`.

        Entries that need a letter of a class in `beyond` are left out.
        """
        for node in self._nodes_around(_deepest(asked)):
            work.spend(1 + len(node.entries) // 8)
            for classes, _, entry in node.entries:
                if not classes & beyond:
                    yield entry

    def _nodes_around(self, pattern: Pattern) -> Iterator[_Node]:
        node = self.roots.get(pattern.anchor)
        for name in pattern.prefix:
            if node is None:
                return
            yield node
            node = node.children.get(name)
        if node is not None:
            yield from node.below()


@dataclass(frozen=True, slots=True, eq=False)
class PatternScope:
    """What a dimension reaches, as patterns of one vocabulary.

    `a | b` joins, `a & b` meets, `a <= b` says that b covers a, `a - b` is what a has beyond b.
    """

    vocabulary: Vocabulary
    entries: tuple[AllOf, ...]
    index: _Index = field(repr=False)

    @classmethod
    def parse(
        cls, spellings: Iterable[str], vocabulary: Vocabulary = Vocabulary.PATH
    ) -> "PatternScope":
        """Reads entries as `str()` writes them."""
        return cls.of(vocabulary, (read_entry(text, vocabulary) for text in spellings))

    @classmethod
    def of(cls, vocabulary: Vocabulary, entries: Iterable[AllOf]) -> "PatternScope":
        """A scope of these entries, without those that the others cover."""
        return cls._reduced(vocabulary, entries, Work())

    @classmethod
    def _reduced(
        cls, vocabulary: Vocabulary, entries: Iterable[AllOf], work: Work
    ) -> "PatternScope":
        ordered = sorted(set(entries), key=_by_reach)
        if sum(len(pattern.segments) for entry in ordered for pattern in entry) > MOST_NAMES:
            raise BadInput(
                Code.SURFACE_TOO_COMPLEX, f"the patterns have more than {MOST_NAMES} names in all"
            )
        index = _Index()
        kept: list[AllOf] = []
        for entry in ordered:
            if not index.covers(entry, work):
                index.add(entry)
                kept.append(entry)
        return cls(vocabulary, tuple(sorted(kept, key=entry_text)), index)

    def __or__(self, other: "PatternScope") -> "PatternScope":
        self._check_alike(other)
        if not other.entries:
            return self
        return PatternScope.of(self.vocabulary, (*self.entries, *other.entries))

    def __and__(self, other: "PatternScope") -> "PatternScope":
        self._check_alike(other)
        work = Work()
        met = (
            meet
            for entry in self.entries
            for neighbour in other.index.neighbours(entry, work)
            if (meet := _meet(entry, neighbour, work)) is not None
        )
        return PatternScope._reduced(self.vocabulary, met, work)

    def __sub__(self, other: "PatternScope") -> "PatternScope":
        self._check_alike(other)
        work = Work()
        left = [entry for entry in self.entries if not other.index.covers(entry, work)]
        return PatternScope(self.vocabulary, tuple(left), _Index(left))

    def __le__(self, other: "PatternScope") -> bool:
        self._check_alike(other)
        covers, work = other.index.covers, Work()
        return all(covers(entry, work) for entry in self.entries)

    def _check_alike(self, other: "PatternScope") -> None:
        if self.vocabulary is not other.vocabulary:
            raise ValueError(f"{self.vocabulary} and {other.vocabulary} patterns do not compare")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PatternScope):
            return NotImplemented
        return self.vocabulary is other.vocabulary and self <= other <= self

    def __hash__(self) -> int:
        # Scopes that match the same may be spelled apart; all they surely share is this.
        return hash((self.vocabulary, bool(self.entries)))

    def __bool__(self) -> bool:
        return bool(self.entries)

    def __iter__(self) -> Iterator[str]:
        return map(entry_text, self.entries)

    def __repr__(self) -> str:
        return f"PatternScope({self.vocabulary}: {', '.join(self)})"

    def counterexample(self, other: "PatternScope") -> str | None:
        """A path this scope matches and `other` does not, for showing to a person."""
        work = Work()
        for entry in self.entries:
            if not other.index.covers(entry, work):
                return find_path(entry, other.entries, work)
        return None


def entry_text(entry: AllOf) -> str:
    """The canonical spelling of an entry."""
    return entry[0].text if len(entry) == 1 else _AND.join(pattern.text for pattern in entry)


def read_entry(text: str, vocabulary: Vocabulary) -> AllOf:
    """One entry from its spelling; patterns that no path can match together are refused."""
    spellings = text.split(_AND)
    if len(spellings) == 1:
        return (Pattern.parse(text, vocabulary),)
    patterns = {Pattern.parse(part, vocabulary) for part in spellings}
    entry = _together(patterns, Work())
    if find_path(entry) is None:
        raise BadInput(Code.SURFACE_PATTERN, f"`{text}` matches nothing")
    return entry


def _together(patterns: Iterable[Pattern], work: Work) -> AllOf:
    """An all-of entry without the patterns that another one of them implies."""
    waiting = sorted(set(patterns), key=str)
    if len(waiting) > 2 * MOST_TOGETHER:
        raise _too_many_together()
    kept = [
        pattern
        for pattern in waiting
        if not any(_implies(other, pattern, waiting, work) for other in waiting)
    ]
    if len(kept) > MOST_TOGETHER:
        raise _too_many_together()
    return tuple(kept)


def _implies(narrow: Pattern, wide: Pattern, order: list[Pattern], work: Work) -> bool:
    if narrow is wide or find_path((narrow,), ((wide,),), work) is not None:
        return False
    both_ways = find_path((wide,), ((narrow,),), work) is None
    return not both_ways or order.index(narrow) < order.index(wide)


def _too_many_together() -> BadInput:
    return BadInput(
        Code.SURFACE_TOO_COMPLEX, f"more than {MOST_TOGETHER} patterns are to match together"
    )


def _by_reach(entry: AllOf) -> tuple[int, int, int, str]:
    """Sorts what covers before what it covers.

    A pattern that covers another spells out no more letters than it, and needs no longer a path;
    of two alike in that, the one with more wildcards is the wider.
    """
    letters = shortest = wildcards = 0
    for segment in _deepest(entry).segments:
        for part in parts_of(segment):
            letters += len(part) if isinstance(part, str) else 0
            shortest += len(part) if isinstance(part, str) else part is Wildcard.ONE
            wildcards -= not isinstance(part, str)
        shortest += segment is not Wildcard.FOLDERS
    return (letters, shortest, wildcards, entry_text(entry))


def _deepest(entry: AllOf) -> Pattern:
    return entry[0] if len(entry) == 1 else max(entry, key=lambda pattern: len(pattern.prefix))


def _leads_into_tree(root: _Node, pattern: Pattern) -> bool:
    node: _Node | None = root
    for name in pattern.prefix:
        if node is None or node.holds_tree:
            break
        node = node.children.get(name)
    return node is not None and node.holds_tree


def _met_on_the_way(root: _Node, pattern: Pattern, work: Work) -> list[AllOf]:
    """The entries at every node that a path matched by `pattern` can be led to by literal names.

    A wildcard that consumes something leads to no literal name (the character could be any), so
    from a wild name only the name with all its wildcards empty goes on.
    """
    found: list[AllOf] = []
    letters = _letters(pattern.segments)
    node: _Node | None = root
    for segment in (*pattern.segments, None):
        if node is None:
            break
        if segment is Wildcard.FOLDERS:
            continue
        work.spend(len(node.entries) // 8)
        found.extend(node.spelled_within(letters))
        if segment is None or Wildcard.ONE in (parts := parts_of(segment)):
            break
        node = node.children.get("".join(part for part in parts if isinstance(part, str)))
    return found


def _letters(segments: tuple[Segment, ...]) -> str:
    """The letters spelled out, in order; whatever else such a path contains, it contains these."""
    return "".join(
        part for segment in segments for part in parts_of(segment) if isinstance(part, str)
    )


def _classes(letters: str) -> int:
    """Which of 64 classes of letters occur: the cheap first half of the subsequence test."""
    mask = 0
    for letter in set(letters):
        mask |= 1 << (ord(letter) & 63)
    return mask


def _is_subsequence(needed: str, letters: str) -> bool:
    rest = iter(letters)
    return all(letter in rest for letter in needed)


def _meet(one: AllOf, other: AllOf, work: Work) -> AllOf | None:
    """What both entries match, as one entry; None if that is nothing."""
    if len(one) == len(other) == 1:
        return _meet_of_two(one[0], other[0], work)
    if find_path((*one, *other), (), work) is None:
        return None
    return _together((*one, *other), work)


def _meet_of_two(one: Pattern, other: Pattern, work: Work) -> AllOf | None:
    work.spend(1)
    for narrow, wide in ((one, other), (other, one)):
        if wide.is_tree and narrow.prefix[: len(wide.prefix)] == wide.prefix:
            return (narrow,)
        if narrow.is_literal:
            return (narrow,) if matches(wide, narrow.prefix, work) else None
    if find_path((one, other), (), work) is None:
        return None
    together = _together((one, other), work)
    if len(together) == 1:
        return together
    single = meet_of(one, other, work)
    return together if single is None else (single,)

"""A set of patterns as one scope: join, meet, cover and difference, decided and indexed.

An entry that the others cover is left out. Equality is mutual cover, so it does not depend on
spelling. Each operation has one bounded amount of work for everything it compares.
"""

from collections.abc import Iterable, Iterator

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass, field
from consentry.surface.automaton import AllOf, Work, find_path
from consentry.surface.entries import by_reach, entry_text, meet_of_entries, read_entry
from consentry.surface.pattern import Vocabulary
from consentry.surface.patternindex import PatternIndex

MOST_NAMES = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class PatternScope:
    """What a dimension reaches, as patterns of one vocabulary.

    `a | b` joins, `a & b` meets, `a <= b` says that b covers a, `a - b` is what a has beyond b.
    """

    vocabulary: Vocabulary
    entries: tuple[AllOf, ...]
    index: PatternIndex = field(repr=False)

    @classmethod
    def parse(
        cls, spellings: Iterable[str], vocabulary: Vocabulary = Vocabulary.PATH
    ) -> "PatternScope":
        """Reads entries as `str()` writes them."""
        work = Work()
        return cls.of(vocabulary, [read_entry(text, vocabulary, work) for text in spellings])

    @classmethod
    def of(cls, vocabulary: Vocabulary, entries: Iterable[AllOf]) -> "PatternScope":
        """A scope of these entries, without those that the others cover."""
        return cls._reduced(vocabulary, entries, Work())

    @classmethod
    def _reduced(
        cls, vocabulary: Vocabulary, entries: Iterable[AllOf], work: Work
    ) -> "PatternScope":
        ordered = sorted(set(entries), key=by_reach)
        if sum(len(pattern.segments) for entry in ordered for pattern in entry) > MOST_NAMES:
            raise BadInput(
                Code.SURFACE_TOO_COMPLEX, f"the patterns have more than {MOST_NAMES} names in all"
            )
        index = PatternIndex()
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
            if (meet := meet_of_entries(entry, neighbour, work)) is not None
        )
        return PatternScope._reduced(self.vocabulary, met, work)

    def __sub__(self, other: "PatternScope") -> "PatternScope":
        self._check_alike(other)
        work = Work()
        left = [entry for entry in self.entries if not other.index.covers(entry, work)]
        return PatternScope(self.vocabulary, tuple(left), PatternIndex(left))

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
        self._check_alike(other)
        work = Work()
        for entry in self.entries:
            if not other.index.covers(entry, work):
                return find_path(entry, other.index.candidates(entry, work), work)
        return None

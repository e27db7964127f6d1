r"""Entries of a pattern scope: one pattern, or several that a path must match together.

An all-of entry is what a meet leaves where no single pattern can say it. It is spelled with ` \& `
between its patterns, which no pattern can contain. Its patterns share an anchor, none of them
implies another, and some path matches them all; anything else is refused when it is read.
"""

from collections.abc import Iterable

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.surface.automaton import AllOf, Work, find_path, matches
from consentry.surface.narrowing import meet_of
from consentry.surface.pattern import Pattern, Vocabulary, Wildcard, parts_of

MOST_TOGETHER = 8

_AND = " \\& "


def entry_text(entry: AllOf) -> str:
    """The canonical spelling of an entry."""
    return entry[0].text if len(entry) == 1 else _AND.join(pattern.text for pattern in entry)


def read_entry(text: str, vocabulary: Vocabulary, work: Work) -> AllOf:
    """One entry from its spelling; patterns that no path can match together are refused."""
    patterns = {Pattern.parse(part, vocabulary) for part in text.split(_AND)}
    work.spend(sum(len(pattern.segments) for pattern in patterns))
    if len(patterns) == 1:
        return tuple(patterns)
    entry = _together(patterns, work)
    if find_path(entry, (), work) is None:
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


def by_reach(entry: AllOf) -> tuple[int, int, int, str]:
    """Sorts what covers before what it covers.

    A pattern that covers another spells out no more letters than it, and needs no longer a path;
    of two alike in that, the one with more wildcards is the wider.
    """
    letters = shortest = wildcards = 0
    for segment in deepest_of(entry).segments:
        for part in parts_of(segment):
            letters += len(part) if isinstance(part, str) else 0
            shortest += len(part) if isinstance(part, str) else part is Wildcard.ONE
            wildcards -= not isinstance(part, str)
        shortest += segment is not Wildcard.FOLDERS
    return (letters, shortest, wildcards, entry_text(entry))


def deepest_of(entry: AllOf) -> Pattern:
    """The pattern of an entry that spells out the most leading names."""
    return entry[0] if len(entry) == 1 else max(entry, key=lambda pattern: len(pattern.prefix))


def meet_of_entries(one: AllOf, other: AllOf, work: Work) -> AllOf | None:
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

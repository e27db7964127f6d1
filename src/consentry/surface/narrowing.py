"""Says the meet of two patterns as one pattern, where one can say it.

`latex/**/*.tex` and `latex/*` together are `latex/*.tex`; `*.tex` and `main*` are `main*.tex`.
Candidates are made by laying the names of the two patterns side by side, and each is proved by the
decision procedure before it is used; when none is exact the caller keeps both patterns as an
all-of pair. So a missed candidate costs brevity, never truth.
"""

from functools import lru_cache

from consentry.surface.automaton import Work, find_path
from consentry.surface.pattern import MOST_CHARACTERS, Part, Pattern, Segment, Wild, Wildcard

_MOST_CANDIDATES = 12
_MOST_NAMES = 100

_Segments = tuple[Segment, ...]


def meet_of(one: Pattern, other: Pattern, work: Work) -> Pattern | None:
    """The pattern that matches exactly what both match, or None if none was found."""
    if len(one.segments) + len(other.segments) > _MOST_NAMES:
        return None
    if len(one.text) + len(other.text) > MOST_CHARACTERS:
        return None
    for segments in _side_by_side(one.segments, other.segments):
        candidate = one.with_segments(_without_doubled_folders(segments))
        if _is_exactly(candidate, one, other, work):
            return candidate
    return None


def _is_exactly(candidate: Pattern, one: Pattern, other: Pattern, work: Work) -> bool:
    return (
        find_path((candidate,), ((one,),), work) is None
        and find_path((candidate,), ((other,),), work) is None
        and find_path((one, other), ((candidate,),), work) is None
    )


@lru_cache(maxsize=1024)
def _side_by_side(one: _Segments, other: _Segments) -> tuple[_Segments, ...]:
    """Ways to line up two lists of names, widest first, with the meet of each pair of names."""
    if not one or not other:
        rest = one or other
        return ((),) if all(segment is Wildcard.FOLDERS for segment in rest) else ()
    head, tail = one[0], one[1:]
    other_head, other_tail = other[0], other[1:]
    found: list[_Segments] = []
    if head is Wildcard.FOLDERS and other_head is Wildcard.FOLDERS:
        onward = (*_side_by_side(tail, other), *_side_by_side(one, other_tail))
        found += [(Wildcard.FOLDERS, *rest) for rest in onward]
    elif head is Wildcard.FOLDERS:
        found += [(other_head, *rest) for rest in _side_by_side(one, other_tail)]
        found += _side_by_side(tail, other)
    elif other_head is Wildcard.FOLDERS:
        found += [(head, *rest) for rest in _side_by_side(tail, other)]
        found += _side_by_side(one, other_tail)
    else:
        meet = _meet_of_names(head, other_head)
        found += [(meet, *rest) for rest in _side_by_side(tail, other_tail)] if meet else []
    return tuple(dict.fromkeys(found))[:_MOST_CANDIDATES]


def _meet_of_names(one: Segment, other: Segment) -> Segment | None:
    """A likely meet of two names; a wrong guess is thrown out by the proof."""
    if one == other or isinstance(one, str):
        return one
    if isinstance(other, str):
        return other
    if isinstance(one, Wildcard) or isinstance(other, Wildcard):
        return None
    head = max(_literal_head(one), _literal_head(other), key=len)
    tail = max(_literal_head(one[::-1]), _literal_head(other[::-1]), key=len)
    merged: list[Part] = [part for part in (head, Wildcard.MANY, tail) if part != ""]
    return tuple(merged)


def _literal_head(parts: Wild) -> str:
    first = parts[0]
    return first if isinstance(first, str) else ""


def _without_doubled_folders(segments: _Segments) -> _Segments:
    kept: list[Segment] = []
    for segment in segments:
        if not (kept and segment is Wildcard.FOLDERS and kept[-1] is Wildcard.FOLDERS):
            kept.append(segment)
    return tuple(kept)

"""The difference of two texts, line by line, in bounded time.

Myers' greedy search, cut off: texts that differ in more than some hundred lines are told as one part
replaced by the other, which is true and not the shortest. Whoever wrote the texts cannot make it slow.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from consentry.base.values import dataclass

_CONTEXT: Final = 3
_MOST_APART: Final = 200
_MOST_LINES: Final = 5_000

_Edit: TypeAlias = tuple[str, int, int]
"""A sign, and the places in the old and the new text; `=` for what is in both."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """A part of a unified diff: where it begins in both texts, and its lines, each with its sign."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[tuple[str, str], ...]

    @property
    def header(self) -> str:
        """As unified diffs have it."""
        old, new = (f"{self.old_start},{self.old_count}", f"{self.new_start},{self.new_count}")
        return f"@@ -{old} +{new} @@"


def hunks(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """What differs, with a few lines around it."""
    edits = list(_edits(old, new))
    changed = [index for index, edit in enumerate(edits) if edit[0] != "="]
    found: list[Hunk] = []
    at = 0
    while at < len(changed):
        first = last = changed[at]
        while at < len(changed) and changed[at] - last <= 2 * _CONTEXT + 1:
            last = changed[at]
            at += 1
        part = edits[max(0, first - _CONTEXT) : last + _CONTEXT + 1]
        found.append(_hunk(part, old, new))
    return found


def _hunk(part: Sequence[_Edit], old: Sequence[str], new: Sequence[str]) -> Hunk:
    lines = tuple((sign, new[b] if sign == "+" else old[a]) for sign, a, b in part)
    old_count = sum(sign != "+" for sign, _, _ in part)
    new_count = sum(sign != "-" for sign, _, _ in part)
    _, a, b = part[0]
    old_start = a + 1 if old_count else a
    new_start = b + 1 if new_count else b
    return Hunk(old_start, old_count, new_start, new_count, lines)


def _edits(old: Sequence[str], new: Sequence[str]) -> Iterator[_Edit]:
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        yield "=", start, start
        start += 1
    old_end, new_end = len(old), len(new)
    while old_end > start and new_end > start and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    for sign, a, b in _middle(old[start:old_end], new[start:new_end]):
        yield sign, a + start, b + start
    for offset in range(len(old) - old_end):
        yield "=", old_end + offset, new_end + offset


def _middle(old: Sequence[str], new: Sequence[str]) -> list[_Edit]:
    trail = None
    if old and new and max(len(old), len(new)) <= _MOST_LINES:
        trail = _searched(old, new)
    if trail is None:
        return [
            *(("-", at, 0) for at in range(len(old))),
            *(("+", len(old), at) for at in range(len(new))),
        ]
    return _walked_back(old, new, trail)


def _searched(old: Sequence[str], new: Sequence[str]) -> list[dict[int, int]] | None:
    """How far each diagonal is reached with so many changes; None beyond the limit."""
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    for apart in range(_MOST_APART + 1):
        trail.append(dict(reach))
        for diagonal in range(-apart, apart + 1, 2):
            down = diagonal == -apart or (
                diagonal != apart and reach[diagonal - 1] < reach[diagonal + 1]
            )
            a = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            b = a - diagonal
            while a < len(old) and b < len(new) and old[a] == new[b]:
                a, b = a + 1, b + 1
            reach[diagonal] = a
            if a >= len(old) and b >= len(new):
                return trail
    return None


def _walked_back(
    old: Sequence[str], new: Sequence[str], trail: Sequence[dict[int, int]]
) -> list[_Edit]:
    """The edits on the way that the search found."""
    edits: list[_Edit] = []
    a, b = len(old), len(new)
    for apart in reversed(range(len(trail))):
        reach, diagonal = trail[apart], a - b
        down = diagonal == -apart or (
            diagonal != apart and reach[diagonal - 1] < reach[diagonal + 1]
        )
        before = diagonal + 1 if down else diagonal - 1
        from_a = reach[before]
        from_b = from_a - before
        while a > from_a and b > from_b:
            a, b = a - 1, b - 1
            edits.append(("=", a, b))
        if apart > 0:
            if down:
                b -= 1
                edits.append(("+", a, b))
            else:
                a -= 1
                edits.append(("-", a, b))
    return edits[::-1]

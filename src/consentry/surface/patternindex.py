"""Finds, among many entries, the few that could match a path that a pattern matches.

Entries hang in a tree of names, at the node where their literal names end. The usual question (is
this file in that folder?) is a few dictionary look-ups, however many entries there are; only entries
whose literal names and letters can lead to the asked pattern ever reach the decision procedure.
"""

from collections.abc import Iterable, Iterator

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.surface.automaton import AllOf, Work, find_path, matches
from consentry.surface.entries import deepest_of, entry_text
from consentry.surface.pattern import Anchor, Pattern, Segment, Wildcard, parts_of

MOST_SIBLINGS = 2_000


class _Node:
    """The entries whose literal names end here, and the names that lead further down."""

    __slots__ = ("children", "entries", "holds_tree")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.entries: list[tuple[int, str, AllOf]] = []
        self.holds_tree = False

    def spelled_within(self, letters: str, beyond: int, work: Work) -> Iterator[AllOf]:
        """The entries here that spell out only those letters, in that order."""
        work.spend(len(self.entries) // 8)
        for classes, needed, entry in self.entries:
            if not classes & beyond:
                work.spend(1 + len(letters) // 64)
                if _is_subsequence(needed, letters):
                    yield entry

    def below(self) -> "Iterator[_Node]":
        """This node and every one further down."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.children.values())


class PatternIndex:
    """Finds, among many entries, the few that could match a path that a pattern matches."""

    __slots__ = ("roots", "texts")

    def __init__(self, entries: Iterable[AllOf] = ()) -> None:
        self.texts: set[str] = set()
        self.roots: dict[Anchor, _Node] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: AllOf) -> None:
        """Hangs an entry in its place; too many wildcard entries in one place are refused."""
        self.texts.add(entry_text(entry))
        deepest = deepest_of(entry)
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
        candidates = self.candidates(asked, work)
        if len(asked) == 1 and asked[0].is_literal:
            names = asked[0].prefix
            return any(all(matches(p, names, work) for p in entry) for entry in candidates)
        return bool(candidates) and find_path(asked, candidates, work) is None

    def candidates(self, asked: AllOf, work: Work) -> list[AllOf]:
        """The entries that may match some path that `asked` matches; the others cannot."""
        root = self.roots.get(asked[0].anchor)
        if root is None:
            return []
        if len(asked) == 1:
            return _met_on_the_way(root, asked[0], work)
        letters = "".join(_letters(pattern.segments) for pattern in asked)
        return list(self.neighbours(asked, work, beyond=~_classes(letters)))

    def neighbours(self, asked: AllOf, work: Work, *, beyond: int = 0) -> Iterator[AllOf]:
        """Entries whose literal names lead to, or on from, those of `asked`.

        Entries that need a letter of a class in `beyond` are left out.
        """
        for node in self._nodes_around(deepest_of(asked)):
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
    beyond = ~_classes(letters)
    node: _Node | None = root
    for segment in (*pattern.segments, None):
        if node is None:
            break
        if segment is Wildcard.FOLDERS:
            continue
        if node.entries:
            found.extend(node.spelled_within(letters, beyond, work))
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

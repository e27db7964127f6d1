"""YAML as nodes that know their line, with anchors, aliases and merges, for files of other programs.

An alias stands for the node itself and is not copied, but it counts with all that is in it: a
document that a reader would walk for longer than `MOST_NODES` is refused, however small it is. Of
keys that are there twice both count, as the programs that read them disagree about which one does.

A tag of YAML's own types says nothing new. What stands under `!reference` is said elsewhere in the
same file. Whatever has another tag is broken: what becomes of it only its program knows.
"""

from collections.abc import Iterator
from typing import Final

import yaml

from consentry.base.values import dataclass, field
from consentry.declare.nodes import (
    Broken,
    Items,
    Mapping,
    Mark,
    Node,
    Scalar,
    plain_scalar,
    quoted_scalar,
)

MOST_DEPTH: Final = 64
MOST_NODES: Final = 100_000
MOST_CHARACTERS: Final = 1 << 20
_CHARACTERS_OF_ONE: Final = 64
"""So many characters of a text count as one more value."""

_MERGE: Final = "<<"
_PLAIN_TAGS: Final = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map")
)
_ELSEWHERE: Final = "!reference"
_HIDDEN_BREAKS: Final = ("\x85", "\u2028", "\u2029")


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end was not met yet; of a mapping, keys and values in turn."""

    is_mapping: bool
    mark: Mark
    anchor: str | None
    tag: str | None
    nodes: list[Node] = field(default_factory=list)
    size: int = 1

    def closed(self) -> Node:
        instead = _instead(self.tag, self.mark)
        if instead is not None:
            return instead
        if not self.is_mapping:
            return Items(self.mark, tuple(self.nodes))
        entries: list[tuple[Node, Node]] = []
        for key, value in zip(self.nodes[::2], self.nodes[1::2], strict=True):
            if isinstance(key, Scalar) and key.text == _MERGE:
                for merged in value.items if isinstance(value, Items) else (value,):
                    entries += merged.entries if isinstance(merged, Mapping) else ()
            else:
                entries.append((key, value))
        return Mapping(self.mark, tuple(entries))


def yaml_documents(text: str) -> tuple[Node, ...]:
    """The root of every document; raises `ValueError` for what is not YAML, too deep or large."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"it has more than {MOST_CHARACTERS:,} characters")
    if any(mark in text for mark in _HIDDEN_BREAKS):
        raise ValueError("it has a line break that editors do not show")
    walk = _Walk()
    for event in _events(text):
        walk.take(event)
    return walk.roots()


class _Walk:
    """What is open, innermost last, and what anchors stand for; the outermost is the text."""

    def __init__(self) -> None:
        self._open = [_Open(is_mapping=False, mark=Mark(1, 1), anchor=None, tag=None)]
        self._anchors: dict[str, tuple[Node, int]] = {}

    def roots(self) -> tuple[Node, ...]:
        """The documents."""
        return tuple(self._open[0].nodes)

    def take(self, event: yaml.Event) -> None:
        """One event of the parser."""
        place = event.start_mark
        mark = Mark(1, 1) if place is None else Mark(place.line + 1, place.column + 1)
        match event:
            case yaml.DocumentStartEvent():
                self._anchors.clear()
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                if len(self._open) > MOST_DEPTH:
                    raise ValueError(f"it is nested deeper than {MOST_DEPTH}")
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                self._open.append(_Open(is_mapping, mark, event.anchor, event.tag))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                ended = self._open.pop()
                self._add(ended.closed(), ended.size, ended.anchor)
            case yaml.ScalarEvent():
                size = 1 + len(event.value) // _CHARACTERS_OF_ONE
                self._add(_scalar(event, mark), size, event.anchor)
            case yaml.AliasEvent():
                if event.anchor not in self._anchors:
                    raise ValueError(f"line {mark.line}: the alias stands for nothing yet")
                self._add(*self._anchors[event.anchor], None)

    def _add(self, node: Node, size: int, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = (node, size)
        self._open[-1].nodes.append(node)
        self._open[-1].size += size
        if self._open[-1].size > MOST_NODES:
            raise ValueError(f"it has more than {MOST_NODES:,} values")


def yaml_document(text: str) -> Node:
    """The root of the one document; an empty text has nothing in it."""
    documents = yaml_documents(text)
    if len(documents) > 1:
        raise ValueError("it has more than one document")
    return documents[0] if documents else Items(Mark(1, 1), ())


def _scalar(event: yaml.ScalarEvent, mark: Mark) -> Node:
    value, style = event.value, event.style
    instead = _instead(event.tag, mark)
    if instead is not None:
        return instead
    if style in ("|", ">"):
        return quoted_scalar(Mark(mark.line + 1, 1), value)
    return plain_scalar(mark, value) if not style else quoted_scalar(mark, value)


def _instead(tag: str | None, mark: Mark) -> Node | None:
    """What stands for a node with that tag; None where it is what it looks like."""
    if tag is None or tag == "!" or tag in _PLAIN_TAGS:
        return None
    if tag == _ELSEWHERE:
        return Items(mark, ())
    return Broken(mark, f"the tag {tag[:80]}", "")


def _events(text: str) -> Iterator[yaml.Event]:
    # The parser that is written in Python: a stranger's bytes stay out of C code.
    try:
        loader = yaml.SafeLoader(text)
        while loader.check_event():
            event: yaml.Event = loader.get_event()  # type: ignore[no-untyped-call] # stubs
            yield event
    except (yaml.YAMLError, OverflowError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        place = "it" if mark is None else f"line {mark.line + 1}"
        raise ValueError(f"{place} is not YAML") from wrong

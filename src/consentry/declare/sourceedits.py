"""Edits of a YAML text at the places of its nodes, so that everything else stays to the letter."""

from collections.abc import Iterator, Sequence

import yaml

from consentry.base.values import dataclass, field


@dataclass(frozen=True, slots=True)
class Edit:
    """A place in the text, what is taken out there, and what is put in."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with edits that do not touch each other."""
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def value_of(block: yaml.Node | None, key: str) -> yaml.Node | None:
    """What a mapping has under a key; None where it has nothing, or is none."""
    pairs = block.value if isinstance(block, yaml.MappingNode) else ()
    return next((value for name, value in pairs if name.value == key), None)


@dataclass(slots=True)
class ListEdits:
    """Items of one list that go, or make room for others; `empty` stands where none is left."""

    text: str
    node: yaml.Node | None
    colon: int = 0
    empty: str = "[]"
    _instead: dict[int, tuple[Sequence[str], str | None]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, block: yaml.Node | None, key: str, empty: str = "[]") -> "ListEdits":
        """Of the list that a mapping has under a key."""
        pairs = block.value if isinstance(block, yaml.MappingNode) else ()
        for name, value in pairs:
            if name.value == key:
                return cls(text, value, text.index(":", name.end_mark.index), empty)
        return cls(text, None)

    def replace(self, at: int, values: Sequence[str], key: str | None) -> None:
        """Puts items in the place of one: copies of it that have other values under the key."""
        self._instead[at] = (values, key)

    def edits(self) -> Iterator[Edit]:
        """All of it, as edits of the text."""
        node = self.node
        if not self._instead or not isinstance(node, yaml.SequenceNode):
            return
        goes = {at for at, (values, _) in self._instead.items() if not values}
        is_emptied = len(goes) == len(node.value)
        if node.flow_style:
            items = enumerate(node.value)
            inner = ", ".join(each for at, item in items for each in self._sources(at, item))
            text = self.empty if is_emptied else f"[{inner}]"
            yield Edit(node.start_mark.index, node.end_mark.index, text)
            return
        if is_emptied:
            yield Edit(self.colon + 1, self.colon + 1, f" {self.empty}")
        for at in sorted(self._instead):
            start, end = self._lines_of(node.value[at])
            yield Edit(start, end, "".join(self._copies(at, node.value[at], start, end)))

    def _sources(self, at: int, item: yaml.Node) -> list[str]:
        source = self.text[item.start_mark.index : item.end_mark.index]
        if at not in self._instead:
            return [source]
        values, key = self._instead[at]
        return [self._with(item, value, key, 0, len(source)) for value in values]

    def _copies(self, at: int, item: yaml.Node, start: int, end: int) -> list[str]:
        values, key = self._instead[at]
        before = start - item.start_mark.index
        return [
            self._with(item, value, key, before, end - item.start_mark.index) for value in values
        ]

    def _with(self, item: yaml.Node, value: str, key: str | None, start: int, end: int) -> str:
        """A copy of an item with another value, from and to so many letters from its beginning."""
        place = item if key is None else value_of(item, key) or item
        first = item.start_mark.index
        head = self.text[first + start : place.start_mark.index]
        return head + value + self.text[place.end_mark.index : first + end]

    def _lines_of(self, item: yaml.Node) -> tuple[int, int]:
        """The lines of an item, from the one with its dash to the last that belongs to it."""
        dash = self.text.rindex("-", 0, item.start_mark.index)
        last = max(each.end_mark.index for each in leaves_of(item))
        end = self.text.find("\n", last)
        start = self.text.rfind("\n", 0, dash) + 1
        return start, len(self.text) if end < 0 else end + 1


def leaves_of(node: yaml.Node) -> Iterator[yaml.Node]:
    """The scalars of a node, and lists and mappings on one line: what has an end of its own."""
    match node:
        case yaml.SequenceNode() if not node.flow_style and node.value:
            for each in node.value:
                yield from leaves_of(each)
        case yaml.MappingNode() if not node.flow_style and node.value:
            for key, value in node.value:
                yield from leaves_of(key)
                yield from leaves_of(value)
        case _:
            yield node

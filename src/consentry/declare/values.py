"""Values of a document, to be taken as what they should be; what is wrong is noted, with its place.

A builder asks for the fields it knows and says how each is read. It gets stand-ins for what is
wrong, so that the rest is read as well; `reader.read_document` throws away what was built from them.
"""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Where
from consentry.base.nearest import closest
from consentry.base.values import dataclass, field
from consentry.declare.nodes import (
    Broken,
    Items,
    Kind,
    Mapping,
    Node,
    Scalar,
    clipped,
    described,
)
from consentry.declare.problems import Problems
from consentry.declare.sound import is_key, is_possible, joined_path

Built = TypeVar("Built")
Otherwise = TypeVar("Otherwise")
Member = TypeVar("Member", bound=StrEnum)

_MEANT_AS_FLAG = {
    **dict.fromkeys(("yes", "on", "y", "true"), "true"),
    **dict.fromkeys(("no", "off", "n", "false"), "false"),
}
_MOST_DIGITS = 18
_MOST_LETTERS = 4096


@dataclass(frozen=True, slots=True)
class Value:
    """A value with its place, and the ways to take it as what it should be.

    Each of them returns None after it has noted what is wrong.
    """

    node: Node
    path: str
    problems: Problems = field(repr=False)

    @property
    def where(self) -> Where:
        """Where it stands."""
        return self.problems.place(self.node.mark, self.path)

    @property
    def line(self) -> int:
        """The line it stands in."""
        return self.node.mark.line

    def refuse(self, message: str, help_line: str, code: Code = Code.DOCUMENT_INVALID) -> None:
        """Notes that something is wrong with it."""
        self.problems.add(self.node.mark, self.path, message, help_line, code)

    def refuse_for(self, problem: ConsentryError) -> None:
        """Notes what an error says about it."""
        self.refuse(problem.message, problem.help_line, problem.code)

    def is_kind(self, kind: Kind) -> bool:
        """Whether it is a single value of that kind."""
        return isinstance(self.node, Scalar) and self.node.kind is kind

    def is_list(self) -> bool:
        """Whether it is a list."""
        return isinstance(self.node, Items)

    def text(self) -> str | None:
        """A text of at least one character."""
        found = self.words()
        if found == "":
            self.refuse("the text is empty", "write something, or leave the key out")
            return None
        return found

    def words(self) -> str | None:
        """A text, which may be empty."""
        if isinstance(self.node, Scalar) and self.node.kind is Kind.TEXT:
            # A text with a character that cannot be was noted before anything was built.
            return self.node.text if is_possible(self.node.text) else None
        if isinstance(self.node, Scalar) and self.node.text:
            self.refuse_kind("text", f'put it in quotes: "{clipped(self.node.text)}"')
            return None
        self.refuse_kind("text", "write a text")
        return None

    def flag(self) -> bool | None:
        """`true` or `false`."""
        if isinstance(self.node, Scalar):
            if self.node.kind is Kind.FLAG:
                return self.node.text == "true"
            meant = _MEANT_AS_FLAG.get(self.node.text.lower())
            if meant is not None:
                self.refuse_kind(Kind.FLAG, f"write {meant}, without quotes")
                return None
        self.refuse_kind(Kind.FLAG, "write true or false")
        return None

    def whole(self, least: int, most: int) -> int | None:
        """A whole number within bounds."""
        if not isinstance(self.node, Scalar) or self.node.kind is not Kind.WHOLE:
            self.refuse_kind(Kind.WHOLE, "write a number, without quotes")
            return None
        digits = self.node.text
        number = int(digits) if len(digits) <= _MOST_DIGITS else None
        if number is not None and least <= number <= most:
            return number
        self.refuse(
            f"`{clipped(digits)}` is out of range", f"write a number from {least} to {most}"
        )
        return None

    def member(self, kind: type[Member]) -> Member | None:
        """One of the words of an enumeration."""
        found = self.text()
        if found is None:
            return None
        try:
            return kind(found)
        except ValueError:
            known = ", ".join(kind)
            nearest = closest(found, kind)
            help_line = f"write one of {known}" if nearest is None else f"did you mean `{nearest}`?"
            self.refuse(f"`{clipped(found)}` is not one of {known}", help_line)
            return None

    def matching(self, pattern: re.Pattern[str], what: str, help_line: str) -> str | None:
        """A text of a certain form."""
        found = self.text()
        if found is None or pattern.fullmatch(found):
            return found
        self.refuse(f"`{clipped(found)}` is not {what}", help_line)
        return None

    def parsed(self, parse: Callable[[str], Built]) -> Built | None:
        """A text, given to a parser that raises errors of ours."""
        found = self.text()
        if found is None:
            return None
        if len(found) > _MOST_LETTERS:
            self.refuse(f"the text has more than {_MOST_LETTERS:,} characters", "shorten it")
            return None
        try:
            return parse(found)
        except ConsentryError as problem:
            self.refuse_for(problem)
            return None

    def items(self) -> "tuple[Value, ...] | None":
        """The values of a list."""
        if not isinstance(self.node, Items):
            self.refuse_kind("a list", "write a list; `[]` is an empty one")
            return None
        return tuple(
            Value(item, f"{self.path}[{index}]", self.problems)
            for index, item in enumerate(self.node.items)
        )

    def each(self, read: "Callable[[Value], Built | None]") -> tuple[Built, ...] | None:
        """The values of a list, each read in the same way; what is wrong is left out."""
        items = self.items()
        if items is None:
            return None
        return tuple(built for item in items if (built := read(item)) is not None)

    def fields(self, names: Sequence[str]) -> "Fields | None":
        """The fields of a mapping that may have these keys and no others."""
        entries = self.entries()
        return None if entries is None else Fields(self, entries, names)

    def entries(self) -> "dict[str, Entry] | None":
        """The entries of a mapping, whatever their keys; of a key that is there twice, the first."""
        if not isinstance(self.node, Mapping):
            self.refuse_kind("a mapping", "write `key: value` lines; `{}` has none")
            return None
        found: dict[str, Entry] = {}
        for key, item in self.node.entries:
            if is_key(key):
                path = joined_path(self.path, key.text)
                entry = Entry(Value(key, path, self.problems), Value(item, path, self.problems))
                found.setdefault(key.text, entry)
        return found

    def refuse_kind(self, meant: str, help_line: str) -> None:
        """Notes that it is something else than what is meant."""
        # What no document may contain was noted before anything was built.
        if not isinstance(self.node, Broken):
            self.refuse(f"{described(self.node)}, and {meant} is meant", help_line)


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and what stands behind it."""

    key: Value
    value: Value


class Fields:
    """A mapping with known keys; to take one that was not declared is a fault of the builder."""

    def __init__(self, mapping: Value, entries: dict[str, Entry], names: Sequence[str]) -> None:
        self.mapping = mapping
        self._entries = entries
        self._names = names
        for name, entry in entries.items():
            if name not in names:
                _refuse_unknown(entry.key, name, [each for each in names if each not in entries])

    @property
    def said(self) -> frozenset[str]:
        """The keys that are there."""
        return frozenset(self._entries)

    def find(self, name: str) -> Value | None:
        """The value of a key, if the key is there."""
        if name not in self._names:
            raise LookupError(f"`{name}` was not declared")
        entry = self._entries.get(name)
        return None if entry is None else entry.value

    def may(
        self, name: str, read: Callable[[Value], Built | None], otherwise: Otherwise
    ) -> Built | Otherwise:
        """What a key holds, or `otherwise` where it is not there."""
        value = self.find(name)
        built = None if value is None else read(value)
        return otherwise if built is None else built

    def need(self, name: str, read: Callable[[Value], Built | None], stand_in: Built) -> Built:
        """What a key holds; that it is not there is an error, after which `stand_in` will do."""
        value = self.find(name)
        if value is None:
            path = joined_path(self.mapping.path, name)
            mark = self.mapping.node.mark
            self.mapping.problems.add(mark, path, "this key is missing", f"add `{name}:`")
            return stand_in
        built = read(value)
        return stand_in if built is None else built


def one_of(kind: type[Member]) -> Callable[[Value], Member | None]:
    """The way to read one of the words of an enumeration."""
    return lambda value: value.member(kind)


def _refuse_unknown(key: Value, name: str, unused: list[str]) -> None:
    nearest = closest(name, unused)
    known = f"the keys still free here are {', '.join(unused)}" if unused else "remove it"
    help_line = known if nearest is None else f"did you mean `{nearest}`?"
    key.refuse(f"`{clipped(name)}` is not a key that is known here", help_line)

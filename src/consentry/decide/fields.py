"""Checks and reads the fields of what `decide` keeps, and names the one that is wrong.

Every value of this room is checked when it is made, whether it was asked for or read back, under
the names its JSON has. Reading is strict: the fields that a value has, no other, none missing.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, Where
from consentry.base.ids import check_id
from consentry.base.units import Duration, Size
from consentry.record import fields as record_fields

Member = TypeVar("Member", bound=StrEnum)
Part = TypeVar("Part")
Amount = TypeVar("Amount", Duration, Size)


def problem(name: str, message: str) -> BadInput:
    """The error that a field is refused with."""
    return BadInput(Code.DECISION_FIELD, message, where=Where(field=name))


def check_text(name: str, value: str | None) -> None:
    """Raises unless it is a text of at least one character, without NUL."""
    record_fields.check_text(name, value, Code.DECISION_FIELD)
    if value is not None and "\0" in value:
        raise problem(name, "a text cannot hold the character NUL")


def check_words(name: str, value: str | None) -> None:
    """Raises unless it is absent or a text, which may be empty."""
    if value:
        check_text(name, value)


def check_digest(name: str, value: str | None) -> None:
    """Raises unless it is absent or `sha256:<hex>`."""
    if value is not None:
        record_fields.check_digest(name, value, Code.DECISION_FIELD)


def check_id_field(name: str, value: str | None, prefix: str) -> None:
    """Raises unless it is absent or an id with that prefix."""
    if value is not None:
        try:
            check_id(value, prefix)
        except ConsentryError as wrong:
            raise problem(name, wrong.message) from None


def check_texts(name: str, values: Sequence[str]) -> None:
    """Raises unless each is a text without NUL; each may be empty."""
    for index, value in enumerate(values):
        check_words(f"{name}[{index}]", value)


def check_pair(first: str, one: object, second: str, other: object) -> None:
    """Raises when only one of two fields that belong together is there."""
    if (one is None) != (other is None):
        there, missing = (first, second) if other is None else (second, first)
        raise problem(missing, f"cannot be absent where `{there}` is given")


def check_not_before(name: str, later: Instant | None, earlier: Instant) -> None:
    """Raises when the first lies before the second."""
    if later is not None and later < earlier:
        raise problem(name, f"`{later}` lies before `{earlier}`, when it began")


def as_json(moment: Instant | None) -> str | None:
    """An instant as JSON has it."""
    return None if moment is None else str(moment)


class Fields:
    """A JSON object with exactly these names, each field taken as what it must be."""

    def __init__(self, document: object, names: Sequence[str]) -> None:
        self._values = record_fields.read_object(document, names, Code.DECISION_FIELD)

    def value(self, name: str) -> Json:
        """Whatever it is."""
        found: Json = self._values[name]
        return found

    def text(self, name: str) -> str:
        """A text."""
        found = self._values[name]
        if not isinstance(found, str):
            raise problem(name, "this is not a text")
        return found

    def optional_text(self, name: str) -> str | None:
        """A text, or nothing."""
        return None if self._values[name] is None else self.text(name)

    def whole(self, name: str) -> int:
        """A whole number."""
        found = self._values[name]
        if not isinstance(found, int) or isinstance(found, bool):
            raise problem(name, "this is not a whole number")
        return found

    def instant(self, name: str) -> Instant:
        """A point in time."""
        try:
            return Instant.parse(self.text(name))
        except ConsentryError as wrong:
            raise problem(name, wrong.message) from None

    def optional_instant(self, name: str) -> Instant | None:
        """A point in time, or nothing."""
        return None if self._values[name] is None else self.instant(name)

    def digest(self, name: str) -> Digest:
        """A digest."""
        check_digest(name, self.text(name))
        return Digest(self.text(name))

    def optional_digest(self, name: str) -> Digest | None:
        """A digest, or nothing."""
        return None if self._values[name] is None else self.digest(name)

    def digests(self, name: str) -> Mapping[str, Digest]:
        """Digests by name."""
        found = self._values[name]
        if not isinstance(found, dict):
            raise problem(name, "this is not an object")
        inner = Fields(found, tuple(found))
        return MappingProxyType({key: inner.digest(key) for key in found})

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        found = record_fields.read_list(name, self._values[name], Code.DECISION_FIELD)
        for index, item in enumerate(found):
            if not isinstance(item, str):
                raise problem(f"{name}[{index}]", "this is not a text")
        return tuple(str(item) for item in found)

    def optional_texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts, or nothing."""
        return None if self._values[name] is None else self.texts(name)

    def member(self, name: str, kind: type[Member]) -> Member:
        """One of the words that are known."""
        found = self.text(name)
        try:
            return kind(found)
        except ValueError:
            raise problem(name, f"`{found}` is not one of {', '.join(kind)}") from None

    def optional_member(self, name: str, kind: type[Member]) -> Member | None:
        """One of the words that are known, or nothing."""
        return None if self._values[name] is None else self.member(name, kind)

    def flag(self, name: str) -> bool:
        """A yes or a no."""
        found = self._values[name]
        if not isinstance(found, bool):
            raise problem(name, "this is neither true nor false")
        return found

    def optional_amount(self, name: str, kind: type[Amount]) -> Amount | None:
        """A span of time or a size as it is written, or nothing."""
        spelled = self.optional_text(name)
        try:
            return None if spelled is None else kind.parse(spelled)
        except ConsentryError as wrong:
            raise problem(name, wrong.message) from None

    def parts(self, name: str, read: Callable[[object], Part]) -> tuple[Part, ...]:
        """A list of values that have fields of their own."""
        found = record_fields.read_list(name, self._values[name], Code.DECISION_FIELD)
        return tuple(read(item) for item in found)

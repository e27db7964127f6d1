"""Kinds of field that an event's payload is made of, and the check that a payload has them.

A `Kind` is a predicate and the words that messages and the reference use for it. Objects are built
from fields, lists from one kind; rules across the fields of an object hang on the object. What does
not fit is refused with the place (`user.consentMethod`, `filesRead[2].path`) and one message that
continues the words "an event of this type"; the value itself is not repeated, for it may be a
secret or very long.

Every event passes through here before it is recorded, so what can be prepared is prepared when a
kind is made. Fields beyond the named ones are let through: a payload may say more than it must.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NoReturn, TypeAlias, TypeGuard

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.base.ids import check_id
from consentry.base.values import dataclass
from consentry.record.fields import MOST_WHOLE

_ABSENT: Final = object()
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d\.\d{3}Z", re.ASCII)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_HEX64 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_MACHINE = re.compile(r"machine-[0-9a-f]{32}", re.ASCII)
_CODE = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*", re.ASCII)

AcrossRule: TypeAlias = Callable[[Mapping[str, Any]], None]
"""A rule across the fields of an object, each of which fits by itself; raises through `refuse`."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What may stand in a field.

    `fits` says whether a value is of this kind; for a value with parts it raises instead, where it
    is a part that does not fit. `fields` and `each` are the parts of an object and of a list.
    """

    words: str
    fits: Callable[[object], bool]
    fields: tuple["Field", ...] = ()
    each: "Kind | None" = None


@dataclass(frozen=True, slots=True)
class Field:
    """A field that must be there; whether null may stand in it is a matter of the field."""

    name: str
    kind: Kind
    nullable: bool = False


def field(name: str, kind: Kind) -> Field:
    """A field that always has a value."""
    return Field(name, kind)


def nullable(name: str, kind: Kind) -> Field:
    """A field that is always there, and may be null."""
    return Field(name, kind, nullable=True)


def refuse(name: str, message: str) -> NoReturn:
    """Raises: the field of that name breaks a rule; the message continues "an event of this type"."""
    raise BadInput(Code.EVENT_FIELD, message, where=Where(field=name))


def object_of(*fields: Field, across: tuple[AcrossRule, ...] = ()) -> Kind:
    """An object with at least these fields, for which these rules hold as well."""
    rows = tuple((each.name, each.kind.fits, each.nullable, each.kind.words) for each in fields)

    def fits(value: object) -> bool:
        if not _is_object(value):
            return False
        name = ""
        try:
            # Written for speed: this loop runs for every object of every event.
            for name, fits_kind, may_be_null, words in rows:
                item = value.get(name, _ABSENT)
                if item is None:
                    if not may_be_null:
                        raise BadInput(Code.EVENT_FIELD, "cannot have null here")
                elif item is _ABSENT:
                    raise BadInput(Code.EVENT_FIELD, "cannot be without it")
                elif not fits_kind(item):
                    raise BadInput(Code.EVENT_FIELD, f"must have {words} here")
        except BadInput as problem:
            raise _placed(problem, name) from None
        for rule in across:
            rule(value)
        return True

    return Kind("an object", fits, fields=fields)


def list_of(kind: Kind, *, least: int = 0) -> Kind:
    """A list with at least so many items, each of that kind."""
    fits_kind = kind.fits

    def fits(value: object) -> bool:
        if not _is_list(value) or len(value) < least:
            return False
        for index, item in enumerate(value):
            try:
                is_kind = item is not None and fits_kind(item)
            except BadInput as problem:
                raise _placed(problem, f"[{index}]") from None
            if not is_kind:
                refuse(f"[{index}]", f"must have {kind.words} here")
        return True

    return Kind("a list" if least == 0 else f"a list of at least {least}", fits, each=kind)


def map_of(kind: Kind, *, least: int = 0) -> Kind:
    """An object with at least so many fields, whose names are free, each of that kind."""
    fits_kind = kind.fits

    def fits(value: object) -> bool:
        if not _is_object(value) or len(value) < least:
            return False
        for name, item in value.items():
            try:
                is_kind = item is not None and fits_kind(item)
            except BadInput as problem:
                raise _placed(problem, str(name)) from None
            if not is_kind:
                refuse(str(name), f"must have {kind.words} here")
        return True

    size = f" with at least {least}" if least else ""
    return Kind(f"an object{size}, whose every value is {kind.words}", fits)


def one_of(*words: str) -> Kind:
    """One of these texts."""
    known = frozenset(words)
    spelled = ", ".join(f"`{word}`" for word in words)
    phrase = f"one of {spelled}" if len(words) > 1 else spelled
    return Kind(phrase, lambda value: isinstance(value, str) and value in known)


def id_of(prefix: str) -> Kind:
    """An id `prefix-<uuid7>`."""

    def fits(value: object) -> bool:
        if not isinstance(value, str):
            return False
        try:
            check_id(value, prefix)
        except BadInput:
            return False
        return True

    return Kind(f"an id `{prefix}-<uuid7>`", fits)


def whole_from(least: int) -> Kind:
    """A whole number, from `least` on, that canonical JSON can hold."""

    def fits(value: object) -> bool:
        return _is_whole(value) and least <= value

    return Kind(f"a whole number from {least} on", fits)


def leaves(fields: Sequence[Field], within: str = "") -> Iterator[tuple[str, Field]]:
    """Every field, outer before inner, with its place: `user.id`, `filesRead[].path`."""
    for each in fields:
        place = f"{within}{each.name}"
        yield place, each
        inner, below = each.kind, f"{place}."
        if inner.each is not None:
            inner, below = inner.each, f"{place}[]."
        yield from leaves(inner.fields, below)


def _placed(problem: BadInput, place: str) -> BadInput:
    where = (problem.where or Where()).within(place)
    return BadInput(Code.EVENT_FIELD, problem.message, where=where)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_whole(value: object) -> TypeGuard[int]:
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return -MOST_WHOLE <= value <= MOST_WHOLE


def _is_share(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 <= value <= 1


# An exact type is asked for first: a question to an abstract class takes as long as the whole rest.
def _is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    return type(value) is dict or isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    if type(value) is list:
        return True
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _is_instant(value: object) -> bool:
    if not isinstance(value, str) or _INSTANT.fullmatch(value) is None:
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _matching(words: str, form: re.Pattern[str]) -> Kind:
    full = form.fullmatch
    return Kind(words, lambda value: isinstance(value, str) and full(value) is not None)


TEXT: Final = Kind("a text of at least one character", _is_text)
ANY_TEXT: Final = Kind("a text", lambda value: isinstance(value, str))
BOOLEAN: Final = Kind("true or false", lambda value: isinstance(value, bool))
WHOLE: Final = Kind("a whole number", _is_whole)
SHARE: Final = Kind("a number from 0 to 1", _is_share)
LIST: Final = Kind("a list", _is_list)
OBJECT: Final = Kind("an object", _is_object)
ANY_JSON: Final = Kind("a value", lambda _value: True)
INSTANT: Final = Kind("a time in UTC as `2026-01-01T00:00:00.000Z`", _is_instant)
DIGEST: Final = _matching("a digest `sha256:<hex>`", _DIGEST)
HEX64: Final = _matching("64 hexadecimal digits in lower case", _HEX64)
MACHINE_ID: Final = _matching("an id `machine-<32 hexadecimal digits>`", _MACHINE)
CODE_WORD: Final = _matching("a code in lower case, its words joined by `-` or `_`", _CODE)

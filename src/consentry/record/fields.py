"""Reads the fields of a checkpoint or proof: exactly the ones it has, each of its own form.

Nothing is guessed or repaired: an unknown, missing, repeated or ill-typed field is refused with its
name, and every value has one spelling only, so that reading a document and writing it again gives
the same canonical JSON.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, Where

MOST_WHOLE: Final = 2**53 - 1
"""The largest whole number that canonical JSON can hold."""

_HEX = re.compile(r"[0-9a-f]*", re.ASCII)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGEST_PREFIX = "sha256:"
_SHA256_DIGITS: Final = 64


def parse_document(text: str | bytes, code: Code, *, whole: Callable[[str], float] = int) -> object:
    """JSON in UTF-8 as values; a key twice in one object, NaN and unending depth are refused.

    `whole` reads a number without fraction and exponent.
    """

    def no_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        document: object = json.loads(
            decoded,
            object_pairs_hook=_without_repeats,
            parse_constant=no_constant,
            parse_int=whole,
        )
    except (ValueError, RecursionError) as problem:
        raise BadInput(code, f"not a JSON document: {problem}") from None
    return document


def read_object(document: object, names: Sequence[str], code: Code) -> dict[str, Any]:
    """The fields of a JSON object that has all of these names and no other."""
    if not isinstance(document, dict):
        raise BadInput(code, "this is not a JSON object")
    for name in document:
        if name not in names:
            raise BadInput(code, "there is no such field", where=Where(field=str(name)))
    for name in names:
        if name not in document:
            raise BadInput(code, "the field is missing", where=Where(field=name))
    return dict(document)


def read_list(name: str, value: object, code: Code) -> list[object]:
    """The value, if it is a list."""
    if not isinstance(value, list):
        raise BadInput(code, "this is not a list", where=Where(field=name))
    return value


def check_text(name: str, value: object, code: Code) -> None:
    """Raises unless the value is a text of at least one character."""
    if not isinstance(value, str) or not value or _LONE_SURROGATE.search(value):
        raise BadInput(code, "this is not a text", where=Where(field=name))


def check_constant(name: str, value: object, expected: str | int, code: Code) -> None:
    """Raises unless the value is the one that this version of the document has."""
    if type(value) is not type(expected) or value != expected:
        message = f"`{value}` is not `{expected}`, the only value that this version knows"
        raise BadInput(code, message, where=Where(field=name))


def check_whole(name: str, value: object, code: Code, *, least: int) -> None:
    """Raises unless the value is a whole number from `least` on that canonical JSON can hold."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole or not least <= value <= MOST_WHOLE:  # type: ignore[operator] # it is an int
        message = f"`{value}` is not a whole number from {least} on"
        raise BadInput(code, message, where=Where(field=name))


def check_hex(name: str, value: object, code: Code, *, digits: int = _SHA256_DIGITS) -> None:
    """Raises unless the value is that many hexadecimal digits in lower case."""
    if not isinstance(value, str) or len(value) != digits or _HEX.fullmatch(value) is None:
        message = f"this is not {digits} hexadecimal digits in lower case"
        raise BadInput(code, message, where=Where(field=name))


def check_digest(name: str, value: object, code: Code) -> None:
    """Raises unless the value is `sha256:` and 64 hexadecimal digits."""
    if not isinstance(value, str) or not value.startswith(_DIGEST_PREFIX):
        raise BadInput(code, "this is not a digest `sha256:<hex>`", where=Where(field=name))
    check_hex(name, value.removeprefix(_DIGEST_PREFIX), code)


def check_path(name: str, value: object, code: Code) -> None:
    """Raises unless the value is a tuple of SHA-256 hashes in hexadecimal."""
    if not isinstance(value, tuple):
        raise BadInput(code, "this is not a list", where=Where(field=name))
    for index, each in enumerate(value):
        check_hex(f"{name}[{index}]", each, code)


def whole_or_double(digits: str) -> float:
    """A whole number as canonical JSON has it: a double from where whole numbers have gaps."""
    as_double = float(digits)
    return int(digits) if abs(as_double) <= MOST_WHOLE else as_double


@contextmanager
def placed(field: str, code: Code) -> Iterator[None]:
    """Makes an error from within one of this document: its code, and `field` before the place."""
    try:
        yield
    except ConsentryError as problem:
        where = (problem.where or Where()).within(field)
        raise BadInput(code, problem.message, where=where) from None


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"`{twice}` is there twice")
    return fields

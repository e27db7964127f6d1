"""The one canonical JSON of the product (RFC 8785), and the digests made from it.

Same value, same bytes, on every machine: sorted keys, no white space, numbers as ECMAScript prints
them. Digests are written `sha256:<hex>`. A digest says that bytes are the same as before; it is
not a signature, for anyone can compute one.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NewType, TypeAlias

import rfc8785

from consentry.base.codes import Code
from consentry.base.errors import BadInput

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Digest = NewType("Digest", str)

_MOST_INTEGER = 2**53 - 1
_MOST_DIGITS = 17
_LONG_NUMBER = re.compile(r"\d{16}")


def canonical_json(value: Json) -> bytes:
    """The canonical bytes of `value`; raises where RFC 8785 has no answer (NaN, lone surrogates)."""
    try:
        if _is_simple(value):
            return _encode_simple(value).encode()
        return rfc8785.dumps(_plain(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as problem:
        raise BadInput(
            Code.CANONICAL_JSON, f"no canonical JSON for this value: {problem}"
        ) from None


# For values without floats, the interpreter's own encoder writes the same bytes and is ten times as
# fast; the two are held against each other by a test.
_encode_simple = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


def _is_simple(value: object) -> bool:
    """Whether it has nothing on which the two encoders might differ.

    Exact types only; whole numbers that a double holds; keys whose order by code point is their
    order by UTF-16 unit, which is so for ASCII.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return -_MOST_INTEGER <= value <= _MOST_INTEGER  # type: ignore[operator]
    if kind is dict:
        # A plain loop: this is asked of every event that is recorded.
        for key, item in value.items():  # type: ignore[attr-defined]
            if type(key) is not str or not key.isascii():
                return False
            if type(item) is not str and item is not None and not _is_simple(item):
                return False
        return True
    return kind is list and all(map(_is_simple, value))  # type: ignore[call-overload]


def read_canonical(text: str) -> Any:
    """The value that a canonical text was made of; raises `ValueError` where it is no JSON.

    A decimal such as 1e20 is written in digits, as ECMAScript does. No whole number of ours is that long, so
    what is becomes a decimal again, and not a whole number that has no canonical JSON.
    """
    if _LONG_NUMBER.search(text) is None:
        return json.loads(text)
    return json.loads(text, parse_int=_number)


def _number(digits: str) -> int | float:
    # Turned into a whole number only where it is short: thousands of digits would take long.
    short = len(digits) <= _MOST_DIGITS and int(digits)
    return short if short is not False and abs(short) <= _MOST_INTEGER else float(digits)


def digest_bytes(content: bytes) -> Digest:
    """`sha256:<hex>` of the bytes as they are."""
    return Digest(f"sha256:{hashlib.sha256(content).hexdigest()}")


def digest_json(value: Json) -> Digest:
    """`sha256:<hex>` of the canonical JSON of `value`."""
    return digest_bytes(canonical_json(value))


def _plain(value: object) -> Json:
    """Views of mappings and sequences become the dicts and lists that the encoder knows."""
    if isinstance(value, str | int | float) or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [_plain(item) for item in value]
    raise rfc8785.CanonicalizationError(f"{type(value).__name__} has no JSON form")

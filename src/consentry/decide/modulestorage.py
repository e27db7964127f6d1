"""What a module may keep in its own part of the store: the rules of `module.storage.local`.

A key is text, a value is JSON. Nothing executable is ever kept, because only JSON is: bytes, code,
functions and pickles have no JSON form and are refused, and text stays text, whatever it says. What is read
back goes through `json.loads` and nothing else, and is frozen.

A module has so many keys, and so many bytes in all; a key counts with its value, so that long names are not
a place to keep things for nothing. Both are counted in UTF-8 of what is stored.
"""

import json
import re
from typing import Final

from consentry.base.canonical import Json, canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.base.frozenjson import frozen, thawed
from consentry.base.values import dataclass

# Controls, what ends a line, and halves of a pair; every other letter may be part of a key.
_UNFIT: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class StorageLimits:
    """How much one module may keep."""

    most_bytes: int = 1024**2
    most_value_bytes: int = 256 * 1024
    most_keys: int = 1000
    most_key_letters: int = 200


USUAL: Final = StorageLimits()


@dataclass(frozen=True, slots=True)
class StorageUse:
    """How much is kept: bytes of keys and values, and the number of keys."""

    used_bytes: int
    used_keys: int


def checked_key(key: object, limits: StorageLimits = USUAL) -> str:
    """The key as plain text; raises where it is none, is empty, too long, or has controls in it."""
    if not isinstance(key, str):
        raise _no_key(f"a key is text, and this is {type(key).__name__}")
    text = str.__str__(key)
    if not text:
        raise _no_key("a key has at least one letter")
    if len(text) > limits.most_key_letters:
        raise _no_key(f"a key has at most {limits.most_key_letters} letters, this has {len(text)}")
    unfit = _UNFIT.search(text)
    if unfit is not None:
        raise _no_key(f"a key has no control characters, this has U+{ord(unfit[0]):04X}")
    return text


def encoded_value(value: object, limits: StorageLimits = USUAL) -> str:
    """The canonical JSON of a value, as it is kept; raises where it has none, or too much of it."""
    text = canonical_json(thawed(frozen(value))).decode()
    size = len(text.encode())
    if size > limits.most_value_bytes:
        message = f"a value has at most {limits.most_value_bytes} bytes as JSON, this has {size}"
        raise Refused(Code.MODULE_STORAGE_FULL, message)
    return text


def decoded_value(text: str) -> Json:
    """The value of what was kept, frozen; raises `canonical-json` where it is no JSON."""
    try:
        return frozen(json.loads(text))
    except (ValueError, RecursionError) as problem:
        raise BadInput(Code.CANONICAL_JSON, f"this is not JSON: {problem}") from None


def stored_size(key: str, text: str) -> int:
    """What a key and its encoded value count for."""
    return len(key.encode()) + len(text.encode())


def check_room(limits: StorageLimits, others: StorageUse, size: int) -> None:
    """Raises unless there is room for one more of that size, beside all other keys of the module."""
    if others.used_keys >= limits.most_keys:
        message = (
            f"the module keeps {others.used_keys} other keys, and {limits.most_keys} is the most"
        )
        raise Refused(Code.MODULE_STORAGE_FULL, message)
    if others.used_bytes + size > limits.most_bytes:
        message = (
            f"the module would keep {others.used_bytes + size} bytes, "
            f"and {limits.most_bytes} is the most"
        )
        raise Refused(Code.MODULE_STORAGE_FULL, message)


def _no_key(why: str) -> BadInput:
    return BadInput(Code.DECISION_FIELD, why)

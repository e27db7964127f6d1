"""Any JSON value as YAML that reads back as the same value, for people to read.

Texts stand in double quotes unless they are plain words that nothing could mistake for something else;
whatever a terminal would obey, or nobody would see, is spelled by its number. So a stranger's text
can neither end a quotation nor change what is shown around it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeGuard

from consentry.base.safetext import is_plain

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[-./][A-Za-z0-9_]+)*", re.ASCII)
_NOT_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_STEP: Final = "  "


def yaml_text(value: object) -> str:
    """The document, with a line feed at its end; keys stay in the order they have."""
    return "\n".join(_lines(value, "")) + "\n"


def _lines(value: object, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _item(f"{indent}{_scalar(str(key))}:", item, indent + _STEP)
    elif _is_list(value) and value:
        for item in value:
            if (isinstance(item, Mapping) or _is_list(item)) and item:
                inner = list(_lines(item, indent + _STEP))
                yield f"{indent}- {inner[0].removeprefix(indent + _STEP)}"
                yield from inner[1:]
            else:
                yield f"{indent}- {_scalar(item)}"
    else:
        yield f"{indent}{_scalar(value)}"


def _item(key: str, value: object, indent: str) -> Iterator[str]:
    if (isinstance(value, Mapping) or _is_list(value)) and value:
        yield key
        yield from _lines(value, indent)
    else:
        yield f"{key} {_scalar(value)}"


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            is_word = _WORD.fullmatch(value) is not None and value.lower() not in _NOT_WORDS
            return value if is_word else f'"{"".join(map(_letter, value))}"'
        case Mapping():
            return "{}"
        case _:
            return "[]"


def _letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter == " " or (letter.isprintable() and is_plain(letter)):
        return letter
    number = ord(letter)
    if number < 1 << 8:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"

"""Literals and names as JavaScript spells them: escapes in strings and in identifiers, numbers."""

import re
from typing import Final

from consentry.examine.syntaxtree import Syntax

_SIMPLE: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPE: Final = re.compile(
    r"\\(?:u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|([0-7]{1,3})"
    r"|(\r\n|[\n\r\u2028\u2029])|(.))",
    re.DOTALL,
)
_MOST_CODE: Final = 0x10FFFF


def name_of(node: Syntax) -> str:
    """An identifier or property without its escapes."""
    text = node.text
    return unescaped(text) if "\\" in text else text


def unescaped(text: str) -> str:
    """The text that a literal with these characters between its quotes has."""
    return text if "\\" not in text else _ESCAPE.sub(_replaced, text)


def _replaced(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        number = int(code, 16)
        return chr(number) if number <= _MOST_CODE else "\ufffd"
    if found[4]:
        return chr(int(found[4], 8))
    if found[5]:
        return ""
    return _SIMPLE.get(found[6], found[6])


def string_of(node: Syntax) -> str:
    """The value of a string literal."""
    return unescaped(node.text[1:-1])


def number_of(node: Syntax) -> int | float | None:
    """The value of a number literal; None for one that Python does not read."""
    text = node.text.replace("_", "").lower().removesuffix("n")
    if len(text) > 40:  # noqa: PLR2004 - no index and no character code is that long
        return None
    try:
        if re.fullmatch(r"0[0-7]+", text):
            return int(text, 8)
        if text[:2] in ("0x", "0o", "0b"):
            return int(text, 0)
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return None

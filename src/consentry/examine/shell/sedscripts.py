"""Whether a script of sed only changes text: it starts nothing, and names no file.

The delimiter of an expression may stand in a set of letters (`[^/]`), which not every sed takes as
meant: the script is read both ways, and does something if it does so in one.
"""

import re
from enum import Enum
from typing import Final

MOST_STEPS: Final = 4096

_BETWEEN: Final = re.compile(r"[\s;{}]*")
_NUMBER: Final = re.compile(r"\d+(?:~\d+)?|\$|[+~]\d+")
_NO_WORDS: Final = re.compile(
    r"[=dDgGhHnNpPxzF][ \t]*(?=[;}\n#]|$)|[lLqQ][ \t]*\d*[ \t]*(?=[;}\n#]|$)"
)
_LABEL: Final = re.compile(r"[:btT][ \t]*[^\n;}]*")
_TEXT: Final = re.compile(r"[aic](?:\\\n|[^\n\\]|\\.)*", re.DOTALL)
_COMMENT: Final = re.compile(r"#[^\n]*")
_FLAGS: Final = re.compile(r"[gpiImM0-9]*[ \t]*(?=[;}\n#]|$)")
_POWER_FLAGS: Final = re.compile(r"[gpiImM0-9 \t]*[ew]")
_CASE: Final = re.compile(r"[IM]*")
_BLANKS: Final = re.compile(r"[ \t]*")
_COMMA: Final = re.compile(r",[ \t]*")
_NOT: Final = re.compile(r"[ \t!]*")
_SET_START: Final = re.compile(r"\^?\]?")
_CLASS: Final = re.compile(r"\[([:.=])\w*\1\]")
_POWERS: Final = re.compile(r"[erRwW]")


class _Reading(Enum):
    PLAIN = "plain"
    POWER = "power"
    BROKEN = "broken"


def is_plain_sed(script: str) -> bool:
    """Whether the script does nothing but change text."""
    read = {_read(script, has_sets=False), _read(script, has_sets=True)}
    return _Reading.PLAIN in read and _Reading.POWER not in read


def _read(script: str, *, has_sets: bool) -> _Reading:
    at = 0
    for _ in range(MOST_STEPS):
        at = _skip(_BETWEEN, script, at)
        if at >= len(script):
            return _Reading.PLAIN
        begin = _address(script, at, has_sets=has_sets)
        if begin is None:
            return _Reading.BROKEN
        at = begin
        if script[at : at + 1] in ("{", ""):
            continue
        after = _command(script, at, has_sets=has_sets)
        if isinstance(after, _Reading):
            return after
        at = after
    return _Reading.POWER  # too long to tell


def _skip(pattern: re.Pattern[str], script: str, at: int) -> int:
    found = pattern.match(script, at)
    return at if found is None else found.end()


def _address(script: str, at: int, *, has_sets: bool) -> int | None:
    """The place behind the addresses of a command; None when one of them does not end."""
    for _ in range(2):
        letter = script[at : at + 1]
        if letter in ("/", "\\") and letter:
            start = at + (1 if letter == "\\" else 0)
            end = _section(script, start + 1, script[start : start + 1], has_sets=has_sets)
            if end is None:
                return None
            at = _skip(_CASE, script, end)
        else:
            at = _skip(_NUMBER, script, at)
        at = _skip(_BLANKS, script, at)
        if script[at : at + 1] != ",":
            break
        at = _skip(_COMMA, script, at)
    return _skip(_NOT, script, at)


def _command(script: str, at: int, *, has_sets: bool) -> "int | _Reading":
    letter = script[at]
    if letter in "sy":
        return _substitution(script, at, has_sets=has_sets)
    for pattern in (_NO_WORDS, _LABEL, _TEXT, _COMMENT):
        found = pattern.match(script, at)
        if found is not None:
            return found.end()
    return _Reading.POWER if _POWERS.match(script, at) else _Reading.BROKEN


def _substitution(script: str, at: int, *, has_sets: bool) -> "int | _Reading":
    mark = script[at + 1 : at + 2]
    if not mark or mark in "\n\\":
        return _Reading.BROKEN
    has_sets = has_sets and script[at] == "s"
    end = _section(script, at + 2, mark, has_sets=has_sets)
    end = None if end is None else _section(script, end, mark, has_sets=False)
    if end is None:
        return _Reading.BROKEN
    flags = _FLAGS.match(script, end)
    if flags is not None:
        return flags.end()
    return _Reading.POWER if _POWER_FLAGS.match(script, end) else _Reading.BROKEN


def _section(script: str, at: int, mark: str, *, has_sets: bool) -> int | None:
    """The place behind the mark that ends the section which begins here."""
    in_set = False
    while at < len(script):
        letter = script[at]
        if letter == "\\" and not in_set:
            at += 2
            continue
        if letter == mark and not in_set:
            return at + 1
        if has_sets and letter == "[" and not in_set:
            in_set = True
            at = _skip(_SET_START, script, at + 1)
            continue
        inner = _CLASS.match(script, at) if in_set else None
        if inner is not None:
            at = inner.end()
            continue
        in_set = in_set and letter != "]"
        at += 1
    return None

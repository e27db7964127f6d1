"""Methods that turn constants into constants: of texts, arrays, numbers and buffers.

What Python does otherwise than JavaScript counts as computed: positions in texts with letters of
two code units, upper and lower case beyond ASCII, fractions, arguments that are not known.
"""

import re
from typing import Final

from consentry.examine.javascript.buffers import text_of
from consentry.examine.javascript.values import MOST_TEXT, UNKNOWN, Partial, Value, added, shown

_PLAIN_PATTERN: Final = re.compile(r"(?:[^\\^$.*+?()\[\]{}|]|\\[^\w])+|\[[^\\\[\]^&|~-]+\]")
_ONE_UNIT: Final = "\uffff"
_BLANK: Final = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def method_called(
    owner: Value, name: str, given: list[Value], pattern: tuple[str, str] | None
) -> Value:
    """What a method of a text, an array or a buffer gives.

    `pattern` is the regular expression that stands first, and its flags.
    """
    if isinstance(owner, bytes) and name == "toString":
        return text_of(owner, given)
    if isinstance(owner, tuple):
        return _array_method(owner, name, given)
    if isinstance(owner, Partial):
        return owner if name in ("toString", "concat", "valueOf") else UNKNOWN
    if isinstance(owner, str):
        if name in ("replace", "replaceAll"):
            return _replaced(owner, given, pattern, is_all=name == "replaceAll")
        return _text_method(owner, name, given)
    if isinstance(owner, (int, float)) and not isinstance(owner, bool) and name == "toString":
        return _in_base(owner, given[0] if given else 10)
    return UNKNOWN


def has_pairs(text: str) -> bool:
    """Whether JavaScript counts more positions in the text than it has letters."""
    return bool(text) and max(text) > _ONE_UNIT


def _array_method(owner: tuple[Value, ...], name: str, given: list[Value]) -> Value:
    if name == "join":
        separator = given[0] if given else ","
        if not isinstance(separator, str):
            return UNKNOWN
        parts: list[Value] = []
        for each in owner:
            parts += ["" if each is None else each, separator]
        return added(parts[:-1])
    if name in ("reverse", "toReversed"):
        return owner[::-1]
    if name in ("slice", "at"):
        return _cut(owner, name, given)
    if name == "concat" and UNKNOWN not in given:
        extra: list[Value] = []
        for each in given:
            extra += each if isinstance(each, tuple) else [each]
        return (*owner, *extra)
    if name == "toString":
        text = shown(owner)
        return UNKNOWN if text is None else text
    return UNKNOWN


def _cut(owner: "str | tuple[Value, ...]", name: str, given: list[Value]) -> Value:
    numbers = [each for each in given if isinstance(each, int)]
    if len(numbers) != len(given):
        return UNKNOWN
    if name == "at":
        at = numbers[0] if numbers else 0
        return owner[at] if -len(owner) <= at < len(owner) else UNKNOWN
    return owner[slice(numbers[0] if numbers else None, numbers[1] if len(numbers) > 1 else None)]


def _text_method(owner: str, name: str, given: list[Value]) -> Value:  # noqa: PLR0911 - one for each
    match name:
        case "toString" | "valueOf":
            return owner
        case "normalize" if owner.isascii():
            return owner
        case "toLowerCase" | "toLocaleLowerCase" if owner.isascii() and not given:
            return owner.lower()
        case "toUpperCase" | "toLocaleUpperCase" if owner.isascii() and not given:
            return owner.upper()
        case "trim":
            return owner.strip(_BLANK)
        case "trimStart":
            return owner.lstrip(_BLANK)
        case "trimEnd":
            return owner.rstrip(_BLANK)
        case "concat":
            return added([owner, *given])
        case "split" if len(given) == 1 and isinstance(given[0], str):
            if given[0]:
                return tuple(owner.split(given[0]))
            return UNKNOWN if has_pairs(owner) else tuple(owner)
    numbers = [each for each in given if isinstance(each, int)]
    if len(numbers) != len(given) or has_pairs(owner):
        return UNKNOWN
    return _by_number(owner, name, numbers)


def _by_number(owner: str, name: str, numbers: list[int]) -> Value:
    first = numbers[0] if numbers else 0
    match name:
        case "slice" | "at":
            return _cut(owner, name, [*numbers])
        case "substring" if numbers:
            ends = [min(max(each, 0), len(owner)) for each in (*numbers, len(owner))[:2]]
            return owner[min(ends) : max(ends)]
        case "substr" if numbers:
            start = first if first >= 0 else max(len(owner) + first, 0)
            return owner[start : start + max(numbers[1], 0) if len(numbers) > 1 else None]
        case "charAt":
            return owner[first] if 0 <= first < len(owner) else ""
        case "charCodeAt" | "codePointAt":
            return ord(owner[first]) if 0 <= first < len(owner) else UNKNOWN
        case "repeat" if first >= 0 and len(owner) * first <= MOST_TEXT:
            return owner * first
    return UNKNOWN


def _replaced(
    owner: str, given: list[Value], pattern: tuple[str, str] | None, *, is_all: bool
) -> Value:
    new = given[1] if len(given) > 1 else UNKNOWN
    if not isinstance(new, str) or "$" in new or has_pairs(owner):
        return UNKNOWN
    if pattern is not None:
        # Only patterns that mean the same here, and take no time.
        if not _PLAIN_PATTERN.fullmatch(pattern[0]) or pattern[1] not in ("", "g"):
            return UNKNOWN
        made = re.sub(pattern[0], lambda _: new, owner, count=0 if pattern[1] else 1)
        return made if len(made) <= MOST_TEXT else UNKNOWN
    if not isinstance(given[0], str):
        return UNKNOWN
    made = owner.replace(given[0], new, -1 if is_all else 1)
    return made if len(made) <= MOST_TEXT else UNKNOWN


def _in_base(number: float, base: Value) -> Value:
    if not isinstance(base, int) or not 2 <= base <= len(_DIGITS):  # noqa: PLR2004
        return UNKNOWN
    if not float(number).is_integer() or not 0 <= number < 2**53:
        return UNKNOWN
    left, text = int(number), ""
    while left:
        left, digit = divmod(left, base)
        text = _DIGITS[digit] + text
    return text or "0"


def number_in(text: str, base: int) -> Value:
    """`parseInt` of a text that is a number to its last letter."""
    digits = _DIGITS[:base]
    is_known = 2 <= base <= len(_DIGITS) and 0 < len(text) <= 10  # noqa: PLR2004 - see `shown`
    if not is_known or any(each not in digits for each in text.lower()):
        return UNKNOWN
    return int(text, base)

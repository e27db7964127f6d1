"""From the bytes of a module package to JSON values, or one refusal for everything that is not JSON.

Refused as `invalid-package-root` at `package` (CONTRACTS §12), before anything is looked at: more than
8 MiB, what is not UTF-8, a byte order mark, what is not JSON (RFC 8259), a key twice in one object, NaN and
the infinities, halves of surrogate pairs, and more than 64 objects or arrays inside each other. Numbers
that canonical JSON cannot hold belong there too, because such a package would have no digest: whole
numbers beyond 2**53 - 1, and those too large for a double (1e400). One that is only too small for a
double counts as zero.

Time and memory grow with the size of the text and with nothing else.
"""

import json
import re
from typing import Final, NoReturn

from consentry.declare.modulecodes import PackageCode, PackageRejected
from consentry.declare.nodes import clipped

MOST_BYTES: Final = 8 << 20
MOST_DEPTH: Final = 64

_MOST_WHOLE: Final = 2**53 - 1
_MOST_DIGITS: Final = len(str(-_MOST_WHOLE))
_WRITTEN_SHORT: Final = 1e21
"""From there on a decimal is written with an exponent."""
_HALF_OF_A_PAIR: Final = re.compile(r"\\u[dD][89a-fA-F]")


def parse_package(content: bytes | str) -> object:
    """The values of the document, of whatever type; raises `invalid-package-root`."""
    text = _checked_text(content)
    try:
        document: object = json.loads(
            text,
            object_pairs_hook=_without_repeats,
            parse_constant=_refuse_constant,
            parse_int=_whole,
            parse_float=_decimal,
        )
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as wrong:
        problem = f"{wrong.msg[:1].lower()}{wrong.msg[1:]}"
        place = f"line {wrong.lineno}, column {wrong.colno}"
        raise _refused(f"this is not JSON: {problem} ({place})") from None
    _check_depth(document)
    if _HALF_OF_A_PAIR.search(text):
        _check_characters(document)
    return document


def _checked_text(content: bytes | str) -> str:
    # A text has at least one byte for each character.
    if len(content) > MOST_BYTES:
        raise _too_large()
    try:
        if isinstance(content, bytes):
            return content.decode("utf-8")
        if not content.isascii() and len(content.encode("utf-8")) > MOST_BYTES:
            raise _too_large()
    except UnicodeDecodeError as wrong:
        raise _refused(f"this is not UTF-8: byte {wrong.start + 1} cannot be") from None
    except UnicodeEncodeError as wrong:
        raise _half_of_a_pair(f"character {wrong.start + 1}") from None
    return content


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                # Whether it has half of a pair in it is not known yet, and this will be printed.
                shown = clipped(name).encode("utf-8", "backslashreplace").decode("utf-8")
                raise _refused(f"the key `{shown}` is there twice in one object")
            seen.add(name)
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise _refused(f"this is not JSON: {name} is no number of it")


def _whole(digits: str) -> int:
    number = int(digits) if len(digits) <= _MOST_DIGITS else None
    if number is None or not -_MOST_WHOLE <= number <= _MOST_WHOLE:
        raise _refused(f"the whole number `{clipped(digits)}` is beyond {_MOST_WHOLE}")
    return number


def _decimal(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise _refused(f"the number `{clipped(digits)}` is larger than any double")
    if _MOST_WHOLE < abs(number) < _WRITTEN_SHORT:
        # Canonical JSON writes it in digits, and the package would not be read again.
        raise _refused(f"the number `{clipped(digits)}` is whole, and beyond {_MOST_WHOLE}")
    return number


def _check_depth(document: object) -> None:
    """Raises where objects and arrays stand more than 64 inside each other; level by level."""
    level = [document]
    for _ in range(MOST_DEPTH):
        inner: list[object] = []
        for each in level:
            if type(each) is dict:
                inner.extend(item for item in each.values() if type(item) in (dict, list))
            elif type(each) is list:
                inner.extend(item for item in each if type(item) in (dict, list))
        if not inner:
            return
        level = inner
    raise _too_deep()


def _check_characters(document: object) -> None:
    try:
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise _half_of_a_pair("a text") from None


def _refused(message: str) -> PackageRejected:
    return PackageRejected(PackageCode.INVALID_PACKAGE_ROOT, "package", message)


def _too_large() -> PackageRejected:
    return _refused(f"the package has more than {MOST_BYTES >> 20} MiB")


def _too_deep() -> PackageRejected:
    return _refused(f"the package is nested deeper than {MOST_DEPTH}")


def _half_of_a_pair(what: str) -> PackageRejected:
    return _refused(f"{what} is or has half of a surrogate pair, which is no character")

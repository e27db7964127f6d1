"""Works out constants: what text, bytes and numbers become under the operations people hide them with.

Results are bounded in length and never raise: what does not work out is not known. A text whose end
is computed keeps its beginning (`Partial`), because the beginning of a path or an address says most.
"""

import base64
import binascii
import codecs
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from consentry.examine.python.values import Const, Partial, Value

MOST_LETTERS: Final = 8192
_MOST_REPLACED: Final = 1 << 20
_MOST_SLICED: Final = 1 << 16
_MOST_NUMBER: Final = 10**100
_WIDE: Final = re.compile(r"%(?:\([^)]*\))?[-+ #0-9.]*(?:\*|[0-9]{4})")
"""Widths that make a long text of a short one, in a template."""
_CODECS: Final = frozenset(
    {
        *("ascii", "utf-8", "utf8", "utf_8", "latin-1", "latin1", "utf-16", "utf-16-le", "utf-32"),
        *("hex", "hex_codec", "base64", "base64_codec", "rot13", "rot_13", "unicode_escape"),
        *("idna", "punycode", "cp1252", "utf-7", "raw_unicode_escape"),
    }
)


def added(left: Value, right: Value) -> Value:
    """`left + right`."""
    if isinstance(left, Const) and isinstance(right, Const):
        first, second = left.value, right.value
        if isinstance(first, str) and isinstance(second, str):
            return text_of(first + second)
        if isinstance(first, bytes) and isinstance(second, bytes):
            return bytes_of(first + second)
        if isinstance(first, int) and isinstance(second, int):
            return Const(first + second)
        return None
    if isinstance(left, Const) and isinstance(left.value, str):
        if isinstance(right, Partial):
            return Partial((left.value + right.prefix)[:MOST_LETTERS])
        return Partial(left.value) if left.value else None
    return left if isinstance(left, Partial) else None


def repeated(left: Value, right: Value) -> Value:
    """`left * right`."""
    if isinstance(left, Const) and isinstance(right, Const):
        first, second = left.value, right.value
        if isinstance(first, int):
            first, second = second, first
        if isinstance(second, int) and 0 <= second <= MOST_LETTERS:
            if isinstance(first, str) and len(first) * second <= MOST_LETTERS:
                return Const(first * second)
            if isinstance(first, bytes) and len(first) * second <= MOST_LETTERS:
                return Const(first * second)
    return None


def joined_parts(parts: Sequence[Value]) -> Value:
    """Texts one after the other, as in an f-string."""
    made = ""
    for part in parts:
        if isinstance(part, Const) and _is_short(part.value):
            made += str(part.value)
        elif isinstance(part, Partial):
            return Partial((made + part.prefix)[:MOST_LETTERS])
        else:
            return Partial(made[:MOST_LETTERS]) if made else None
    return text_of(made)


def _is_short(value: object) -> bool:
    """Whether it can be written out: Python refuses to write very long numbers."""
    return not isinstance(value, int) or abs(value) < _MOST_NUMBER


def filled(template: str, values: Sequence[Value] | None) -> Value:
    """`template % values`."""
    if (
        values is not None
        and len(template) <= MOST_LETTERS
        and not _WIDE.search(template)
        and all(isinstance(value, Const) for value in values)
    ):
        plain = tuple(value.value for value in values if isinstance(value, Const))
        try:
            return text_of(template % plain)
        except (TypeError, ValueError, KeyError, OverflowError, MemoryError):
            return None
    before = template.partition("%")[0]
    if before or not template.startswith("%s") or not values:
        return Partial(before) if before else None
    return added(values[0], None)


def formatted(template: str, values: Sequence[Value], named: dict[str, Value]) -> Value:
    """`template.format(…)` for the plainest of fields; the beginning where there is more to it."""
    if len(template) > MOST_LETTERS:
        before = template[:MOST_LETTERS].partition("{")[0]
        return Partial(before) if before else None
    parts: list[Value] = []
    position = 0
    rest = template
    while rest:
        before, brace, rest = rest.partition("{")
        if before:
            parts.append(Const(before.replace("}}", "}")))
        if not brace:
            break
        if rest.startswith("{"):
            parts.append(Const("{"))
            rest = rest[1:]
            continue
        field, _, rest = rest.partition("}")
        if field == "":
            field, position = str(position), position + 1
        if field.isascii() and field.isdigit() and len(field) < 4 and int(field) < len(values):  # noqa: PLR2004
            parts.append(values[int(field)])
        else:
            parts.append(named.get(field))
    return joined_parts(parts)


def sliced(value: object, start: object, stop: object, step: object) -> Value:
    """`value[start:stop:step]`."""
    bounds = [each for each in (start, stop, step) if each is None or isinstance(each, int)]
    is_whole = len(bounds) == 3  # noqa: PLR2004 - as many as there are
    if not is_whole or not isinstance(value, str | bytes) or len(value) > _MOST_SLICED:
        return None
    try:
        return Const(value[slice(*bounds)])
    except ValueError:
        return None


def method_called(owner: object, name: str, values: Sequence[object]) -> Value:
    """A method of a constant with constant arguments."""
    if isinstance(owner, bytes) and name == "decode":
        return decoded(owner, values)
    if isinstance(owner, str) and name == "encode":
        try:
            return bytes_of(owner.encode(*map(str, values[:1])))
        except (UnicodeError, LookupError, TypeError):
            return None
    if name not in _METHODS or not isinstance(owner, str | bytes) or _is_long(owner, name, values):
        return None
    try:
        made = getattr(owner, name)(*values)
    except (TypeError, ValueError, IndexError, AttributeError, MemoryError, OverflowError):
        return None
    if isinstance(made, str):
        return text_of(made)
    return bytes_of(made) if isinstance(made, bytes) else None


def _is_long(owner: str | bytes, name: str, values: Sequence[object]) -> bool:
    """Whether replacing would make a text that is not kept anyway."""
    new = values[1] if name == "replace" and len(values) > 1 else None
    return isinstance(new, str | bytes) and (len(owner) + 1) * len(new) > _MOST_REPLACED


_METHODS: Final = frozenset(
    {
        *("replace", "strip", "lstrip", "rstrip", "lower", "upper", "swapcase", "title"),
        *("casefold", "capitalize", "removeprefix", "removesuffix", "translate"),
    }
)


def decoded(content: bytes, values: Sequence[object]) -> Value:
    """`content.decode(…)`, for codecs that do no more than that."""
    return _recoded(codecs.decode, (content, *values[:1]))


def _recoded(translate: Callable[..., object], values: Sequence[object]) -> Value:
    """`codecs.decode(value, codec)` and `codecs.encode`."""
    codec = values[1] if len(values) > 1 else "utf-8"
    if not isinstance(codec, str) or codec.lower() not in _CODECS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes that mean nothing stand for themselves
            made = translate(values[0], codec)
    except (UnicodeError, LookupError, ValueError, TypeError, binascii.Error):
        return None
    if isinstance(made, str):
        return text_of(made)
    return bytes_of(made) if isinstance(made, bytes) else None


def is_folded(name: str) -> bool:
    """Whether the function only works something out."""
    return name in _FOLDED


def function_called(name: str, values: Sequence[object]) -> Value:
    """A function of the standard library that only works something out, with constant arguments."""
    work_out = _FOLDED.get(name)
    return None if work_out is None or not values else work_out(values)


def _letter(values: Sequence[object]) -> Value:
    first = values[0]
    return Const(chr(first)) if isinstance(first, int) and 0 <= first <= sys.maxunicode else None


def _number(values: Sequence[object]) -> Value:
    first = values[0]
    return Const(ord(first)) if isinstance(first, str) and len(first) == 1 else None


def _as_text(values: Sequence[object]) -> Value:
    first = values[0]
    if isinstance(first, bytes):
        return decoded(first, values[1:]) if len(values) > 1 else None
    return text_of(str(first)) if _is_short(first) else None


def _as_bytes(values: Sequence[object]) -> Value:
    first = values[0]
    if isinstance(first, str):
        return method_called(first, "encode", values[1:]) if len(values) > 1 else None
    return bytes_of(first) if isinstance(first, bytes) and len(values) == 1 else None


def _from_text(decode: Callable[[bytes], bytes], values: Sequence[object]) -> Value:
    first = values[0]
    if not isinstance(first, str | bytes) or len(first) > MOST_LETTERS:
        return None
    try:
        return bytes_of(decode(first.encode("ascii") if isinstance(first, str) else first))
    except (ValueError, binascii.Error):
        return None


def _from_hex(content: bytes) -> bytes:
    return bytes.fromhex(content.decode())


_FOLDED: Final[dict[str, Callable[[Sequence[object]], Value]]] = {
    "builtins.chr": _letter,
    "builtins.ord": _number,
    "builtins.str": _as_text,
    "builtins.bytes": _as_bytes,
    "codecs.decode": partial(_recoded, codecs.decode),
    "codecs.encode": partial(_recoded, codecs.encode),
    "builtins.bytes.fromhex": partial(_from_text, _from_hex),
    "builtins.bytearray.fromhex": partial(_from_text, _from_hex),
    "base64.b64decode": partial(_from_text, base64.b64decode),
    "base64.standard_b64decode": partial(_from_text, base64.b64decode),
    "base64.urlsafe_b64decode": partial(_from_text, base64.urlsafe_b64decode),
    "base64.b32decode": partial(_from_text, base64.b32decode),
    "base64.b16decode": partial(_from_text, base64.b16decode),
    "base64.b85decode": partial(_from_text, base64.b85decode),
    "base64.a85decode": partial(_from_text, base64.a85decode),
    "base64.decodebytes": partial(_from_text, base64.decodebytes),
    "binascii.a2b_base64": partial(_from_text, binascii.a2b_base64),
    "binascii.unhexlify": partial(_from_text, binascii.unhexlify),
    "binascii.a2b_hex": partial(_from_text, binascii.unhexlify),
}


def text_of(text: str) -> Value:
    """A constant text, or its beginning where it is too long to be kept."""
    return Const(text) if len(text) <= MOST_LETTERS else Partial(text[:MOST_LETTERS])


def bytes_of(content: bytes) -> Value:
    """Constant bytes, unless they are too long."""
    return Const(content) if len(content) <= MOST_LETTERS else None

"""Works out constants: what text, bytes and numbers become under the operations people hide them with.

Results are bounded in length and never raise: what does not work out is not known. A text whose end
is computed keeps its beginning (`Partial`), because the beginning of a path or an address says most.
"""

import base64
import binascii
import codecs
from collections.abc import Callable, Sequence
from typing import Final

from consentry.examine.python.values import Const, Partial, Value

MOST_LETTERS: Final = 8192
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
        if isinstance(part, Const):
            made += str(part.value)
        elif isinstance(part, Partial):
            return Partial((made + part.prefix)[:MOST_LETTERS])
        else:
            return Partial(made[:MOST_LETTERS]) if made else None
    return text_of(made)


def filled(template: str, values: Sequence[Value] | None) -> Value:
    """`template % values`."""
    if values is not None and all(isinstance(value, Const) for value in values):
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
        if field.isdigit() and int(field) < len(values):
            parts.append(values[int(field)])
        else:
            parts.append(named.get(field))
    return joined_parts(parts)


def sliced(value: object, start: object, stop: object, step: object) -> Value:
    """`value[start:stop:step]`."""
    bounds = (start, stop, step)
    if isinstance(value, str | bytes) and all(
        bound is None or isinstance(bound, int) for bound in bounds
    ):
        try:
            return Const(value[slice(*bounds)])
        except (ValueError, TypeError):
            return None
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
    if name not in _METHODS or not isinstance(owner, str | bytes):
        return None
    try:
        made = getattr(owner, name)(*values)
    except (TypeError, ValueError, IndexError, AttributeError, MemoryError, OverflowError):
        return None
    if isinstance(made, str):
        return text_of(made)
    return bytes_of(made) if isinstance(made, bytes) else None


_METHODS: Final = frozenset(
    {
        *(
            "replace",
            "strip",
            "lstrip",
            "rstrip",
            "lower",
            "upper",
            "swapcase",
            "title",
            "casefold",
        ),
        *("capitalize", "removeprefix", "removesuffix", "translate"),
    }
)


def decoded(content: bytes, values: Sequence[object]) -> Value:
    """`content.decode(…)`, for codecs that do no more than that."""
    codec = values[0] if values else "utf-8"
    if not isinstance(codec, str) or codec.lower() not in _CODECS:
        return None
    return _through_codec(codecs.decode, content, codec)


def _through_codec(
    translate: "Callable[[object, str], object]", content: object, codec: str
) -> Value:
    try:
        made = translate(content, codec)
    except (UnicodeError, LookupError, ValueError, TypeError, binascii.Error):
        return None
    if isinstance(made, str):
        return text_of(made)
    return bytes_of(made) if isinstance(made, bytes) else None


def codec_called(values: Sequence[object], direction: str) -> Value:
    """`codecs.decode(value, codec)` and `codecs.encode`."""
    content = values[0] if values else None
    codec = values[1] if len(values) > 1 else "utf-8"
    if not isinstance(codec, str) or codec.lower() not in _CODECS:
        return None
    translate = codecs.decode if direction == "decode" else codecs.encode
    return _through_codec(translate, content, codec)


_FROM_TEXT: Final[dict[str, Callable[[bytes], bytes]]] = {
    "base64.b64decode": base64.b64decode,
    "base64.standard_b64decode": base64.b64decode,
    "base64.urlsafe_b64decode": base64.urlsafe_b64decode,
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode,
    "base64.b85decode": base64.b85decode,
    "base64.a85decode": base64.a85decode,
    "base64.decodebytes": base64.decodebytes,
    "binascii.a2b_base64": binascii.a2b_base64,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.unhexlify,
}


def function_called(name: str, values: Sequence[object]) -> Value:
    """A function of the standard library that only works something out, with constant arguments."""
    first = values[0] if values else None
    if name == "builtins.chr" and isinstance(first, int):
        return Const(chr(first)) if 0 <= first <= 0x10FFFF else None  # noqa: PLR2004 - Unicode ends
    if name == "builtins.ord" and isinstance(first, str) and len(first) == 1:
        return Const(ord(first))
    if name == "builtins.str":
        if isinstance(first, bytes) and len(values) > 1:
            return decoded(first, values[1:])
        return text_of(str(first)) if values and not isinstance(first, bytes) else None
    if name in ("codecs.decode", "codecs.encode"):
        return codec_called(values, name.rpartition(".")[2])
    if name == "builtins.bytes" and isinstance(first, str | bytes):
        return bytes_of(first.encode() if isinstance(first, str) else first)
    if name in ("builtins.bytes.fromhex", "builtins.bytearray.fromhex") and isinstance(first, str):
        try:
            return bytes_of(bytes.fromhex(first))
        except ValueError:
            return None
    decode = _FROM_TEXT.get(name)
    if decode is not None and isinstance(first, str | bytes) and len(first) <= MOST_LETTERS:
        try:
            return bytes_of(decode(first.encode() if isinstance(first, str) else first))
        except (ValueError, binascii.Error):
            return None
    return None


def text_of(text: str) -> Value:
    """A constant text, or its beginning where it is too long to be kept."""
    return Const(text) if len(text) <= MOST_LETTERS else Partial(text[:MOST_LETTERS])


def bytes_of(content: bytes) -> Value:
    """Constant bytes, unless they are too long."""
    return Const(content) if len(content) <= MOST_LETTERS else None

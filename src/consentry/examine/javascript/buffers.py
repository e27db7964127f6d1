"""Bytes and texts in the encodings that buffers have: only what is certain, else computed.

An encoding that is not known by that name, a letter that it has no bytes for, and bytes that make
no text give UNKNOWN: runtimes differ in what they put in their place.
"""

import base64
import re
from typing import Final

from consentry.examine.javascript.values import UNKNOWN, Value

_ENCODINGS: Final = {
    "utf8": "utf-8",
    "utf-8": "utf-8",
    "utf16le": "utf-16-le",
    "utf-16le": "utf-16-le",
    "ucs2": "utf-16-le",
    "ucs-2": "utf-16-le",
    "latin1": "latin-1",
    "binary": "latin-1",
    "ascii": "ascii",
    "hex": "hex",
    "base64": "base64",
    "base64url": "base64url",
}
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_HEX: Final = re.compile(r"(?:[0-9A-Fa-f]{2})*")
_SEVEN_BITS: Final = 0x7F
_MOST_BYTE: Final = 0xFF


def made_of(given: list[Value]) -> Value:
    """`Buffer.from`: of numbers, or of a text in an encoding."""
    content = given[0] if given else UNKNOWN
    if isinstance(content, tuple):
        numbers = [each for each in content if isinstance(each, int) and 0 <= each <= _MOST_BYTE]
        return bytes(numbers) if len(numbers) == len(content) else UNKNOWN
    name = _named(given[1] if len(given) > 1 else "utf8")
    return encoded(content, name) if isinstance(content, str) and name else UNKNOWN


def text_of(content: bytes, given: list[Value]) -> Value:
    """`toString` of a buffer; of a part of it, computed."""
    name = _named(given[0] if given else "utf8")
    if name is None or len(given) > 1:
        return UNKNOWN
    if name == "hex":
        return content.hex()
    if name == "base64":
        return base64.b64encode(content).decode()
    if name == "base64url":
        return base64.urlsafe_b64encode(content).decode().rstrip("=")
    if name == "ascii":
        return bytes(each & _SEVEN_BITS for each in content).decode("ascii")
    try:
        return content.decode(name)
    except ValueError:
        return UNKNOWN


def encoded(content: str, name: str) -> Value:
    """The bytes of a text."""
    if name == "hex":
        return bytes.fromhex(content) if _HEX.fullmatch(content) else UNKNOWN
    if name in ("base64", "base64url"):
        return from_base64(content.replace("-", "+").replace("_", "/"))
    try:
        return content.encode("latin-1" if name == "ascii" else name)
    except ValueError:
        return UNKNOWN


def from_base64(content: str) -> Value:
    """The bytes of a text that is base64 to its last letter."""
    plain = content.rstrip("=")
    if not _BASE64.fullmatch(content) or len(plain) % 4 == 1:
        return UNKNOWN
    return base64.b64decode(plain + "=" * (-len(plain) % 4))


def _named(encoding: Value) -> str | None:
    return _ENCODINGS.get(encoding.lower()) if isinstance(encoding, str) else None

"""Functions and methods that turn constants into constants, by the names the tables have for them.

Each takes the values of its arguments and gives a value, UNKNOWN where one is computed. Sizes are
bounded: what would grow beyond the bound counts as computed.
"""

import base64
import binascii
import json
import posixpath
import re
import sys
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from consentry.examine.javascript.values import (
    MOST_TEXT,
    UNKNOWN,
    Partial,
    Value,
    added,
    shown,
)

_PLAIN_PATTERN: Final = re.compile(r"(?:[^\\^$.*+?()\[\]{}|]|\\[^\w])+|\[[^\\\]^-]+\]")


def _characters(given: list[Value]) -> Value:
    if not all(isinstance(each, int) and 0 <= each <= sys.maxunicode for each in given):
        return UNKNOWN
    return "".join(chr(each) for each in given if isinstance(each, int))


def _from_base64(given: list[Value]) -> Value:
    found = _buffer([given[0], "base64"]) if given and isinstance(given[0], str) else UNKNOWN
    return found.decode("latin-1") if isinstance(found, bytes) else UNKNOWN


def _to_base64(given: list[Value]) -> Value:
    if given and isinstance(given[0], str):
        return base64.b64encode(given[0].encode("latin-1", "replace")).decode()
    return UNKNOWN


def _buffer(given: list[Value]) -> Value:
    content = given[0] if given else UNKNOWN
    encoding = given[1] if len(given) > 1 else "utf8"
    if isinstance(content, tuple):
        if not all(isinstance(each, int) and 0 <= each < 256 for each in content):  # noqa: PLR2004
            return UNKNOWN
        return bytes(each for each in content if isinstance(each, int))
    if not isinstance(content, str) or not isinstance(encoding, str):
        return UNKNOWN
    return _encoded(content, encoding.lower())


def _encoded(content: str, encoding: str) -> Value:
    try:
        if encoding in ("base64", "base64url"):
            plain = re.sub(r"[^A-Za-z0-9+/]", "", content.replace("-", "+").replace("_", "/"))
            return base64.b64decode(plain + "=" * (-len(plain) % 4))
        if encoding == "hex":
            digits = re.match(r"(?:[0-9A-Fa-f]{2})*", content)
            return bytes.fromhex(digits[0] if digits else "")
        if encoding in ("utf16le", "utf-16le", "ucs2"):
            return content.encode("utf-16-le", "replace")
        codec = "latin-1" if encoding in ("latin1", "binary", "ascii") else "utf-8"
        return content.encode(codec, "replace")
    except (ValueError, binascii.Error):
        return UNKNOWN


def _decoded(content: bytes, encoding: Value) -> Value:
    name = encoding.lower() if isinstance(encoding, str) else "utf8"
    if name == "hex":
        return content.hex()
    if name == "base64":
        return base64.b64encode(content).decode()
    if name in ("utf16le", "ucs2"):
        return content.decode("utf-16-le", "replace")
    return content.decode(
        "latin-1" if name in ("latin1", "binary", "ascii") else "utf-8", "replace"
    )


def _text(given: list[Value]) -> Value:
    if given and isinstance(given[0], (str, Partial)):
        return given[0]
    text = shown(given[0]) if given else ""
    return UNKNOWN if text is None else text


def _unquoted(given: list[Value]) -> Value:
    if not given or not isinstance(given[0], str):
        return UNKNOWN
    return unquote(re.sub(r"%u([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16)), given[0]))


def _parsed(given: list[Value]) -> Value:
    if not given or not isinstance(given[0], str) or len(given[0]) > MOST_TEXT:
        return UNKNOWN
    try:
        value = json.loads(given[0])
    except (ValueError, RecursionError):
        return UNKNOWN
    if isinstance(value, list):
        return tuple(each if isinstance(each, (str, int, float)) else UNKNOWN for each in value)
    return value if isinstance(value, (str, int, float)) else UNKNOWN


def _integer(given: list[Value]) -> Value:
    base = given[1] if len(given) > 1 else 10
    if not given or not isinstance(given[0], str) or not isinstance(base, int):
        return UNKNOWN
    try:
        return int(given[0][:32].strip(), base)
    except ValueError:
        return UNKNOWN


def _joined(given: list[Value]) -> Value:
    """`path.join`: of a path that is not known to its end, the beginning."""
    parts: list[str] = []
    for each in given:
        if not isinstance(each, str):
            start = each.prefix if isinstance(each, Partial) else ""
            known = "/".join([*parts, start])
            return Partial(known) if known.strip("/") or known.startswith("/") else UNKNOWN
        parts.append(each)
    return posixpath.normpath("/".join(part for part in parts if part)) if parts else "."


def _resolved(given: list[Value]) -> Value:
    """`path.resolve`: from the last absolute part on."""
    for at in range(len(given) - 1, -1, -1):
        each = given[at]
        start = each.prefix if isinstance(each, Partial) else each
        if isinstance(start, str) and start.startswith(("/", "~")):
            return _joined(given[at:])
        if not isinstance(each, str):
            return UNKNOWN
    return _joined(given)


def _address(given: list[Value]) -> Value:
    """`new URL(address, base)`."""
    address = given[0] if given else UNKNOWN
    if isinstance(address, (str, Partial)):
        text = address.prefix if isinstance(address, Partial) else address
        if "://" in text or len(given) == 1:
            return address
        if text.startswith(("./", "../")) and not isinstance(given[1], str):
            return address
        if isinstance(given[1], str) and "://" in given[1] and not text.startswith("//"):
            return f"{given[1].rstrip('/')}/"
    return UNKNOWN


FUNCTIONS: Final[dict[tuple[str, str], Callable[[list[Value]], Value]]] = {
    ("globalThis", "String.fromCharCode"): _characters,
    ("globalThis", "String.fromCodePoint"): _characters,
    ("globalThis", "String"): _text,
    ("globalThis", "String.raw"): _text,
    ("globalThis", "atob"): _from_base64,
    ("globalThis", "btoa"): _to_base64,
    ("globalThis", "unescape"): _unquoted,
    ("globalThis", "decodeURIComponent"): _unquoted,
    ("globalThis", "decodeURI"): _unquoted,
    ("globalThis", "parseInt"): _integer,
    ("globalThis", "Number.parseInt"): _integer,
    ("globalThis", "JSON.parse"): _parsed,
    ("globalThis", "Buffer.from"): _buffer,
    ("globalThis", "Buffer"): _buffer,
    ("globalThis", "URL"): _address,
    ("globalThis", "Array.of"): tuple,
    ("buffer", "Buffer.from"): _buffer,
    ("buffer", "atob"): _from_base64,
    ("url", "URL"): _address,
    ("url", "fileURLToPath"): _text,
    ("url", "pathToFileURL"): _text,
    ("path", "join"): _joined,
    ("path", "resolve"): _resolved,
    ("path", "normalize"): _joined,
    ("os", "homedir"): lambda _: "~",
    ("os", "tmpdir"): lambda _: "/tmp",  # noqa: S108 - as a path of somebody else's code
    ("process", "cwd"): lambda _: ".",
}


def method_called(
    owner: Value, name: str, given: list[Value], pattern: tuple[str, str] | None
) -> Value:
    """What a method of a text, an array or a buffer gives.

    `pattern` is the regular expression that stands first, and its flags.
    """
    if isinstance(owner, bytes) and name == "toString":
        return _decoded(owner, given[0] if given else "utf8")
    if isinstance(owner, tuple):
        return _array_method(owner, name, given)
    if isinstance(owner, Partial):
        return owner if name in ("toString", "concat", "trimEnd", "valueOf") else UNKNOWN
    if isinstance(owner, str):
        if name in ("replace", "replaceAll"):
            return _replaced(owner, given, pattern, is_all=name == "replaceAll")
        return _text_method(owner, name, given)
    if isinstance(owner, (int, float)) and name == "toString":
        return _in_base(owner, given[0] if given else 10)
    return UNKNOWN


def _array_method(owner: tuple[Value, ...], name: str, given: list[Value]) -> Value:
    if name == "join":
        separator = given[0] if given else ","
        if not isinstance(separator, str):
            return UNKNOWN
        parts: list[Value] = []
        for each in owner:
            parts += [each, separator]
        return added(parts[:-1])
    if name in ("reverse", "toReversed"):
        return owner[::-1]
    if name in ("slice", "at") and all(isinstance(each, int) for each in given):
        return _cut(owner, name, given)
    if name == "concat":
        extra: list[Value] = []
        for each in given:
            extra += each if isinstance(each, tuple) else [each]
        return (*owner, *extra)
    if name == "toString":
        return added([shown(owner) or UNKNOWN])
    return UNKNOWN


def _cut(owner: "str | tuple[Value, ...]", name: str, given: list[Value]) -> Value:
    numbers = [each for each in given if isinstance(each, int)]
    if name == "at":
        at = numbers[0] if numbers else 0
        return owner[at] if -len(owner) <= at < len(owner) else UNKNOWN
    return owner[slice(numbers[0] if numbers else None, numbers[1] if len(numbers) > 1 else None)]


def _text_method(owner: str, name: str, given: list[Value]) -> Value:  # noqa: PLR0911, C901
    numbers = [each for each in given if isinstance(each, int)]
    first = given[0] if given else UNKNOWN
    match name:
        case "toString" | "valueOf" | "normalize":
            return owner
        case "toLowerCase" | "toLocaleLowerCase":
            return owner.lower()
        case "toUpperCase" | "toLocaleUpperCase":
            return owner.upper()
        case "trim" | "trimStart" | "trimEnd":
            return owner.strip()
        case "concat":
            return added([owner, *given])
        case "slice" | "at" if len(numbers) == len(given):
            return _cut(owner, name, given)
        case "substring" if len(numbers) == len(given) and given:
            ends = [min(max(each, 0), len(owner)) for each in (*numbers, len(owner))[:2]]
            return owner[min(ends) : max(ends)]
        case "substr" if len(numbers) == len(given) and given:
            start = numbers[0] if numbers[0] >= 0 else max(len(owner) + numbers[0], 0)
            return owner[start : start + numbers[1] if len(numbers) > 1 else None]
        case "charAt" if numbers:
            return owner[numbers[0]] if 0 <= numbers[0] < len(owner) else ""
        case "charCodeAt" | "codePointAt" if numbers or not given:
            at = numbers[0] if numbers else 0
            return ord(owner[at]) if 0 <= at < len(owner) else UNKNOWN
        case "repeat" if numbers and len(owner) * max(numbers[0], 0) <= MOST_TEXT:
            return owner * max(numbers[0], 0)
        case "split" if isinstance(first, str):
            return tuple(owner.split(first)) if first else tuple(owner)
    return UNKNOWN


def _replaced(
    owner: str, given: list[Value], pattern: tuple[str, str] | None, *, is_all: bool
) -> Value:
    new = given[1] if len(given) > 1 else UNKNOWN
    if not isinstance(new, str) or "$" in new:
        return UNKNOWN
    if pattern is not None:
        # Only patterns that mean the same here, and take no time.
        if not _PLAIN_PATTERN.fullmatch(pattern[0]) or pattern[1] not in ("", "g"):
            return UNKNOWN
        made = re.sub(pattern[0], lambda _: str(new), owner, count=0 if pattern[1] else 1)
        return made if len(made) <= MOST_TEXT else UNKNOWN
    if not given or not isinstance(given[0], str):
        return UNKNOWN
    made = owner.replace(given[0], new, -1 if is_all else 1)
    return made if len(made) <= MOST_TEXT else UNKNOWN


def _in_base(number: float, base: Value) -> Value:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    if not isinstance(base, int) or not 2 <= base <= len(digits):  # noqa: PLR2004
        return UNKNOWN
    if not float(number).is_integer() or not 0 <= number < 2**53:
        return UNKNOWN
    left, text = int(number), ""
    while left:
        left, digit = divmod(left, base)
        text = digits[digit] + text
    return text or "0"

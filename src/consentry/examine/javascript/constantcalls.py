"""Functions that turn constants into constants, by the names the tables have for them.

Each takes the values of its arguments and gives a value, UNKNOWN where one is computed or
where what JavaScript makes of it is not certain. Sizes are bounded: what would grow beyond the
bound counts as computed.
"""

import json
import posixpath
import re
import sys
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from consentry.examine.constanttargets import is_ambiguous
from consentry.examine.javascript.buffers import encoded, from_base64, made_of, text_of
from consentry.examine.javascript.textmethods import number_in
from consentry.examine.javascript.values import MOST_TEXT, UNKNOWN, Partial, Value, shown

_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_RELATIVE: Final = re.compile(r"(?!//)[A-Za-z0-9_./%~-]*(?:[?#].*)?", re.DOTALL)
_RELATIVE_START: Final = re.compile(r"/[A-Za-z0-9_]|[A-Za-z0-9_.-]+/|[?#]")
_RESERVED: Final = re.compile(r"%(?:2[346BCF]|3[ABDF]|40)", re.IGNORECASE)
_ESCAPES: Final = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*", re.DOTALL)
_OLD_ESCAPE: Final = re.compile(r"%(?:u([0-9A-Fa-f]{4})|([0-9A-Fa-f]{2}))")
_UNITS: Final = 1 << 16
_PAIRED: Final = range(0xD800, 0xE000)


def _characters(given: list[Value]) -> Value:
    codes = [each % _UNITS for each in given if isinstance(each, int)]
    if len(codes) != len(given) or any(each in _PAIRED for each in codes):
        return UNKNOWN
    return "".join(map(chr, codes))


def _code_points(given: list[Value]) -> Value:
    codes = [each for each in given if isinstance(each, int) and 0 <= each <= sys.maxunicode]
    if len(codes) != len(given) or any(each in _PAIRED for each in codes):
        return UNKNOWN
    return "".join(map(chr, codes))


def _from_base64(given: list[Value]) -> Value:
    found = from_base64(given[0]) if given and isinstance(given[0], str) else UNKNOWN
    return found.decode("latin-1") if isinstance(found, bytes) else UNKNOWN


def _to_base64(given: list[Value]) -> Value:
    content = encoded(given[0], "latin-1") if given and isinstance(given[0], str) else UNKNOWN
    return text_of(content, ["base64"]) if isinstance(content, bytes) else UNKNOWN


def _text(given: list[Value]) -> Value:
    if given and isinstance(given[0], (str, Partial)):
        return given[0]
    text = shown(given[0]) if given else ""
    return UNKNOWN if text is None else text


def _unescaped(given: list[Value]) -> Value:
    """`unescape`: each escape is one code unit."""
    if not given or not isinstance(given[0], str):
        return UNKNOWN
    made = _OLD_ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), given[0])
    return UNKNOWN if any(ord(each) in _PAIRED for each in made) else made


def _unquoted(given: list[Value]) -> Value:
    """`decodeURIComponent`."""
    if not given or not isinstance(given[0], str) or not _ESCAPES.fullmatch(given[0]):
        return UNKNOWN
    try:
        return unquote(given[0], errors="strict")
    except ValueError:
        return UNKNOWN


def _unquoted_whole(given: list[Value]) -> Value:
    """`decodeURI`: some escapes stay, and then it is not followed."""
    is_plain = given and isinstance(given[0], str) and not _RESERVED.search(given[0])
    return _unquoted(given) if is_plain else UNKNOWN


def _parsed(given: list[Value]) -> Value:
    if len(given) != 1 or not isinstance(given[0], str) or len(given[0]) > MOST_TEXT:
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
    return number_in(given[0], base)


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
    if not isinstance(address, (str, Partial)):
        return UNKNOWN
    text = address.prefix if isinstance(address, Partial) else address
    if is_ambiguous(text):
        return UNKNOWN
    if _ABSOLUTE.match(text) or len(given) == 1:
        return address
    base = given[1]
    if not isinstance(base, str):
        return address if text.startswith(("./", "../")) else UNKNOWN
    stays = _RELATIVE_START.match(text) if address is not text else _RELATIVE.fullmatch(text)
    if stays is None or not _ABSOLUTE.match(base) or is_ambiguous(base):
        return UNKNOWN
    return f"{base.rstrip('/')}/"


FUNCTIONS: Final[dict[tuple[str, str], Callable[[list[Value]], Value]]] = {
    ("globalThis", "String.fromCharCode"): _characters,
    ("globalThis", "String.fromCodePoint"): _code_points,
    ("globalThis", "String"): _text,
    ("globalThis", "atob"): _from_base64,
    ("globalThis", "btoa"): _to_base64,
    ("globalThis", "unescape"): _unescaped,
    ("globalThis", "decodeURIComponent"): _unquoted,
    ("globalThis", "decodeURI"): _unquoted_whole,
    ("globalThis", "parseInt"): _integer,
    ("globalThis", "Number.parseInt"): _integer,
    ("globalThis", "JSON.parse"): _parsed,
    ("globalThis", "Buffer.from"): made_of,
    ("globalThis", "Buffer"): made_of,
    ("globalThis", "URL"): _address,
    ("globalThis", "Array.of"): tuple,
    ("buffer", "Buffer.from"): made_of,
    ("buffer", "atob"): _from_base64,
    ("url", "URL"): _address,
    ("url", "fileURLToPath"): _text,
    ("url", "pathToFileURL"): _text,
    ("path", "join"): _joined,
    ("path", "resolve"): _resolved,
    ("path", "normalize"): lambda given: _joined(given[:1]),
    ("os", "homedir"): lambda _: "~",
    ("os", "tmpdir"): lambda _: "/tmp",  # noqa: S108 - as a path of somebody else's code
    ("process", "cwd"): lambda _: ".",
}

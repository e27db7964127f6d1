"""What a file may hold at all, by its letters: a file that may hold nothing is parsed and not walked.

The gates are part of the rules, not a shortcut beside them: what they keep out is listed as a caveat.
They read the source as Python does, with identifiers normalised (NFKC); a file whose coding could hide
letters passes every gate.
"""

import re
import unicodedata
from typing import Final

from consentry.base.values import dataclass

_COOKIE: Final = re.compile(rb"coding[:=][ \t]*([-\w.]+)")
_PLAIN_CODINGS: Final = frozenset({b"utf-8", b"utf8", b"ascii", b"us-ascii"})
_NAMES: Final = (b"Capability", b"Permit", b"make_permit", b"consentry")
_FETCHES: Final = re.compile(
    rb"\b(?:getattr|import_module|__import__|resolve_name|locate|import_string|__dict__|globals|vars"
    rb"|locals|eval|exec|__getattribute__|find_class|attrgetter|methodcaller|__globals__|f_globals"
    rb"|getattr_static|runsource)\b"
)
_HIDES: Final = re.compile(
    rb"b(?:64|32|16|85)decode|a85decode|decodebytes|a2b_|fromhex|unhexlify|rot_?13|chr\("
    rb"|\\x[0-9a-fA-F]|\\u[0-9a-fA-F]|\\N\{|\[::-1\]"
)
_COMMANDS: Final = re.compile(rb"(?<![A-Za-z])(?:git(?![A-Za-z])|push(?![A-Za-z])|(?:ext|fd)::)")
_RACES: Final = b"on_race"


@dataclass(frozen=True, slots=True)
class Gates:
    """Which rules a file is to be held against."""

    names: bool
    """Whether an identifier may be that of a token, or lead to our package."""
    reaches: bool
    """Whether a token may be reached by a name that is not written out."""
    commands: bool
    races: bool


def gates_of(source: bytes) -> Gates:
    """What the letters of a source allow."""
    plain = _plain(source)
    if plain is None:
        return Gates(names=True, reaches=True, commands=True, races=True)
    names = any(letters in plain for letters in _NAMES)
    hides = not names and _HIDES.search(plain) is not None
    return Gates(
        names=names,
        reaches=names or (hides and _FETCHES.search(plain) is not None),
        commands=_COMMANDS.search(plain) is not None,
        races=_RACES in plain,
    )


def _plain(source: bytes) -> bytes | None:
    """The source with identifiers as Python reads them; None where its coding may hide them."""
    head = b"\n".join(source.split(b"\n", 2)[:2])
    codings = {found[1].lower() for found in _COOKIE.finditer(head)}
    if not codings <= _PLAIN_CODINGS:
        return None
    if source.isascii():
        return source
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return unicodedata.normalize("NFKC", text).encode("utf-8", "replace")

r"""Names of files in C quotes, as git writes those with odd bytes in them: `"\303\244\t\"x\".txt"`."""

import re
from typing import Final

_ESCAPE: Final = re.compile(rb'\\(?:([0-3][0-7]{2})|([abtnvfr"\\]))')
_QUOTED: Final = re.compile(rb'"((?:[^"\\\x00-\x1f\x7f]|\\(?:[0-3][0-7]{2}|[abtnvfr"\\]))*+)"')
_LETTERS: Final = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


def unquoted_start(text: bytes) -> tuple[bytes, bytes] | None:
    """The name in quotes that `text` begins with, and what follows it; None where there is none."""
    found = _QUOTED.match(text)
    return None if found is None else (_ESCAPE.sub(_byte, found[1]), text[found.end() :])


def unquoted(text: bytes) -> bytes | None:
    """The name that is all of `text`; None where it is not one in quotes."""
    found = unquoted_start(text)
    return None if found is None or found[1] else found[0]


def _byte(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 8) if found[1] else _LETTERS[found[2][0]]])

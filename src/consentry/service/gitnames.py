"""Names as git has them, bytes, and as the rest of Consentry has them, text.

UTF-8, with bytes that are none kept as lone surrogates, whatever the locale says: two names of a tree
are never the same text. A name that no working tree can have is not passed on, because what is done
with it later is to open it.
"""

from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput

MOST_PATH: Final = 4096


def text_of(name: bytes) -> str:
    """The text of a name."""
    return name.decode("utf-8", "surrogateescape")


def bytes_of(path: str) -> bytes:
    """The bytes of a path whose text came from `text_of`."""
    return path.encode("utf-8", "surrogateescape")


def checked_name(name: bytes) -> str:
    """The text of one name in a folder."""
    if name in (b"", b".", b"..") or b"/" in name or b"\0" in name or len(name) > MOST_PATH:
        raise _impossible(name)
    return text_of(name)


def checked_path(path: bytes) -> str:
    """The text of a path below the top of a tree."""
    if len(path) > MOST_PATH or b"\0" in path:
        raise _impossible(path)
    if not {b"", b".", b".."}.isdisjoint(path.split(b"/")):
        raise _impossible(path)
    return text_of(path)


def _impossible(name: bytes) -> BadInput:
    return BadInput(
        Code.FILE_UNUSABLE,
        f"the repository has a file that is called `{text_of(name[:200])}`",
        help_line="no checkout can hold such a name: find out who made this repository",
    )

r"""Names of files in diffs: in C quotes or bare, behind `a/` and `b/`, and only such as may be.

    a/notes.txt                 bare; a name with a space has a tab behind it in `---` and `+++`
    "a/\303\244\t\"x\".txt"     in quotes: bytes in octal, and the escapes of C
    /dev/null                   no file

A bare name with a quote, a backslash or a control character in it was not written by git, which
would have quoted it. A name without its prefix, an absolute one, and one with `.` or `..` in it are
refused: which file they mean depends on where and how the diff is applied.
"""

import re
from typing import Final

from consentry.declare import quotedname

OLD: Final = b"a/"
NEW: Final = b"b/"
NO_FILE: Final = b"/dev/null"
MOST_PATH: Final = 4096

_NOT_BARE: Final = re.compile(rb'["\\\x00-\x1f\x7f]')


class BadName(Exception):
    """A name that is not understood, or that no file of a patch may have."""


def unquoted_start(text: bytes) -> tuple[bytes, bytes]:
    """The name in quotes that `text` begins with, and what follows it."""
    found = quotedname.unquoted_start(text)
    if found is None:
        raise BadName("a quoted name has no end, or an escape that is none")
    return found


def name_of(text: bytes) -> bytes:
    """The name that is all of `text`, in quotes or bare."""
    if text.startswith(b'"'):
        name, rest = unquoted_start(text)
        if rest:
            raise BadName("something follows a quoted name")
        return name
    if _NOT_BARE.search(text):
        raise BadName("a name has a character that would be quoted")
    return text


def label_of(text: bytes) -> tuple[bytes, bytes | None]:
    """The name of a `---` or `+++` line, and what stands behind a tab, if there is one."""
    if text.startswith(b'"'):
        name, rest = unquoted_start(text)
        if rest and not rest.startswith(b"\t"):
            raise BadName("something follows a quoted name")
        return name, rest[1:] if rest else None
    bare, tab, rest = text.partition(b"\t")
    return name_of(bare), rest if tab else None


def path_below(name: bytes, prefix: bytes) -> bytes:
    """The path of a name that has this prefix."""
    if not name.startswith(prefix):
        raise BadName(f"a name does not begin with `{prefix.decode()}`")
    return checked_path(name[len(prefix) :])


def checked_path(path: bytes) -> bytes:
    """The path, if it is one inside a tree."""
    if len(path) > MOST_PATH:
        raise BadName(f"a name has more than {MOST_PATH:,} bytes")
    if b"\0" in path or any(part in (b"", b".", b"..") for part in path.split(b"/")):
        raise BadName("a name is empty, absolute, or has `.` or `..` in it")
    return path


def are_both(text: bytes, between: bytes, old: bytes, new: bytes) -> bool:
    """Whether `text` is these two names, each in quotes or bare, with `between` between them."""
    if text.startswith(b'"'):
        first, rest = unquoted_start(text)
        if first != old:
            return False
    elif text.startswith(old) and not _NOT_BARE.search(old):
        rest = text[len(old) :]
    else:
        return False
    return rest.startswith(between) and name_of(rest[len(between) :]) == new


def same_name(text: bytes) -> bytes:
    """The path of `a/PATH b/PATH`: where both are the same, it is clear where the first one ends."""
    if text.startswith(b'"'):
        first, _ = unquoted_start(text)
    else:
        first = name_of(text[: len(text) // 2])
    path = path_below(first, OLD)
    if not are_both(text, b" ", OLD + path, NEW + path):
        raise BadName("the two names of a file are not the same")
    return path

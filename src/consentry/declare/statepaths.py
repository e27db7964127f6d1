"""Places in a host's state, as JSON pointers (RFC 6901), and which of them lie below which.

Compared are whole segments after their escapes are undone: `/notes` covers `/notes` and `/notes/4`, and
neither `/notesx` nor `/Notes`; `/a~1b` is one segment and not below `/a`. The empty pointer is the whole
state. There are no wildcards: `*` and `..` are segments like any other. A text that is not a pointer
covers nothing and lies below nothing.
"""

import re
from collections.abc import Iterable

_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*+)*+")


def is_pointer(text: str) -> bool:
    """Whether it is a JSON pointer."""
    return _POINTER.fullmatch(text) is not None


def segments(pointer: str) -> tuple[str, ...] | None:
    """The names on the way to a place, without escapes; None for what is not a pointer."""
    if not is_pointer(pointer):
        return None
    # `~01` is `~1` and not `/`, so `~1` goes first.
    return tuple(each.replace("~1", "/").replace("~0", "~") for each in pointer.split("/")[1:])


class PathSet:
    """Places with all that lies below them."""

    def __init__(self, pointers: Iterable[str]) -> None:
        self._roots = frozenset(
            found for pointer in pointers if (found := segments(pointer)) is not None
        )
        self._lengths = sorted({len(root) for root in self._roots})

    def covers(self, pointer: str) -> bool:
        """Whether a place is one of these or lies below one of them."""
        names = segments(pointer)
        if names is None:
            return False
        return any(
            names[:length] in self._roots for length in self._lengths if length <= len(names)
        )

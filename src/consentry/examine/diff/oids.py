"""Git's ids of contents: whether a content may be the one that an `index` line names.

An id in a diff is mostly the first digits of one. It tells a content that was cut from the whole one;
against somebody who searches for a content with the same first digits it shows nothing.
"""

import hashlib
from typing import Final

_LEAST_DIGITS: Final = 7
_SHA1_DIGITS: Final = 40
_SHA256_DIGITS: Final = 64
_ALGORITHMS: Final = ("sha1", "sha256")


def names_content(oid: str | None, content: bytes) -> bool:
    """Whether an id, or enough of its first digits, is that of this content."""
    if oid is None or len(oid) < _LEAST_DIGITS:
        return False
    return any(each.startswith(oid) for each in oids_of(content))


def is_full(oid: str | None) -> bool:
    """Whether all digits of an id are there."""
    return oid is not None and len(oid) in (_SHA1_DIGITS, _SHA256_DIGITS)


def is_of_nothing(oid: str | None) -> bool:
    """Whether it is the id of an empty content."""
    return names_content(oid, b"")


def oids_of(content: bytes) -> tuple[str, ...]:
    """The ids that git gives a content, one for each kind of repository."""
    head = b"blob %d\0" % len(content)
    return tuple(
        hashlib.new(name, head + content, usedforsecurity=False).hexdigest() for name in _ALGORITHMS
    )

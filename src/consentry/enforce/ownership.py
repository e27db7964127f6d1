"""Who besides root and one user may change a file or swap it for another.

Looks at the owner and the write bit for everybody, on the path itself and on every folder and link
that is met on the way to it: whoever may write a folder may replace what is in it, and whoever owns
a link may point it elsewhere.

Does not look at capabilities or mounts, and at groups and access control lists only for
`is_roots_alone`; says nothing about tomorrow: it is a reading of modes, made once.
"""

import os
import stat
from pathlib import Path

from consentry.enforce.hops import Hop, hops_to

ROOT_UID = 0

# The number the kernel shows for an owner that has none in this user namespace.
_OVERFLOW_UID = 65534
_UID_MAP = Path("/proc/self/uid_map")
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def stranger_over_file(path: Path, *owners: int) -> str | None:
    """The first reason why somebody else than root and `owners` may change `path`, or None.

    Raises the system's `OSError` when the path cannot be looked at.
    """
    found = path.stat()
    if found.st_uid not in (ROOT_UID, *owners):
        return f"`{path}` belongs to user {found.st_uid}"
    if found.st_mode & stat.S_IWOTH:
        return f"everybody may write `{path}`"
    return stranger_over_folder(path, *owners)


def stranger_over_folder(path: Path, *owners: int) -> str | None:
    """As `stranger_over_file`, for what lies or will be made in `path`, as far as it is there."""
    root = Path("/")
    for hop in (Hop(root, root.lstat()), *hops_to(path)):
        if hop.found is not None:
            reason = _stranger_over(hop.path, hop.found, (ROOT_UID, *owners))
            if reason is not None:
                return reason
    return None


def is_roots_alone(path: Path) -> bool:
    """Whether nobody but root may change this file or swap it; `path` has its links resolved.

    The bits of the group stand for access control lists as well.
    """
    try:
        file = path.stat()
        above = [folder.stat() for folder in path.parents]
    except OSError:
        return False
    if file.st_uid != ROOT_UID or file.st_mode & _WRITABLE_BY_OTHERS:
        return False
    return not any(
        (found.st_uid != ROOT_UID and not _is_stand_in(found.st_uid))
        or (found.st_mode & _WRITABLE_BY_OTHERS and not found.st_mode & stat.S_ISVTX)
        for found in above
    )


def _stranger_over(path: Path, found: os.stat_result, owners: tuple[int, ...]) -> str | None:
    is_foreign = found.st_uid not in owners and not _is_stand_in(found.st_uid)
    if stat.S_ISLNK(found.st_mode):
        # The mode of a link means nothing; its owner may put another one there.
        return f"the link `{path}` belongs to user {found.st_uid}" if is_foreign else None
    if not stat.S_ISDIR(found.st_mode):
        return None
    if is_foreign:
        return f"the folder `{path}` belongs to user {found.st_uid}"
    # In a sticky folder such as /tmp only owners may rename or remove an entry.
    if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
        return f"everybody may write the folder `{path}`"
    return None


def _is_stand_in(owner: int) -> bool:
    """Whether `owner` is nobody in here: the folders above a container's tree often are.

    Such a number is given to no process of this namespace. Outside of one, it is a user like any.
    """
    if owner != _OVERFLOW_UID:
        return False
    try:
        rows = [line.split() for line in _UID_MAP.read_text(encoding="ascii").splitlines()]
    except OSError:
        return False
    return not any(int(first) <= owner < int(first) + int(count) for first, _, count in rows)

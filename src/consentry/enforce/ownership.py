"""Who besides root and one user may change a file or swap it for another.

Looks at the owner and the write bit for everybody, on the path itself and on every folder above it,
both as it is spelled and with links resolved: whoever may write a folder may replace what is in it.

Does not look at groups, access control lists, capabilities or mounts, and says nothing about
tomorrow: it is a reading of modes, made once.
"""

import os
import stat
from pathlib import Path

ROOT_UID = 0

# The number the kernel shows for an owner that has none in this user namespace.
_OVERFLOW_UID = 65534
_UID_MAP = Path("/proc/self/uid_map")


def stranger_over_file(path: Path, uid: int) -> str | None:
    """The first reason why somebody else than root and `uid` may change `path`, or None.

    Raises the system's `OSError` when the path cannot be looked at.
    """
    found = path.stat()
    if found.st_uid not in (ROOT_UID, uid):
        return f"`{path}` belongs to user {found.st_uid}"
    if found.st_mode & stat.S_IWOTH:
        return f"everybody may write `{path}`"
    return _stranger_over(_folders_above(path), uid)


def stranger_over_folder(folder: Path, uid: int) -> str | None:
    """As `stranger_over_file`, for what lies or will be made in `folder`."""
    return _stranger_over([folder, *_folders_above(folder)], uid)


def _folders_above(path: Path) -> list[Path]:
    spelled = Path(os.path.normpath(path))
    # dict.fromkeys: each folder once, the spelled ones first.
    return list(dict.fromkeys((*spelled.parents, *path.resolve(strict=True).parents)))


def _stranger_over(folders: list[Path], uid: int) -> str | None:
    for folder in folders:
        found = folder.stat()
        if found.st_uid not in (ROOT_UID, uid) and not _is_stand_in(found.st_uid):
            return f"the folder `{folder}` belongs to user {found.st_uid}"
        # In a sticky folder such as /tmp only owners may rename or remove an entry.
        if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
            return f"everybody may write the folder `{folder}`"
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

"""Which new names are refused in a folder that is written at once, where no commit could drop them.

The table of names that other programs obey (`configescapes`) is asked for every name that is to be
made there, be it by creating, linking or renaming, and for everything in a folder that is moved. A
row is lifted by nothing here: whoever grants a folder as a whole names no file in it.
"""

from collections.abc import Callable, Iterable, Iterator

from consentry.enforce.configescapes import (
    ConfigEscapes,
    config_escapes,
    is_of_repository,
    is_repository_mark,
)
from consentry.enforce.layer import FileType

_MADE_A_REPOSITORY = "`HEAD` beside these would make git take the folder for a repository"
_LEADS_OUT = "a link that is absolute, or climbs, may lead out of the writable folder"


class NewNames:
    """The table, asked about one name at a time."""

    def __init__(self, escapes: ConfigEscapes | None = None) -> None:
        self._escapes = escapes or config_escapes()

    def rule_against(
        self, path: bytes, root: bytes, kind: FileType, siblings: Callable[[], Iterable[bytes]]
    ) -> str | None:
        """Why nothing of that kind may come to a path below a writable folder; None if it may.

        `siblings` are the names beside it.
        """
        whole, depth = _parts(path), len(_parts(root))
        # Names above the folder matter only for rows that end below it.
        skipped = max(0, depth - self._escapes.longest)
        names = whole[skipped:]
        beside: tuple[int, ...] = ()
        if is_of_repository(names[-1]) and any(map(is_repository_mark, siblings())):
            beside = (len(names) - 1,)
        for hit in self._escapes.hits(names, kind, beside_head=beside):
            if skipped + hit.end > depth:
                return f"`{hit.escape.text}` is not made at once: {hit.escape.why}"
        if is_repository_mark(names[-1]) and kind is not FileType.FOLDER:
            there = [*siblings()]
            if any(map(is_of_repository, there)) and not any(map(is_repository_mark, there)):
                return _MADE_A_REPOSITORY
        return None


def rule_against_link(target: bytes, depth: int) -> str | None:
    """Why a link may not be made so many folders below the writable one; None if it may.

    It may climb first and then go down: a name before a `..` could itself be a link that has climbed.
    """
    if target.startswith(b"/"):
        return _LEADS_OUT
    has_gone_down = False
    for part in target.split(b"/"):
        if part == b"..":
            depth -= 1
            if has_gone_down or depth < 0:
                return _LEADS_OUT
        elif part not in (b"", b"."):
            has_gone_down = True
    return None


def below(path: bytes, roots: Iterable[bytes]) -> Iterator[bytes]:
    """The roots at or above a path."""
    return (root for root in roots if path == root or path.startswith(root.rstrip(b"/") + b"/"))


def _parts(path: bytes) -> tuple[bytes, ...]:
    return tuple(part for part in path.split(b"/") if part)

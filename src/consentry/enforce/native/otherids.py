"""Finds numbers that no user of this host has, for what a root caller starts.

A number that belongs to somebody, be it a user or a range that is set aside for a user's containers,
would let that somebody signal the program, and the program reach what is theirs.
"""

from collections.abc import Iterator
from typing import Final

from consentry.enforce.facts import HostView

COUNT: Final = 1 << 16
FIRST: Final = 0x7800_0000
"""Above what systemd gives to containers and directory services to their users; see below for more."""

_END: Final = 0x7FFE_0000  # systemd's range for files of other systems begins here
_USERS: Final = (("/etc/passwd", 2), ("/etc/passwd", 3), ("/etc/group", 2))
_RANGES: Final = ("/etc/subuid", "/etc/subgid")
_MAPS: Final = ("/proc/self/uid_map", "/proc/self/gid_map")

_FEW: Final = 100
# Root itself, and the numbers that the kernel shows for users it has no number for.
_NOBODYS: Final = (0, 65534, 65535)

_Range = tuple[int, int]
"""The first number, and the first one after."""


def ids_behind_root(view: HostView) -> int:
    """The first of `COUNT` numbers that are nobody's, as users and as groups alike.

    Where there are none, the kernel will be asked for numbers it cannot give, and says so.
    """
    taken = [*_users(view), *_set_aside(view)]
    there = [list(_mapped(view, path)) for path in _MAPS]
    for first in _candidates(there):
        block = (first, first + COUNT)
        is_there = all(any(_is_within(block, each) for each in each_map) for each_map in there)
        if is_there and not any(_overlap(block, each) for each in taken):
            return first
    return FIRST


def one_behind_root(view: HostView) -> int | None:
    """A single number that is nobody's, for what maps no block; None where there is none."""
    block = ids_behind_root(view)
    taken = [*_users(view), *_set_aside(view)]
    there = [list(_mapped(view, path)) for path in _MAPS]
    ends = [end - 1 for _, end in there[0] if end <= FIRST]
    for number in (block, *(each for end in ends for each in range(end, end - _FEW, -1))):
        one = (number, number + 1)
        is_there = all(any(_is_within(one, each) for each in each_map) for each_map in there)
        if number not in _NOBODYS and is_there and not any(_overlap(one, each) for each in taken):
            return number
    return None


def _candidates(there: list[list[_Range]]) -> Iterator[int]:
    yield from range(FIRST, _END, COUNT)
    # A container may have fewer numbers; those at the end are the least likely to be in use.
    for first, end in sorted(there[0], reverse=True):
        top = min(end, FIRST) // COUNT * COUNT - COUNT
        yield from range(top, max(first, COUNT) - 1, -COUNT)


def _users(view: HostView) -> Iterator[_Range]:
    for path, column in _USERS:
        for fields in _rows(view, path):
            number = _number(fields, column)
            if number is not None:
                yield number, number + 1


def _set_aside(view: HostView) -> Iterator[_Range]:
    for path in _RANGES:
        for fields in _rows(view, path):
            first, count = _number(fields, 1), _number(fields, 2)
            if first is not None and count is not None:
                yield first, first + count


def _mapped(view: HostView, path: str) -> Iterator[_Range]:
    for line in (view.read(path) or "").splitlines():
        fields = line.split()
        first, count = _number(fields, 0), _number(fields, 2)
        if first is not None and count is not None:
            yield first, first + count


def _rows(view: HostView, path: str) -> Iterator[list[str]]:
    return (line.split(":") for line in (view.read(path) or "").splitlines())


def _number(fields: list[str], column: int) -> int | None:
    text = fields[column].strip() if column < len(fields) else ""
    return int(text) if text.isascii() and text.isdigit() else None


def _overlap(one: _Range, other: _Range) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _is_within(inner: _Range, outer: _Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]

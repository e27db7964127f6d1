"""The filter on system calls in the language that nsjail takes: the same list as ours, written otherwise.

Calls are named by their numbers, because its own table may be older than a call, and arguments get
names of ours. Of an argument that the kernel takes for 32 bits only those are looked at: a bit that
the kernel does not see must not make another value of it.
"""

import errno
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from consentry.enforce.native.seccompfilter import FAMILIES, MOST_SEGMENT, REFUSED, FilterWish
from consentry.enforce.native.syscallnumbers import NUMBERS

_NAMESPACES: Final = 0x7E020000
_TERMINAL_REQUESTS: Final = (0x5412, 0x541C)
_UNIX: Final = 1
_CONNECTED: Final = (1, 5)
_SET_ID: Final = 0o6000
_MODES: Final = {
    "chmod": "path, mode",
    "fchmod": "file, mode",
    "fchmodat": "folder, path, mode",
    "fchmodat2": "folder, path, mode",
}
_SEEN: Final = 0xFFFFFFFF
_X32: Final = 0x40000000
_MOST_CALLS: Final = 1024


def kafel_policy(machine: str, wish: FilterWish) -> str:
    """What is refused, and that all else goes on; nothing can be observed by it."""
    numbers = NUMBERS[machine]
    said = ", ".join(
        f"{action} {{ {', '.join(calls)} }}"
        for action, calls in (
            (f"ERRNO({errno.EPERM})", [*_refused(numbers, wish), *_by_argument(numbers, wish)]),
            (f"ERRNO({errno.EAFNOSUPPORT})", [*_sockets(numbers, wish)]),
            (f"ERRNO({errno.ENOSYS})", [f"SYSCALL[{numbers['clone3']}]"]),
            (
                f"ERRNO({errno.EINVAL})",
                [f"{_call(numbers, 'shmget')}(key, size) {{ size > {MOST_SEGMENT} }}"],
            ),
            *([("KILL", [*_x32()])] if machine == "x86_64" else ()),
        )
    )
    return f"POLICY box {{ {said} }} USE box DEFAULT ALLOW"


def _call(numbers: Mapping[str, int], name: str) -> str:
    return f"SYSCALL[{numbers[name]}]"


def _refused(numbers: Mapping[str, int], wish: FilterWish) -> Iterator[str]:
    names = REFUSED if wish.memory_files else (*REFUSED, "memfd_create")
    yield from (_call(numbers, name) for name in names if name in numbers)


def _by_argument(numbers: Mapping[str, int], wish: FilterWish) -> Iterator[str]:
    yield f"{_call(numbers, 'clone')}(flags) {{ (flags & {_NAMESPACES}) != 0 }}"
    asked = _among("request", _TERMINAL_REQUESTS)
    yield f"{_call(numbers, 'ioctl')}(file, request) {{ {asked} }}"
    for name, arguments in {} if wish.lends_identity else _MODES.items():
        if name in numbers:
            yield f"{_call(numbers, name)}({arguments}) {{ (mode & {_SET_ID}) != 0 }}"


def _sockets(numbers: Mapping[str, int], wish: FilterWish) -> Iterator[str]:
    families = [each for each in FAMILIES if wish.named_sockets or each != _UNIX]
    yield f"{_call(numbers, 'socket')}(family) {{ !({_among('family', families)}) }}"
    wanted = _among("family", (_UNIX,))
    if not wish.named_sockets:
        # Both ends of such a pair stay with each other; one of datagrams can be sent elsewhere.
        wanted = f"{wanted} && ({_among('kind', _CONNECTED, within=0xF)})"
    yield f"{_call(numbers, 'socketpair')}(family, kind) {{ !({wanted}) }}"


def _x32() -> Iterator[str]:
    """Every call by another table of numbers, of which the kernel may have one."""
    yield from (f"SYSCALL[{_X32 | number}]" for number in range(_MOST_CALLS))


def _among(name: str, values: Iterable[int], within: int = _SEEN) -> str:
    return " || ".join(f"({name} & {within}) == {value}" for value in values)

"""The filter on system calls as a container's makers take it: the native filter's rules, as JSON.

It holds from the container's first process on; that one loads the native filter itself before the
program starts, so that calls are refused also where the container's makers do not know their names.
"""

import errno
from collections.abc import Iterator
from typing import Any, Final

from consentry.base.canonical import Json
from consentry.enforce.native.seccompfilter import FAMILIES, MOST_SEGMENT, REFUSED, FilterWish

_ARCHITECTURES: Final = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
_NEW_NAMESPACES: Final = (1 << 17, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30)
_TERMINAL_REQUESTS: Final = (0x5412, 0x541C)
_LOW_HALF: Final = 0xFFFFFFFF
_SET_ID: Final = (0o4000, 0o2000)
_MODES: Final = (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2))
_BY_NAME: Final = 1
_TYPE_BITS: Final = 0xF
_NOT_CONNECTED: Final = (0, 2, 3, 4, *range(6, 16))
"""Kinds of socket other than SOCK_STREAM and SOCK_SEQPACKET."""


def profile_of(machine: str, wish: FilterWish) -> Json:
    """The profile; raises `KeyError` for a machine it is not written for."""
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        # Whoever calls by another machine's numbers is ended.
        "architectures": [_ARCHITECTURES[machine]],
        "syscalls": [*_rules(wish)],
    }


def _rules(wish: FilterWish) -> Iterator[Json]:
    refused = [*REFUSED] if wish.memory_files else [*REFUSED, "memfd_create"]
    yield _refusal(refused, errno.EPERM)
    yield _refusal(["clone3"], errno.ENOSYS)
    for bit in _NEW_NAMESPACES:
        yield _refusal(["clone"], errno.EPERM, _bits(0, bit, bit))
    for request in _TERMINAL_REQUESTS:
        yield _refusal(["ioctl"], errno.EPERM, _bits(1, _LOW_HALF, request))
    yield _refusal(["shmget"], errno.EINVAL, _compared(1, "SCMP_CMP_GT", MOST_SEGMENT))
    families = [each for each in FAMILIES if wish.named_sockets or each != _BY_NAME]
    yield from _other_families(families)
    yield _refusal(["socketpair"], errno.EAFNOSUPPORT, _compared(0, "SCMP_CMP_NE", _BY_NAME))
    if not wish.named_sockets:
        for kind in _NOT_CONNECTED:
            yield _refusal(["socketpair"], errno.ESOCKTNOSUPPORT, _bits(1, _TYPE_BITS, kind))
    if not wish.lends_identity:
        for name, argument in _MODES:
            for bit in _SET_ID:
                yield _refusal([name], errno.EPERM, _bits(argument, bit, bit))


def _other_families(families: list[int]) -> Iterator[Json]:
    """Rules can only say what is refused, each about one number or all above one."""
    last = max(families)
    for number in range(last):
        if number not in families:
            yield _refusal(["socket"], errno.EAFNOSUPPORT, _compared(0, "SCMP_CMP_EQ", number))
    yield _refusal(["socket"], errno.EAFNOSUPPORT, _compared(0, "SCMP_CMP_GT", last))


def _refusal(names: list[str], number: int, argument: dict[str, Any] | None = None) -> Json:
    return {
        "names": [*names],
        "action": "SCMP_ACT_ERRNO",
        "errnoRet": number,
        "args": [] if argument is None else [argument],
    }


def _compared(index: int, how: str, value: int) -> dict[str, Any]:
    return {"index": index, "value": value, "op": how}


def _bits(index: int, mask: int, value: int) -> dict[str, Any]:
    return {"index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}

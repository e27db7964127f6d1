"""The filter on system calls: a list of what is refused, written for this machine's processor.

A list of refusals, not of permissions, so that ordinary programs (numpy, node, compilers) go on
working; everything on it reaches parts of the kernel that confined code has no business with, or
undoes another control. What it refuses, it refuses for good, also across exec.

Calls that an observer wants to see are handed to it and then go on as they are: observing never
decides. Arguments that are pointers cannot be judged here at all.
"""

import errno
from collections.abc import Iterable, Sequence
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.native.syscallnumbers import AUDIT_ARCH, NUMBERS

REFUSED: Final = (
    "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "bpf",
    "perf_event_open", "keyctl", "add_key", "request_key", "unshare", "setns", "mount", "umount2",
    "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick", "open_tree",
    "open_tree_attr", "move_mount", "mount_setattr", "statmount", "listmount", "ptrace",
    "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
    "name_to_handle_at", "open_by_handle_at", "memfd_secret", "create_module", "init_module",
    "finit_module", "delete_module", "get_kernel_syms", "query_module", "kexec_load",
    "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "settimeofday", "clock_settime",
    "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "iopl", "ioperm", "quotactl",
    "quotactl_fd", "nfsservctl", "lookup_dcookie", "syslog", "vhangup", "modify_ldt", "uselib",
    "ustat", "sysfs", "_sysctl", "fanotify_init", "move_pages", "migrate_pages",
)  # fmt: skip
OBSERVED: Final = (
    "openat", "open", "openat2", "creat", "execve", "execveat", "connect", "unlink", "unlinkat",
    "rmdir", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "symlink", "symlinkat", "link",
    "linkat", "truncate", "sendmsg", "sendmmsg",
)  # fmt: skip
FAMILIES: Final = (1, 2, 10)
"""AF_UNIX, AF_INET, AF_INET6: the only kinds of socket there are inside."""

MOST_SEGMENT: Final = 64 << 10
"""Bytes of one System V segment. A box can have 4,096, and nobody sees those that nobody maps."""

_NEW_NAMESPACE_BITS: Final = 0x7E020000
_TERMINAL_REQUESTS: Final = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: they type for the user
_SET_ID: Final = 0o6000
_BY_NAME, _CONNECTED, _TYPE_BITS = 1, (1, 5), 0xF  # AF_UNIX; SOCK_STREAM, SOCK_SEQPACKET
_MODES: Final = (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2))
_X32_BIT: Final = 0x40000000

_LOAD, _JUMP_EQUAL, _JUMP_OVER, _JUMP_AT_LEAST = 0x20, 0x15, 0x25, 0x35
_JUMP_BITS, _RETURN, _AND = 0x45, 0x06, 0x54
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16
ALLOW, _KILL, ERRNO, _NOTIFY = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000


@dataclass(frozen=True, slots=True)
class FilterWish:
    """What of the filter depends on the run."""

    observed: bool = True
    memory_files: bool = True
    families: tuple[int, ...] = FAMILIES
    named_sockets: bool = True
    """Whether there are sockets that can reach another by its name in a folder."""
    preallocates: bool = True
    """Whether space on a disk may be taken without writing to it."""
    lends_identity: bool = True
    """Whether a file may be given bits that lend its owner's identity to whoever runs it."""


def compile_filter(machine: str, wish: FilterWish) -> bytes:
    """The filter as the kernel takes it; raises `KeyError` for a machine it is not written for."""
    numbers = NUMBERS[machine]
    refused = [*REFUSED] if wish.memory_files else [*REFUSED, "memfd_create"]
    code = FilterProgram.begun(machine)
    if wish.observed:
        code.if_among((numbers[n] for n in OBSERVED if n in numbers), _NOTIFY)
        code.if_argument_set(numbers["sendto"], 4, _NOTIFY)
    code.if_among((numbers[n] for n in refused if n in numbers), ERRNO | errno.EPERM)
    for name, mode in () if wish.lends_identity else _MODES:
        if name in numbers:
            code.if_argument_bits(numbers[name], mode, _SET_ID, ERRNO | errno.EPERM)
    if not wish.preallocates:
        # As where the file system cannot: who wants the space writes to it, and is counted.
        code.if_among([numbers["fallocate"]], ERRNO | errno.EOPNOTSUPP)
    code.if_among([numbers["clone3"]], ERRNO | errno.ENOSYS)
    code.if_argument_bits(numbers["clone"], 0, _NEW_NAMESPACE_BITS, ERRNO | errno.EPERM)
    code.if_argument_among(numbers["ioctl"], 1, _TERMINAL_REQUESTS, ERRNO | errno.EPERM)
    # As where the kernel has such a limit itself.
    code.if_argument_over(numbers["shmget"], 1, MOST_SEGMENT, ERRNO | errno.EINVAL)
    families = [each for each in wish.families if wish.named_sockets or each != _BY_NAME]
    code.unless_argument_among(numbers["socket"], 0, families, ERRNO | errno.EAFNOSUPPORT)
    code.unless_argument_among(numbers["socketpair"], 0, (_BY_NAME,), ERRNO | errno.EAFNOSUPPORT)
    if not wish.named_sockets:
        # Both ends of such a pair stay with each other; one of datagrams can be sent elsewhere.
        code.unless_argument_among(
            numbers["socketpair"], 1, _CONNECTED, ERRNO | errno.ESOCKTNOSUPPORT, within=_TYPE_BITS
        )
    code.give(ALLOW)
    return code.assembled()


class FilterProgram:
    """Instructions of the classic packet filter, eight bytes each."""

    def __init__(self) -> None:
        self._code: list[tuple[int, int, int, int]] = []

    @classmethod
    def begun(cls, machine: str) -> "FilterProgram":
        """One that ends whoever calls by another machine's numbers, with the number loaded."""
        code = cls()
        code.load(_ARCH_AT)
        code.unless_equal(AUDIT_ARCH[machine], _KILL)
        code.load(_NUMBER_AT)
        if machine == "x86_64":
            code.if_at_least(_X32_BIT, _KILL)
        return code

    def load(self, offset: int) -> None:
        """Takes a word of what is known of a call."""
        self._code.append((_LOAD, 0, 0, offset))

    def give(self, action: int) -> None:
        """Ends with this answer."""
        self._code.append((_RETURN, 0, 0, action))

    def unless_equal(self, value: int, action: int) -> None:
        """Gives an answer to all other values."""
        self._code.append((_JUMP_EQUAL, 1, 0, value))
        self.give(action)

    def if_at_least(self, value: int, action: int) -> None:
        """Gives an answer from a value on."""
        self._code.append((_JUMP_AT_LEAST, 0, 1, value))
        self.give(action)

    def if_among(self, values: Iterable[int], action: int) -> None:
        """One comparison each, all jumping to one answer behind the last."""
        wanted = list(values)
        for index, value in enumerate(wanted):
            last = index == len(wanted) - 1
            self._code.append((_JUMP_EQUAL, len(wanted) - 1 - index, 1 if last else 0, value))
        self.give(action)

    def if_argument_bits(self, number: int, argument: int, bits: int, action: int) -> None:
        """One of the bits is set."""
        self._when(number, argument, [(_JUMP_BITS, 0, 1, bits), (_RETURN, 0, 0, action)])

    def if_argument_set(self, number: int, argument: int, action: int) -> None:
        """Either half of a pointer that is not null."""
        low = _ARGUMENTS_AT + 8 * argument
        self._when(
            number,
            argument,
            [
                (_JUMP_EQUAL, 0, 2, 0),
                (_LOAD, 0, 0, low + 4),
                (_JUMP_EQUAL, 1, 0, 0),
                (_RETURN, 0, 0, action),
            ],
        )

    def if_argument_over(self, number: int, argument: int, most: int, action: int) -> None:
        """A number of 64 bits that is greater."""
        high = _ARGUMENTS_AT + 8 * argument + 4
        self._when(
            number,
            argument,
            [
                (_JUMP_OVER, 2, 0, most),
                (_LOAD, 0, 0, high),
                (_JUMP_EQUAL, 1, 0, 0),
                (_RETURN, 0, 0, action),
            ],
        )

    def if_argument_among(
        self, number: int, argument: int, values: Sequence[int], action: int
    ) -> None:
        """It is one of the values."""
        tests = [(_JUMP_EQUAL, len(values) - 1 - i, 0, v) for i, v in enumerate(values[:-1])]
        tests.append((_JUMP_EQUAL, 0, 1, values[-1]))
        self._when(number, argument, [*tests, (_RETURN, 0, 0, action)])

    def unless_argument_among(
        self,
        number: int,
        argument: int,
        values: Sequence[int],
        action: int,
        within: int = 0xFFFFFFFF,
    ) -> None:
        """Of the argument, the bits that are `within`."""
        tests = [(_JUMP_EQUAL, len(values) - i, 0, v) for i, v in enumerate(values)]
        self._when(number, argument, [(_AND, 0, 0, within), *tests, (_RETURN, 0, 0, action)])

    def _when(self, number: int, argument: int, body: list[tuple[int, int, int, int]]) -> None:
        """The body for one call, with the low half of an argument loaded; the number after it."""
        self._code.append((_JUMP_EQUAL, 0, len(body) + 2, number))
        self.load(_ARGUMENTS_AT + 8 * argument)
        self._code.extend(body)
        self.load(_NUMBER_AT)

    def assembled(self) -> bytes:
        """As the kernel takes it."""
        return b"".join(
            code.to_bytes(2, "little") + bytes((yes, no)) + value.to_bytes(4, "little")
            for code, yes, no, value in self._code
        )

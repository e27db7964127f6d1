"""The score-card's attacks by system call: what reaches the kernel past every library.

Loaded by the program that `attackcard` is, in a box that has nothing of this package: it imports the
standard library alone.
"""

import ctypes
import errno
import mmap
import os
import signal
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

EXIT_OF_OURS = 42

_MACHINE = os.uname().machine
_IS_X86 = _MACHINE == "x86_64"
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long

# x86_64 first, then the generic table; one number where both have the same.
_NUMBERS = {
    "ioctl": (16, 29),
    "clone": (56, 220),
    "ptrace": (101, 117),
    "mount": (165, 40),
    "capget": (125, 90),
    "add_key": (248, 217),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "perf_event_open": (298, 241),
    "memfd_create": (319, 279),
    "bpf": (321, 280),
    "execveat": (322, 281),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "clone3": (435, 435),
}
_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x20000
_SIGCHLD = 17
_AT_EMPTY_PATH, _AT_FDCWD, _OPEN_TREE_CLONE = 0x1000, -100, 1
_TIOCSTI, _TIOCSCTTY = 0x5412, 0x540E
_HIGH_BIT = 1 << 32
_PROCESS_KEYRING = -2
_PTRACE_SEIZE = 0x4206
_CAPABILITY_VERSION, _CAPABILITIES = 0x20080522, 64
_GET_BOUND, _GET_NO_NEW_PRIVS, _AMBIENT, _AMBIENT_IS_SET = 23, 39, 47, 1
_X32_GETPID = 0x40000000 | 39
_ORDINARY_FAMILIES = (0, socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
_LAST_FAMILY = 46

Bait = dict[str, Any]


class NotHere(Exception):
    """This machine has nothing to try it on."""


def _call(name: str, *arguments: object) -> int:
    number = _NUMBERS[name][0 if _IS_X86 else 1]
    result = int(_LIBC.syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def any_of(*tries: Callable[[], str]) -> str:
    """The first that succeeds; the first refusal when none does."""
    refusals: list[OSError] = []
    for each in tries:
        try:
            return each()
        except OSError as problem:
            refusals.append(problem)
    raise refusals[0]


def _family(number: int) -> str:
    def opened(kind: int) -> str:
        socket.socket(number, kind).close()
        return f"opened a socket of family {number}"

    kinds = (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_STREAM, socket.SOCK_SEQPACKET)
    return any_of(*(partial(opened, kind) for kind in kinds))


def open_vsock(_: Bait) -> str:
    """A socket to the hypervisor."""
    return _family(socket.AF_VSOCK)


def open_netlink(_: Bait) -> str:
    """A socket to the kernel's own services."""
    return _family(socket.AF_NETLINK)


def open_other_families(_: Bait) -> str:
    """A socket of any family but the ordinary ones."""
    named = (*_ORDINARY_FAMILIES, socket.AF_VSOCK, socket.AF_NETLINK)
    others = [number for number in range(_LAST_FAMILY) if number not in named]
    return any_of(*(partial(_family, number) for number in others))


def make_ring(_: Bait) -> str:
    """io_uring: calls that no filter sees."""
    os.close(_call("io_uring_setup", 4, ctypes.create_string_buffer(256)))
    return "made a ring"


def use_keys(_: Bait) -> str:
    """The kernel's keyrings, by either call."""

    def keyring() -> str:
        return f"keyring {_call('keyctl', 0, _PROCESS_KEYRING, 1, 0, 0)}"

    def key() -> str:
        return f"key {_call('add_key', b'user', b'probe', b'x', 1, _PROCESS_KEYRING)}"

    return any_of(keyring, key)


def has_promised_no_new_powers() -> bool:
    """Whether no program that is started from here on can lend anything."""
    return bool(_LIBC.prctl(_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)


def use_capability(_: Bait) -> str:
    """One that is there, in any of the sets, or that a program could lend."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()
    _call("capget", header, sets)
    if any(sets):
        return "has " + " ".join(f"{each:x}" for each in sets)
    for number in range(_CAPABILITIES):
        if _LIBC.prctl(_AMBIENT, _AMBIENT_IS_SET, number, 0, 0) == 1:
            return f"keeps {number} across exec"
        if _LIBC.prctl(_GET_BOUND, number, 0, 0, 0) == 1 and not has_promised_no_new_powers():
            return f"can be lent {number}"
    raise OSError(errno.EPERM, "capabilities")


def use_bpf(_: Bait) -> str:
    """A map of bpf."""
    array = b"".join(each.to_bytes(4, "little") for each in (2, 4, 4, 1)).ljust(72, b"\0")
    os.close(_call("bpf", 0, array, len(array)))
    return "made a map"


def use_perf(_: Bait) -> str:
    """A counter of this very process."""
    software, disabled_and_user_only = 1, 0b1100001
    attributes = software.to_bytes(4, "little") + (64).to_bytes(4, "little")
    attributes = attributes.ljust(40, b"\0") + disabled_and_user_only.to_bytes(8, "little")
    os.close(_call("perf_event_open", attributes.ljust(64, b"\0"), 0, -1, -1, 0))
    return "opened a counter"


def handle_faults(_: Bait) -> str:
    """Page faults of this process, to stop the kernel in the middle."""
    user_mode_only = 1
    os.close(_call("userfaultfd", os.O_CLOEXEC | user_mode_only))
    return "opened a handler of page faults"


def enter_users(_: Bait) -> str:
    """A user namespace, in which a process has every capability."""

    def by_clone() -> str:
        pid = _call("clone", ctypes.c_ulong(_NEW_USER | _SIGCHLD), 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        return "cloned into a user namespace"

    def by_unshare() -> str:
        _call("unshare", _NEW_USER)
        return "entered a user namespace"

    return any_of(by_clone, by_unshare)


def enter_users_by_clone3(_: Bait) -> str:
    """The same by the call whose flags no filter can read."""
    wanted = _NEW_USER.to_bytes(8, "little").ljust(32, b"\0") + _SIGCHLD.to_bytes(8, "little")
    pid = _call("clone3", ctypes.create_string_buffer(wanted.ljust(64, b"\0"), 64), 64)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "cloned into a user namespace"


def mount(_: Bait) -> str:
    """By the old calls and the new, also below a user namespace."""

    def classic() -> str:
        try:
            _call("mount", b"none", b"/", b"no-such-file-system", 0, None)
        except OSError as problem:
            if problem.errno != errno.ENODEV:
                raise
        return "mount was carried out as far as the type"

    def new() -> str:
        os.close(_call("fsopen", b"tmpfs", 1))
        return "fsopen"

    def tree() -> str:
        os.close(_call("open_tree", _AT_FDCWD, b"/", _OPEN_TREE_CLONE | os.O_CLOEXEC))
        return "open_tree"

    def below_a_user_namespace() -> str:
        _call("unshare", _NEW_USER | _NEW_MOUNTS)
        return any_of(classic, new, tree)

    return any_of(classic, new, tree, below_a_user_namespace)


def trace_another(_: Bait) -> str:
    """Another process of the same user."""
    other = os.fork()
    if other == 0:
        signal.pause()
        os._exit(0)
    try:
        _call("ptrace", _PTRACE_SEIZE, other, 0, 0)
    finally:
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)
    return "traced another process"


def type_for_the_user(_: Bait) -> str:
    """TIOCSTI, also with a bit set that the kernel does not look at."""
    # Its other end stays open: were it closed, whoever types would be hung up.
    terminal = os.openpty()[1]
    os.setsid()
    _call("ioctl", terminal, ctypes.c_ulong(_TIOCSCTTY), 0)
    letter = ctypes.create_string_buffer(b"x")

    def typed(request: int) -> str:
        _call("ioctl", terminal, ctypes.c_ulong(request), letter)
        return "typed a letter into the terminal"

    return any_of(lambda: typed(_TIOCSTI), lambda: typed(_TIOCSTI | _HIGH_BIT))


def call_by_x32(_: Bait) -> str:
    """A call by another table of numbers."""
    if not _IS_X86:
        raise NotHere(f"{_MACHINE} has no such calls")
    if int(_LIBC.syscall(_X32_GETPID)) < 0:
        raise OSError(ctypes.get_errno(), "getpid")
    return "called by the numbers of x32"


def call_by_int80(_: Bait) -> str:
    """A call by the oldest way there is."""
    if not _IS_X86:
        raise NotHere(f"{_MACHINE} has no such calls")
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\xb8\x14\0\0\0\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    answer = ctypes.CFUNCTYPE(ctypes.c_int)(place)()
    if answer != os.getpid():
        raise OSError(-answer if answer < 0 else errno.ENOSYS, "int 0x80")
    return "called by the numbers of i386"


def little_program() -> bytes:
    """The smallest program there is: it ends with a status that tells it from others."""
    if _IS_X86:
        machine = 62
        code = bytes([0xBF, EXIT_OF_OURS, 0, 0, 0, 0xB8, 60, 0, 0, 0, 0x0F, 0x05])
    elif _MACHINE == "aarch64":
        machine = 183
        words = (0xD2800000 | EXIT_OF_OURS << 5, 0xD2800BA8, 0xD4000001)
        code = b"".join(word.to_bytes(4, "little") for word in words)
    else:
        raise NotHere(f"no program is written for {_MACHINE}")
    base, head = 0x400000, 64 + 56
    elf = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    for value, size in (
        (2, 2), (machine, 2), (1, 4), (base + head, 8), (64, 8), (0, 8), (0, 4), (64, 2), (56, 2),
        (1, 2), (0, 2), (0, 2), (0, 2),
        (1, 4), (5, 4), (0, 8), (base, 8), (base, 8), (head + len(code), 8), (head + len(code), 8),
        (0x1000, 8),
    ):  # fmt: skip
        elf += value.to_bytes(size, "little")
    return elf + code


def start_from_memory(_: Bait) -> str:
    """A program that is no file."""
    file = _call("memfd_create", b"program", 0)
    os.write(file, little_program())
    nothing = (ctypes.c_char_p * 1)(None)
    _call("execveat", file, b"", nothing, nothing, _AT_EMPTY_PATH)
    return ""

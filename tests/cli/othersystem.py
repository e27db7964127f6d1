"""Runs the real command as far as it can be run on Linux as if on another system.

    python othersystem.py NOTES SYSTEM WORDS...

The other system cannot be here. What can be: the name that `sys.platform` has there; the functions and
numbers that the standard library does not have there, taken away; no Linux kernel asked by ctypes; and
a note of every file below `/proc` and `/sys` that was asked for, in the file NOTES. On Windows, whole
modules are missing, and are missing here then. Whoever starts this takes `/proc` and `/sys` away too.
"""

import ctypes
import fcntl
import os
import resource
import select
import selectors
import signal
import socket
import sys
from types import ModuleType
from typing import Any

# As the library's documents say of macOS: "not available".
_NOT_ON_MACOS: dict[ModuleType, tuple[str, ...]] = {
    os: (
        "pipe2", "memfd_create", "eventfd", "eventfd_read", "eventfd_write", "pidfd_open",
        "unshare", "setns", "splice", "copy_file_range", "sched_getaffinity", "sched_setaffinity",
        "sched_getparam", "sched_setparam", "sched_setscheduler", "sched_getscheduler",
        "getxattr", "listxattr", "setxattr", "removexattr", "posix_fadvise", "posix_fallocate",
        "fdatasync", "O_PATH", "O_TMPFILE", "O_DIRECT", "O_LARGEFILE", "O_NOATIME", "O_RSYNC",
        "getrandom", "getresuid", "getresgid", "setresuid", "setresgid", "P_PIDFD",
        "RTLD_DEEPBIND", "MFD_", "EFD_", "CLONE_", "GRND_", "XATTR_", "SPLICE_", "POSIX_FADV_",
    ),
    signal: (
        "pidfd_send_signal", "sigtimedwait", "sigwaitinfo", "SIGRTMIN", "SIGRTMAX", "SIGPWR",
        "SIGSTKFLT", "SIGPOLL", "SIGCLD",
    ),
    resource: (
        "prlimit", "RUSAGE_THREAD", "RLIMIT_OFILE", "RLIMIT_MSGQUEUE", "RLIMIT_NICE",
        "RLIMIT_RTPRIO", "RLIMIT_RTTIME", "RLIMIT_SIGPENDING",
    ),
    select: ("epoll",),
    fcntl: (
        "F_ADD_SEALS", "F_GET_SEALS", "F_SEAL_", "F_SETPIPE_SZ", "F_GETPIPE_SZ", "F_SETSIG",
        "F_GETSIG", "F_OFD_", "F_NOTIFY", "F_SETLEASE", "F_GETLEASE",
    ),
    socket: (
        "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG", "SO_PEERCRED", "SO_PASSCRED",
        "MSG_CMSG_CLOEXEC", "SOCK_CLOEXEC", "SOCK_NONBLOCK",
    ),
}  # fmt: skip
_NOT_ON_WINDOWS = ("fcntl", "termios", "tty", "pty", "pwd", "grp", "resource")
_OF_LINUX = ("/proc", "/sys")
_ALSO_ON_MACOS = ("syscall", "mount", "mmap", "munmap", "ioctl", "fcntl")


class _Library:
    """A C library of which names can be asked for, and nothing be called."""

    def __init__(self, *_: object, **__: object) -> None:
        self._asked: dict[str, _Function] = {}

    def __getattr__(self, name: str) -> "_Function":
        if name not in _ALSO_ON_MACOS:
            raise AttributeError(name)
        return self._asked.setdefault(name, _Function())


class _Function:
    def __call__(self, *_: object) -> int:
        raise RuntimeError("nothing of this path asks a kernel by itself")


def pretend(system: str, notes: int) -> None:
    """From now on, as far as it goes."""
    sys.platform = system
    for module, names in _NOT_ON_MACOS.items():
        families = tuple(each for each in names if each.endswith("_"))
        for name in dir(module):
            if name in names or (families and name.startswith(families)):
                delattr(module, name)
    if system == "win32":
        for gone in _NOT_ON_WINDOWS:
            sys.modules[gone] = None  # type: ignore[assignment]
    # There it would be that of kqueue, which is not here.
    selectors.DefaultSelector = selectors.PollSelector  # type: ignore[misc, assignment]
    ctypes.CDLL = ctypes.PyDLL = _Library  # type: ignore[misc, assignment]
    sys.addaudithook(lambda event, given: _note(event, given, notes))


def _note(event: str, given: tuple[Any, ...], notes: int) -> None:
    if event in ("open", "os.listdir", "os.scandir") and isinstance(given[0], str | bytes):
        path = os.fsdecode(given[0])
        if path.startswith(_OF_LINUX):
            os.write(notes, f"{path}\n".encode())


def main() -> None:
    """As the module says."""
    notes = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    pretend(sys.argv[2], notes)
    sys.argv[1:] = sys.argv[3:]
    from consentry.cli.main import main as consentry

    consentry()


if __name__ == "__main__":
    main()

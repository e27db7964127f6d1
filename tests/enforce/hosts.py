"""Hosts that refuse something, made of this one: a child process is put where it may do less.

Each function is run in a fresh child before it becomes the program under test. What it takes away
is gone for that child alone.
"""

import ctypes
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import consentry
from consentry.enforce.native import calls
from consentry.enforce.native.seccompfilter import (
    ALLOW,
    ERRNO,
    FilterProgram,
    FilterWish,
    compile_filter,
)

NOBODY: Final = 65534
_CAPABILITY_VERSION, _SYS_PTRACE, _SYS_ADMIN = 0x20080522, 19, 21
_SYS_CAPGET: Final = 90 if os.uname().machine in ("aarch64", "riscv64") else 125
_USERS, _MOUNTS = calls.CLONE_NEWUSER, calls.CLONE_NEWNS
_SOURCE = Path(consentry.__file__).parents[1]


def run_as(
    uid: int, script: str, *, before: Callable[[], None] = lambda: None, **environ: str
) -> str:
    """What a script prints as that user, in a host where `before` was done."""
    process = started_as(uid, script, before=before, **environ)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


def started_as(
    uid: int,
    script: str,
    *,
    before: Callable[[], None] = lambda: None,
    stdin: int = subprocess.DEVNULL,
    **environ: str,
) -> "subprocess.Popen[str]":
    """The same while it runs."""
    packages = [path for path in sys.path if path.endswith("site-packages")]
    path = os.pathsep.join([str(_SOURCE), str(_SOURCE.parent), *packages])
    # The interpreter of the tests may lie in a home that others cannot enter.
    interpreter = sys.executable if uid == os.getuid() else "/usr/bin/python3"
    changes: dict[str, Any] = {}
    if uid != os.getuid():
        changes = {"user": uid, "group": uid, "extra_groups": ()}
    return subprocess.Popen(
        [interpreter, "-B", "-c", script],
        env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **environ},
        cwd="/",
        preexec_fn=before,  # noqa: PLW1509 - there is one thread
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **changes,
    )


def users() -> list[int]:
    """Whom to run as: root and an ordinary user where that can be, else whoever runs the tests."""
    return [os.getuid(), NOBODY] if os.getuid() == 0 else [os.getuid()]


def _enter_users(uid: int, gid: int, flags: int) -> None:
    # Whoever changed users does not own its own files in /proc, until it says so.
    calls.prctl(calls.PR_SET_DUMPABLE, 1)
    calls.checked(calls._libc.unshare(flags), "unshare")
    for name, content in (
        ("setgroups", b"deny"),
        ("uid_map", b"%d %d 1" % (uid, uid)),
        ("gid_map", b"%d %d 1" % (gid, gid)),
    ):
        _write(f"/proc/self/{name}", content)


def _write(path: str, content: bytes) -> None:
    """With nothing to import: that may be out of reach by now."""
    opened = os.open(path, os.O_WRONLY)
    os.write(opened, content)
    os.close(opened)


def without_more_user_namespaces() -> None:
    """The limit is reached: no other user namespace can be made below this one."""
    _enter_users(os.getuid(), os.getgid(), _USERS)
    _write("/proc/sys/user/max_user_namespaces", b"0")


def with_covered_proc() -> None:
    """As in a container: a part of /proc is covered."""
    _enter_users(os.getuid(), os.getgid(), _USERS | _MOUNTS)
    calls.mount("none", "/", "", calls.MS_REC | calls.MS_PRIVATE)
    calls.mount("tmpfs", "/proc/fs", "tmpfs", calls.MS_RDONLY)


def behind_a_filter() -> None:
    """As in a container: a filter refuses new namespaces and mounts."""
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    calls.seccomp(compile_filter(calls.MACHINE, FilterWish(observed=False)), listening=False)


def behind_a_filter_without_landlock() -> None:
    """The same with an older filter, which knows nothing of Landlock."""
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    code = FilterProgram.begun(calls.MACHINE)
    code.if_among([calls.SYS_LANDLOCK_CREATE], ERRNO | errno.EPERM)
    code.give(ALLOW)
    calls.seccomp(code.assembled(), listening=False)
    behind_a_filter()


def as_root_of_a_container() -> None:
    """Root as containers have it: it may change its user, and neither mount nor trace."""
    header, sets = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    calls.checked(calls._syscall(_SYS_CAPGET, header, sets), "capget")
    for number in (_SYS_PTRACE, _SYS_ADMIN):
        bound = ctypes.c_ulong(number)
        calls.checked(calls._libc.prctl(calls.PR_CAPBSET_DROP, bound, 0, 0, 0), "prctl")
        for at in range(3):
            sets[at] &= ~(1 << number)
    calls.checked(calls._syscall(calls.SYS_CAPSET, header, sets), "capset")

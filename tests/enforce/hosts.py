"""Hosts that refuse something, made of this one: a child process is put where it may do less.

Each function is run in a fresh child before it becomes the program under test. What it takes away
is gone for that child alone.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import consentry
from consentry.enforce.native import calls
from consentry.enforce.native.seccompfilter import FilterWish, compile_filter

NOBODY: Final = 65534
_USERS, _MOUNTS = calls.CLONE_NEWUSER, calls.CLONE_NEWNS
_SOURCE = Path(consentry.__file__).parents[1]


def run_as(
    uid: int, script: str, *, before: Callable[[], None] = lambda: None, **environ: str
) -> str:
    """What a script prints as that user, in a host where `before` was done."""
    packages = [path for path in sys.path if path.endswith("site-packages")]
    path = os.pathsep.join([str(_SOURCE), str(_SOURCE.parent), *packages])
    # The interpreter of the tests may lie in a home that others cannot enter.
    interpreter = sys.executable if uid == os.getuid() else "/usr/bin/python3"
    changes: dict[str, Any] = {}
    if uid != os.getuid():
        changes = {"user": uid, "group": uid, "extra_groups": ()}
    done = subprocess.run(
        [interpreter, "-B", "-c", script],
        env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **environ},
        cwd="/",
        preexec_fn=before,
        capture_output=True,
        text=True,
        check=False,
        **changes,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


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

"""The runtime roots: what any program needs to start, provided read-only and part of no surface.

`/usr` and the names that lead into it, the read-only exceptions of the protected-root table, and the
prefix of an interpreter that is installed elsewhere. Small files that programs expect in `/etc` are
written for the box, so that they say nothing of the host.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from consentry.base.values import dataclass
from consentry.surface.protected import ProtectedRoots

Step: TypeAlias = tuple[object, ...]

HOME: Final = "/home/user"
ENVIRONMENT: Final = {
    "PATH": "/usr/bin:/bin",
    "HOME": HOME,
    "TMPDIR": "/tmp",  # noqa: S108 - the box's own
    "LANG": "C.UTF-8",
}
"""What the launcher is started with, and so the environment of every snippet."""
HIDDEN_IN_PROC: Final = (
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/keys",
    "/proc/key-users",
    "/proc/kmsg",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/modules",
    "/proc/sched_debug",
    "/proc/slabinfo",
    "/proc/timer_list",
    "/proc/vmallocinfo",
)
PROGRAM_FOLDERS: Final = (
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/libexec",
    "/usr/games",
    "/usr/lib/git-core",
    "/usr/lib/gcc",
    "/usr/lib/jvm",
    "/usr/lib/llvm-14/bin",
    "/usr/lib/postgresql",
    "/usr/lib/openssh",
    "/usr/lib/sudo",
    "/usr/lib/systemd",
)

_READ_ONLY: Final = ("ro", "nosuid", "nodev")
_LEAD_INTO_USR: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


@dataclass(frozen=True, slots=True)
class Runtime:
    """Which parts of the host are provided, and the steps that do it.

    Prefixes have steps of their own, because one may lie below a folder that the run gets anew.
    """

    roots: tuple[str, ...]
    steps: tuple[Step, ...]
    prefix_steps: tuple[Step, ...]


def runtime_of(
    protected: ProtectedRoots, prefixes: tuple[Path, ...], uid: int, gid: int
) -> Runtime:
    """The runtime of this host, for a program with these prefixes."""
    roots: list[str] = ["/usr"]
    steps: list[Step] = [("dir", "/usr"), ("bind", "/usr", "/usr", _READ_ONLY, None)]
    for name in _LEAD_INTO_USR:
        path = Path("/", name)
        if path.is_symlink():
            steps.append(("link", str(path.readlink()), str(path)))
        elif path.is_dir():
            roots.append(str(path))
            steps += [("dir", str(path)), ("bind", str(path), str(path), _READ_ONLY, None)]
    steps += [("devices",), ("proc", HIDDEN_IN_PROC), ("dir", "/etc")]
    for path in _exceptions(protected):
        roots.append(str(path))
        steps += _shown(path)
    steps += _written_for_the_box(uid, gid)
    roots += map(str, prefixes)
    shown = [step for prefix in prefixes for step in _shown(prefix, identity_of(prefix))]
    return Runtime(tuple(roots), tuple(steps), tuple(shown))


def _exceptions(protected: ProtectedRoots) -> Iterator[Path]:
    for row in protected.exceptions:
        path = Path("/", *row.pattern.prefix)
        if path.parts[1] not in ("dev", "proc") and path.exists():
            yield path


def identity_of(path: Path) -> tuple[int, int]:
    """Which file is at that name now; where there is none, nothing that comes later is the one."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def _shown(path: Path, identity: tuple[int, int] | None = None) -> Iterator[Step]:
    """The steps that bind one file or folder where it is."""
    source = os.path.realpath(path)
    if path.is_dir():
        yield ("dir", str(path))
    else:
        yield ("dir", str(path.parent))
        yield ("empty", str(path))
    yield ("bind", source, str(path), _READ_ONLY, identity)


def _written_for_the_box(uid: int, gid: int) -> Iterator[Step]:
    yield ("file", "/etc/passwd", f"user:x:{uid}:{gid}::{HOME}:/bin/sh\n".encode())
    yield ("file", "/etc/group", f"user:x:{gid}:\n".encode())
    yield ("file", "/etc/hosts", b"127.0.0.1 localhost\n::1 localhost\n")
    yield ("file", "/etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files dns\n")
    yield ("file", "/etc/resolv.conf", b"")
    yield ("file", "/etc/hostname", b"box\n")

"""The form of a reading: what was looked for, the answer, and where the answer stands.

`HostView` says where to look, so that a prepared folder can stand in for `/` and another answer for
the one question that is put to the kernel itself. Nothing here starts a process or changes a file.
"""

import errno
import os
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

from consentry.base.values import dataclass, field
from consentry.enforce.ownership import ROOT_UID

LANDLOCK_CREATE_RULESET = 444
LANDLOCK_VERSION_FLAG = 1
# Architectures that do not use the common number for system calls added since 2019.
_OTHER_NUMBERING = ("alpha", "mips", "mips64")


class Found(StrEnum):
    """The three answers of a reading."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing about the host: a stable name, the answer, its value in short, and the evidence."""

    name: str
    found: Found
    value: str
    why: str


@dataclass(frozen=True, slots=True)
class LandlockAnswer:
    """What the kernel said when asked for Landlock's version: a number, or an error number."""

    version: int
    error: int = 0


def ask_landlock() -> LandlockAnswer:
    """Asks the running kernel. Creates no ruleset and restricts nothing."""
    if sys.platform != "linux":
        return LandlockAnswer(-1, errno.ENOSYS)
    if os.uname().machine in _OTHER_NUMBERING:
        return LandlockAnswer(-1, errno.ENOTSUP)
    try:
        import ctypes  # noqa: PLC0415 - 3 ms that only a look at the host should pay
    except ImportError:
        return LandlockAnswer(-1, errno.ELIBACC)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    version = libc.syscall(
        ctypes.c_long(LANDLOCK_CREATE_RULESET),
        ctypes.c_void_p(None),
        ctypes.c_size_t(0),
        ctypes.c_uint(LANDLOCK_VERSION_FLAG),
    )
    return LandlockAnswer(version, ctypes.get_errno() if version < 0 else 0)


@dataclass(frozen=True, slots=True)
class HostView:
    """Where to look: the root of the tree, the environment, who asks, and how to ask the kernel."""

    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=dict)
    uid: int = ROOT_UID
    landlock: Callable[[], LandlockAnswer] = ask_landlock

    def at(self, absolute: str) -> Path:
        """The place of an absolute path below this view's root."""
        return self.root / absolute.lstrip("/")

    def has(self, absolute: str) -> bool:
        """Whether something of that name is there, as far as this user can see."""
        return os.path.lexists(self.at(absolute))

    def read(self, absolute: str) -> str | None:
        """The text of a small file, or None when it is missing or may not be read."""
        try:
            return self.at(absolute).read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            return None

    def read_word(self, absolute: str) -> str | None:
        """As `read`, without the white space around it."""
        text = self.read(absolute)
        return None if text is None else text.strip()

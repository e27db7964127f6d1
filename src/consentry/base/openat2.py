"""One system call that Python lacks: `openat2`, which refuses links in every component at once.

`beneath` asks the kernel to open a path below a folder with `RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS`
and `RESOLVE_NO_MAGICLINKS`: the walk is one call, and nothing can be swapped between its steps. Kernels
before 5.6 do not have it, and some filters for system calls refuse it; then it answers so, and the
caller goes another way. Nothing here decides what a refusal means.

The call goes through `_ctypes`, the module underneath `ctypes`: it loads in a fifth of the time, and a
short command that opens one file would feel the difference. It is loaded with the first path that is
opened. Should an interpreter not have it as it is expected here, `openat2` counts as missing.
"""

import errno
import os
import sys
from collections.abc import Callable
from typing import Any, Final

_NUMBER: Final = 437  # the same for every processor: calls newer than 5.1 have one number
_HOW_BYTES: Final = 24
_NO_MAGICLINKS: Final = 2
_NO_SYMLINKS: Final = 4
_BENEATH: Final = 8
_RESOLVE: Final = _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH
_MODE_BITS: Final = 0o7777
_MOST_KEPT: Final = 64
# `openat2` refuses a mode where nothing is made.
_MAKING: Final = os.O_CREAT | (getattr(os, "O_TMPFILE", 0) & ~os.O_DIRECTORY)

_kept: dict[tuple[int, int], bytes] = {}


def beneath(folder: int, path: bytes, flags: int, mode: int) -> int:
    """A descriptor, or the number of the error with a minus; `ENOSYS` where there is no such call."""
    call, last_error = _system if _system is not None else _loaded()
    how = _kept.get((flags, mode)) or _described(flags, mode)
    opened: int = call(_NUMBER, folder, path, how, _HOW_BYTES)
    return opened if opened >= 0 else -last_error()


def _described(flags: int, mode: int) -> bytes:
    """`struct open_how`; kept, because a program opens in few ways and often."""
    fields = (flags, mode & _MODE_BITS if flags & _MAKING else 0, _RESOLVE)
    how = b"".join(field.to_bytes(_HOW_BYTES // 3, sys.byteorder) for field in fields)
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()
    _kept[flags, mode] = how
    return how


_Call = tuple[Callable[..., int], Callable[[], int]]
_system: _Call | None = None


def _loaded() -> _Call:
    global _system  # noqa: PLW0603 - found once in a process
    try:
        _system = _found() if sys.platform == "linux" else _MISSING
    except (ImportError, AttributeError, OSError, TypeError):
        _system = _MISSING
    return _system


def _found() -> _Call:
    import _ctypes  # noqa: PLC0415 - with the first path that is opened

    long: Any = type("Long", (_ctypes._SimpleCData,), {"_type_": "l"})  # noqa: SLF001 - as `ctypes` does
    own: Any = _ctypes.dlopen  # without a name: what the interpreter itself is linked to
    kind = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    function: Any = type("Function", (_ctypes.CFuncPtr,), {"_flags_": kind, "_restype_": long})
    return function(_ctypes.dlsym(own(None, 0), "syscall")), _ctypes.get_errno


def _no_call(*_: object) -> int:
    return -1


_MISSING: Final[_Call] = (_no_call, lambda: errno.ENOSYS)

"""What a name leads to inside a box, seen from outside and without opening anything there.

A name is followed below the root of the box, as the kernel would for the program, and given back as
the box knows it: without links, and from its root on. What is not there keeps the name that it would
have. Names are bytes, and a stranger's.
"""

import ctypes
import errno
import os

from consentry.enforce.native import calls

_KIND, _FOLDER = 0o170000, 0o040000
_HERE = calls.AT_FDCWD & 0xFFFFFFFF


class NamesInside:
    """The root of one box, and how names are followed there."""

    def __init__(self, pid: int) -> None:
        self._root = os.open(b"/proc/%d/root" % pid, os.O_PATH | os.O_CLOEXEC)
        self._descriptors = os.open(b"/proc/self/fd", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        flags = os.O_PATH | os.O_CLOEXEC
        # Made once: what follows is done for every name that is asked for.
        self._through = (ctypes.c_uint64 * 3)(flags, 0, calls.RESOLVE_IN_ROOT)
        self._upto = (ctypes.c_uint64 * 3)(flags | os.O_NOFOLLOW, 0, calls.RESOLVE_IN_ROOT)
        self._how_through, self._how_upto = ctypes.byref(self._through), ctypes.byref(self._upto)

    def find(self, whole: bytes, *, keeps_link: bool) -> "tuple[bool, bytes, bool]":
        """Whether there is such a thing inside, its name there, and whether it is a folder."""
        how = self._how_upto if keeps_link else self._how_through
        opened = calls.openat2_quickly(self._root, whole, how)
        if opened < 0:
            return False, self._missing(whole, -opened), False
        try:
            place = os.readlink(b"%d" % opened, dir_fd=self._descriptors)
            return True, place, os.fstat(opened).st_mode & _KIND == _FOLDER
        finally:
            os.close(opened)

    def close(self) -> None:
        """Lets go of the box's root."""
        os.close(self._root)
        os.close(self._descriptors)

    def _missing(self, whole: bytes, number: int) -> bytes:
        """The name of what is not there: its folder as far as it is there, and the rest."""
        folder, _, name = whole.rstrip(b"/").rpartition(b"/")
        if number in (errno.ENOENT, errno.EACCES) and folder and name not in (b".", b".."):
            opened = calls.openat2_quickly(self._root, folder, self._how_through)
            if opened >= 0:
                try:
                    held = os.readlink(b"%d" % opened, dir_fd=self._descriptors)
                    return held.rstrip(b"/") + b"/" + name
                finally:
                    os.close(opened)
        return _tidied(whole)


def whole_name(pid: int, folder: int | None, asked: bytes) -> bytes:
    """A name from the root on, whatever it was relative to."""
    if asked.startswith(b"/"):
        return asked
    return os.readlink(folder_of(pid, folder)) + b"/" + asked  # noqa: PTH115 - bytes, and quick


def folder_of(pid: int, folder: int | None) -> bytes:
    """The link that leads to the folder which a call names by a number."""
    number = _HERE if folder is None else folder & 0xFFFFFFFF
    return b"/proc/%d/cwd" % pid if number == _HERE else b"/proc/%d/fd/%d" % (pid, number)


def as_seen_by(pid: int, whole: bytes) -> bytes:
    """The name with the process's own number in it, where it is the process that is meant."""
    if whole.startswith(b"/proc/self"):
        return b"/proc/%d%s" % (_inner_pid(pid), whole[10:])
    return whole


def _inner_pid(pid: int) -> int:
    """The process's number inside the box."""
    descriptor = os.open(b"/proc/%d/status" % pid, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = os.read(descriptor, 4096)
    finally:
        os.close(descriptor)
    line = status.partition(b"NStgid:")[2].partition(b"\n")[0]
    return int(line.split()[-1]) if line.split() else pid


def _tidied(path: bytes) -> bytes:
    """Without `.`, `..` and doubled slashes, by spelling alone."""
    parts: list[bytes] = []
    for part in path.split(b"/"):
        if part == b"..":
            parts = parts[:-1]
        elif part not in (b"", b"."):
            parts.append(part)
    return b"/" + b"/".join(parts)

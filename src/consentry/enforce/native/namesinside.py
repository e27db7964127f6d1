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
_USUAL_LINKS = (b"/lib", b"/bin/", b"/sbin/")
_MOST_TRIES = 100
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
        resolve = calls.RESOLVE_IN_ROOT | calls.RESOLVE_NO_SYMLINKS
        self._straight = (ctypes.c_uint64 * 3)(flags, 0, resolve)
        self._how_straight = ctypes.byref(self._straight)

    def find(self, whole: bytes, *, keeps_link: bool) -> "tuple[bool, bytes, bool]":
        """Whether there is such a thing inside, its name there, and whether it is a folder."""
        opened = -1
        is_straight = _is_plain(whole)
        if is_straight:
            opened = calls.openat2_quickly(self._root, whole, self._how_straight)
            is_straight = opened >= 0
        if opened < 0 and opened != -errno.ENOENT:
            how = self._how_upto if keeps_link else self._how_through
            opened = self._opened(whole, how)
        if opened < 0:
            return False, self._missing(whole, -opened), False
        try:
            # Where no link was met, the name is the one that the kernel would tell.
            place = whole if is_straight else self._told(opened)
            return True, place, os.fstat(opened).st_mode & _KIND == _FOLDER
        finally:
            os.close(opened)

    def _opened(self, name: bytes, how: object) -> int:
        """The kernel gives up on `..` while anybody renames or mounts anything, and asks for more."""
        opened = -errno.EAGAIN
        tries = 0
        while opened == -errno.EAGAIN and tries < _MOST_TRIES:
            opened = calls.openat2_quickly(self._root, name, how)
            tries += 1
        return opened

    def _told(self, opened: int) -> bytes:
        return os.readlink(b"%d" % opened, dir_fd=self._descriptors)

    def close(self) -> None:
        """Lets go of the box's root."""
        os.close(self._root)
        os.close(self._descriptors)

    def _missing(self, whole: bytes, number: int) -> bytes:
        """The name of what is not there: its folder as far as it is there, and the rest."""
        folder, _, name = whole.rstrip(b"/").rpartition(b"/")
        if number in (errno.ENOENT, errno.EACCES) and folder and name not in (b".", b".."):
            opened = self._opened(folder, self._how_through)
            if opened >= 0:
                try:
                    return self._told(opened).rstrip(b"/") + b"/" + name
                finally:
                    os.close(opened)
        return _tidied(whole)


def _is_plain(whole: bytes) -> bool:
    """Whether a name is spelled as the kernel would, and begins with no usual link."""
    return (
        b"/." not in whole
        and b"//" not in whole
        and not whole.endswith(b"/")
        and not whole.startswith(_USUAL_LINKS)
    )


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

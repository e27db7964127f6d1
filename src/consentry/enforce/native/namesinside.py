"""What a name leads to inside a box, seen from outside and without opening anything there.

A name is followed below the root of the box, as the kernel would for the program, and given back as
the box knows it: without links, and from its root on. What is not there keeps the name that it would
have. Names are bytes, and a stranger's.

Programs ask for many files of few folders, so the folders are followed once and kept open for a
moment: until somebody in the box renames or removes something, and never longer than `forget` is
called for.
"""

import ctypes
import errno
import os

from consentry.enforce.native import calls, oddnames

_KIND, _FOLDER, _LINK = 0o170000, 0o040000, 0o120000
_NO_NAMES = (b"", b".", b"..")
_MOST_TRIES = 100
_MOST_FOLDERS = 24
_MOST_ABSENT = 1000
# One launcher has many boxes; what is only remembered leaves the others their descriptors.
HIGHEST_REMEMBERED = 400
_HERE = calls.AT_FDCWD & 0xFFFFFFFF
_MOST_NAME = 4096
_OF_PROCESSES = (b"/proc/", b"/dev/fd/", b"/dev/std")


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
        straight = calls.RESOLVE_IN_ROOT | calls.RESOLVE_NO_SYMLINKS
        self._straight = (ctypes.c_uint64 * 3)(flags, 0, straight)
        self._how_straight = ctypes.byref(self._straight)
        self._folders: dict[bytes, tuple[int, bytes]] = {}
        self._absent: set[bytes] = set()
        self.has_met_link = False
        """Whether a name was a link itself, since this was set to false."""

    def find(self, pid: int, whole: bytes, *, keeps_link: bool) -> "tuple[bool, bytes, bool]":
        """Whether there is such a thing inside, its name there, and whether it is a folder.

        The name is one that this process, or thread, asks for.
        """
        if leads_through_a_process(whole):
            return self._followed(pid, whole, keeps_link=keeps_link)
        folder, _, name = whole.rpartition(b"/")
        known = self._folders.get(folder) or self._kept(folder)
        if known is None and folder in self._absent:
            return False, _tidied(whole), False
        if known is None or name in _NO_NAMES:
            return self._find_by_itself(pid, whole, keeps_link=keeps_link)
        descriptor, place = known
        try:
            kind = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode & _KIND
        except FileNotFoundError:
            return False, place + name, False
        except OSError:
            return self._find_by_itself(pid, whole, keeps_link=keeps_link)
        if kind == _LINK:
            self.has_met_link = True
            if not keeps_link:
                return self._behind(known, name) or self._find_by_itself(
                    pid, whole, keeps_link=False
                )
        return True, place + name, kind == _FOLDER

    def _behind(self, known: "tuple[int, bytes]", name: bytes) -> "tuple[bool, bytes, bool] | None":
        """Where a link leads to another name of its folder, as those of libraries do."""
        folder, place = known
        try:
            target = os.readlink(name, dir_fd=folder)
            if b"/" in target or target in _NO_NAMES:
                return None
            kind = os.stat(target, dir_fd=folder, follow_symlinks=False).st_mode & _KIND
        except OSError:
            return None
        return None if kind == _LINK else (True, place + target, kind == _FOLDER)

    def forget(self) -> None:
        """Follows every folder anew from here on."""
        for descriptor, _ in self._folders.values():
            os.close(descriptor)
        self._folders.clear()
        self._absent.clear()

    def forget_absent(self) -> None:
        """A name was made: what was not there may be."""
        self._absent.clear()

    def _kept(self, folder: bytes) -> "tuple[int, bytes] | None":
        """A folder that is there, kept open; not those of processes, which come and go."""
        if folder in self._absent:
            return None
        opened = self._opened(folder or b"/", self._how_through)
        if opened < 0:
            self._remember_absent(folder, opened)
            return None
        place = self._told(opened).rstrip(b"/") + b"/"
        if opened > HIGHEST_REMEMBERED or place.startswith(b"/proc/"):
            os.close(opened)
            return None
        if len(self._folders) >= _MOST_FOLDERS:
            self.forget()
        self._folders[folder] = opened, place
        return opened, place

    def _remember_absent(self, folder: bytes, problem: int) -> None:
        """One that is nowhere; behind a link it might be there for the program."""
        if problem == -errno.ENOENT and len(self._absent) < _MOST_ABSENT:
            opened = self._opened(folder, self._how_straight)
            if opened >= 0:
                os.close(opened)  # it has come to be
            elif opened == -errno.ENOENT:
                self._absent.add(folder)

    def _find_by_itself(
        self, pid: int, whole: bytes, *, keeps_link: bool
    ) -> "tuple[bool, bytes, bool]":
        opened = self._opened(whole, self._how_upto if keeps_link else self._how_through)
        if opened < 0:
            missing = self._missing(whole, -opened)
            if missing is not None:
                return False, missing, False
            return self._followed(pid, whole, keeps_link=keeps_link)
        try:
            kind = os.fstat(opened).st_mode & _KIND
            self.has_met_link = self.has_met_link or kind == _LINK
            return True, self._told(opened), kind == _FOLDER
        finally:
            os.close(opened)

    def _followed(self, pid: int, whole: bytes, *, keeps_link: bool) -> "tuple[bool, bytes, bool]":
        odd = oddnames.followed(self._root, self._how_upto, pid, whole, keeps_link=keeps_link)
        return (False, _tidied(whole), False) if odd is None else (True, *odd)

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
        self.forget()
        os.close(self._root)
        os.close(self._descriptors)

    def find_below(
        self, folder: bytes, asked: bytes, follows: int, *, keeps_link: bool
    ) -> "tuple[bool, bytes, bool]":
        """The same for a name whose root is a folder of the program's choice."""
        root = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        flags = os.O_PATH | (os.O_NOFOLLOW if keeps_link else 0)
        opened = -1
        try:
            opened = calls.openat2(root, asked, flags, follows)
            return True, self._told(opened), os.fstat(opened).st_mode & _KIND == _FOLDER
        except OSError:
            return False, _tidied(self._told(root) + b"/" + asked), False
        finally:
            os.close(root)
            if opened >= 0:
                os.close(opened)

    def _missing(self, whole: bytes, number: int) -> bytes | None:
        """The name of what is not there: its folder as far as it is there, and the rest.

        None if it may be there all the same, behind a link that leads through a process.
        """
        if number == errno.EXDEV:
            return None
        folder, _, name = whole.rstrip(b"/").rpartition(b"/")
        if number in (errno.ENOENT, errno.EACCES) and folder and name not in (b".", b".."):
            opened = self._opened(folder, self._how_through)
            if opened < 0:
                return None
            try:
                if number == errno.ENOENT and os.access(
                    name, os.F_OK, dir_fd=opened, follow_symlinks=False
                ):
                    return None
                return self._told(opened).rstrip(b"/") + b"/" + name
            finally:
                os.close(opened)
        return _tidied(whole)


def whole_name(pid: int, folder: int | None, asked: bytes) -> bytes:
    """A name from the root on, whatever it was relative to."""
    if asked.startswith(b"/"):
        return asked
    whole = os.readlink(folder_of(pid, folder)) + b"/" + asked  # noqa: PTH115 - bytes, and quick
    if len(whole) >= _MOST_NAME > len(asked):
        # The program may well be able to use it, and we are not.
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    return whole


def leads_through_a_process(whole: bytes) -> bool:
    """Whether a name says so itself; others may lead there by a link."""
    return whole.startswith(_OF_PROCESSES)


def folder_of(pid: int, folder: int | None) -> bytes:
    """The link that leads to the folder which a call names by a number."""
    number = _HERE if folder is None else folder & 0xFFFFFFFF
    return b"/proc/%d/cwd" % pid if number == _HERE else b"/proc/%d/fd/%d" % (pid, number)


def _tidied(path: bytes) -> bytes:
    """Without `.`, `..` and doubled slashes, by spelling alone."""
    parts: list[bytes] = []
    for part in path.split(b"/"):
        if part == b"..":
            parts = parts[:-1]
        elif part not in (b"", b"."):
            parts.append(part)
    return b"/" + b"/".join(parts)


def umask_of(pid: int) -> int:
    """What a process inside takes away from the mode of what it makes."""
    descriptor = os.open(b"/proc/%d/status" % pid, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = os.read(descriptor, 4096)
    finally:
        os.close(descriptor)
    return int(status.partition(b"Umask:")[2].partition(b"\n")[0], 8)

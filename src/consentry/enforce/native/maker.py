"""Makes new names for a program that writes folders of the host at once, and looks at each first.

The program itself has no right to make names there; the kernel refuses its own calls. A process of
the launcher stands in the box's mounts, as the program's user, with no capability and with rights
below those folders only. It gets a name once, follows it to a folder that it holds, asks the table
of names that other programs obey, and does what was asked: there is nothing between the look and the
act that another thread could change. It carries out one order after the other, and whoever waits for
it is a program of the same run: the launcher goes on with the others.
"""

import _socket
import errno
import marshal
import os

from consentry.enforce.native import calls, restraint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from consentry.enforce.newnames import NewNames

GO_ON, DONE, FAILED, REFUSED = range(4)
_MOST_ORDER = 1 << 15
_SIGKILL = 9
_KIND, _FOLDER, _LINK = 0o170000, 0o040000, 0o120000
_NO_REPLACE = 1
_MOST_MOVED = 10_000
_KEPT_FLAGS = (
    os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_NONBLOCK | os.O_SYNC | os.O_DSYNC | os.O_DIRECT
)


class Maker:
    """The launcher's side: sends orders, and receives what became of them."""

    def __init__(self, program: int, wish: "Mapping[str, Any]") -> None:
        self._socket, its = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        # The program that waits now may close itself to others when it goes on.
        spaces = restraint.spaces_of(program, wish)
        self._pid = calls.clone(0)
        if self._pid == 0:
            _live(spaces, wish, its.detach())
        its.close()
        restraint.let_go(spaces)

    def fileno(self) -> int:
        """What becomes readable when an order was carried out."""
        return self._socket.fileno()

    def ask(self, number: int, order: "tuple[Any, ...]") -> bool:
        """Sends an order under a number; false when it cannot be sent now."""
        try:
            self._socket.send(marshal.dumps((number, order)), _socket.MSG_DONTWAIT)
        except OSError:
            return False
        return True

    def answer(self) -> "tuple[int, int, int, bytes, int | None] | None":
        """The number of an order and what became of it; None when the maker is gone.

        That is a word of the above, an error's number, a name or rule, and what was opened.
        """
        try:
            said, ancillary, _, _ = self._socket.recvmsg(
                _MOST_ORDER, _socket.CMSG_SPACE(4), _socket.MSG_CMSG_CLOEXEC
            )
        except OSError:
            return None
        if not said:
            return None
        opened = [int.from_bytes(data[:4], "little") for _, _, data in ancillary]
        number, what, error, text = marshal.loads(said)  # noqa: S302 - from our own process
        return number, what, error, text, opened[0] if opened else None

    def close(self) -> None:
        """Ends it."""
        self._socket.close()
        os.kill(self._pid, _SIGKILL)
        os.waitpid(self._pid, 0)


class _Stopped(Exception):
    """An order that ends with something else than being done."""

    def __init__(self, what: int, number: int = 0, text: bytes = b"") -> None:
        super().__init__(what, number)
        self.answer = (what, number, text)


class _Spot:
    """A name in a folder that is held."""

    def __init__(self, folder: int, path: bytes, name: bytes, root: bytes) -> None:
        self.folder = folder
        self.path = path
        self.name = name
        self.root = root

    def look(self) -> os.stat_result | None:
        """What is there now."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def beside(self) -> "list[bytes]":
        """The names in its folder."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        opened = os.open(b".", flags, dir_fd=self.folder)
        try:
            return [os.fsencode(name) for name in os.listdir(opened)]  # noqa: PTH208 - by folder
        finally:
            os.close(opened)


def _live(spaces: "list[tuple[int, int]]", wish: "Mapping[str, Any]", requests: int) -> None:
    try:
        calls.prctl(calls.PR_SET_PDEATHSIG, _SIGKILL)
        # While the host's files are there; inside the box they may not be.
        from consentry.enforce import newnames  # noqa: PLC0415 - no other run needs the table
        from consentry.enforce.layer import FileType  # noqa: PLC0415 - as above

        names = newnames.NewNames()
        flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
        descriptors = os.open("/proc/self/fd", flags)
        restraint.stand_in_box(spaces, wish, (requests, descriptors))
        socket = _socket.socket(fileno=requests)
        bench = _Bench(wish, names, FileType.of, newnames, descriptors)
        while order := socket.recv(_MOST_ORDER):
            bench.serve(socket, *marshal.loads(order))  # noqa: S302 - from our own launcher
    finally:
        os._exit(0)


class _Bench:
    """Carries out orders."""

    def __init__(
        self,
        wish: "Mapping[str, Any]",
        names: "NewNames",
        type_of: "Any",
        newnames: "Any",
        descriptors: int,
    ) -> None:
        self._roots: tuple[bytes, ...] = tuple(wish["roots"])
        self._covered: tuple[bytes, ...] = tuple(wish["covered"])
        self._names = names
        self._type_of = type_of
        self._newnames = newnames
        self._descriptors = descriptors
        self._held: list[int] = []

    def serve(self, socket: _socket.socket, number: int, order: "tuple[Any, ...]") -> None:
        opened = -1
        try:
            opened = getattr(self, f"_{order[0]}")(*order[1:])
            answer = DONE, 0, b""
        except _Stopped as stopped:
            answer = stopped.answer
        except OSError as problem:
            answer = FAILED, problem.errno or errno.EACCES, b""
        except RecursionError:
            # So many folders lie in each other that they cannot be looked through; as above.
            answer = FAILED, errno.EXDEV, b""
        ancillary = []
        if opened >= 0:
            ancillary = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, opened.to_bytes(4, "little"))]
            self._held.append(opened)
        socket.sendmsg([marshal.dumps((number, *answer))], ancillary)
        while self._held:
            os.close(self._held.pop())

    def _open(self, path: bytes, flags: int, mode: int, umask: int) -> int:
        if path.endswith(b"/") or flags & os.O_DIRECTORY:
            raise _Stopped(GO_ON)
        spot = self._spot(path)
        if spot.look() is not None:
            raise _Stopped(FAILED, errno.EEXIST) if flags & os.O_EXCL else _Stopped(GO_ON)
        self._require_name(spot, 0o100000)
        os.umask(umask)
        made = flags & _KEPT_FLAGS | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(spot.name, made, mode & 0o1777, dir_fd=spot.folder)

    def _mkdir(self, path: bytes, mode: int, umask: int) -> int:
        spot = self._spot(path)
        if spot.look() is not None:
            raise _Stopped(FAILED, errno.EEXIST)
        self._require_name(spot, _FOLDER)
        os.umask(umask)
        os.mkdir(spot.name, mode & 0o1777, dir_fd=spot.folder)
        return -1

    def _symlink(self, target: bytes, path: bytes) -> int:
        spot = self._spot(path)
        if spot.look() is not None:
            raise _Stopped(FAILED, errno.EEXIST)
        self._require_target(target, spot.path, spot.root)
        self._require_name(spot, _LINK)
        os.symlink(target, spot.name, dir_fd=spot.folder)
        return -1

    def _link(self, old: bytes, new: bytes) -> int:
        source, spot = self._spot(old), self._spot(new)
        found = source.look()
        if found is None:
            raise _Stopped(FAILED, errno.ENOENT)
        if spot.look() is not None:
            raise _Stopped(FAILED, errno.EEXIST)
        self._require_name(spot, found.st_mode)
        self._require_moved(source.name, source.folder, found.st_mode, spot.path, spot.root)
        os.link(
            source.name,
            spot.name,
            src_dir_fd=source.folder,
            dst_dir_fd=spot.folder,
            follow_symlinks=False,
        )
        return -1

    def _rename(self, old: bytes, new: bytes, flags: int) -> int:
        if flags & ~_NO_REPLACE:
            raise _Stopped(FAILED, errno.EINVAL)
        source, spot = self._spot(old), self._spot(new)
        found = source.look()
        if found is None:
            raise _Stopped(FAILED, errno.ENOENT)
        if flags & _NO_REPLACE and spot.look() is not None:
            raise _Stopped(FAILED, errno.EEXIST)
        # What is covered stays where it is: its name is what it is covered for.
        if any(source.path in (each, *_above(each)) for each in self._covered):
            raise _Stopped(FAILED, errno.EBUSY)
        self._require_name(spot, found.st_mode)
        self._require_moved(source.name, source.folder, found.st_mode, spot.path, spot.root)
        if found.st_mode & _KIND == _FOLDER:
            self._require_tree(source, spot)
        os.rename(source.name, spot.name, src_dir_fd=source.folder, dst_dir_fd=spot.folder)
        return -1

    def _spot(self, path: bytes) -> _Spot:
        """Where a name leads; what lies in none of the folders is left to the kernel."""
        folder, _, name = path.rstrip(b"/").rpartition(b"/")
        if name in (b"", b".", b".."):
            raise _Stopped(GO_ON)
        try:
            held = calls.openat2(
                calls.AT_FDCWD,
                folder or b"/",
                os.O_PATH | os.O_DIRECTORY,
                calls.RESOLVE_NO_MAGICLINKS,
            )
        except OSError:
            raise _Stopped(GO_ON) from None
        self._held.append(held)
        place = os.readlink(b"%d" % held, dir_fd=self._descriptors)
        roots = [*self._newnames.below(place, self._roots)]
        if not roots:
            raise _Stopped(GO_ON)
        return _Spot(held, place.rstrip(b"/") + b"/" + name, name, max(roots, key=len))

    def _require_name(self, spot: _Spot, mode: int) -> None:
        kind = self._type_of(mode)
        rule = self._names.rule_against(spot.path, spot.root, kind, spot.beside)
        if rule is not None:
            raise _Stopped(REFUSED, errno.EACCES, _told(spot.path, rule))

    def _require_target(self, target: bytes, path: bytes, root: bytes) -> None:
        depth = path[len(root.rstrip(b"/")) + 1 :].count(b"/")
        rule = self._newnames.rule_against_link(target, depth)
        if rule is not None:
            raise _Stopped(REFUSED, errno.EACCES, _told(path, rule))

    def _require_moved(self, name: bytes, folder: int, mode: int, path: bytes, root: bytes) -> None:
        """A link climbs from where it lies; one with a whole path leads where it always led."""
        if mode & _KIND == _LINK:
            target = os.readlink(name, dir_fd=folder)
            if not target.startswith(b"/"):
                self._require_target(target, path, root)

    def _require_tree(self, source: _Spot, spot: _Spot) -> None:
        """Nothing in a folder that moves comes to a name that is refused."""
        left = _MOST_MOVED
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        top = os.open(source.name, flags, dir_fd=source.folder)
        self._held.append(top)
        for where, folders, files, folder in os.fwalk(".", dir_fd=top, onerror=_raise):
            there = [os.fsencode(name) for name in (*folders, *files)]
            left -= len(there)
            if left < 0:
                # As between two file systems: who moves it copies it then, name by name.
                raise _Stopped(FAILED, errno.EXDEV)
            inside = spot.path + os.fsencode(where).removeprefix(b".")
            for name in there:
                mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
                path, kind = inside + b"/" + name, self._type_of(mode)
                rule = self._names.rule_against(path, spot.root, kind, there.copy)
                if rule is not None:
                    raise _Stopped(REFUSED, errno.EACCES, _told(path, rule))
                self._require_moved(name, folder, mode, path, spot.root)


def _raise(problem: OSError) -> None:
    """A folder that cannot be looked through is not moved: it could be opened again elsewhere."""
    raise problem


def _told(path: bytes, rule: str) -> bytes:
    return path + b"\0" + rule.encode()


def _above(path: bytes) -> "list[bytes]":
    parts = path.split(b"/")
    return [b"/".join(parts[:end]) for end in range(2, len(parts))]

"""Opens files for a program whose own opens the kernel refuses: so every file it reads passed here.

A process of the launcher that stands in the box's mounts, with the program's user and the rights that
the program was granted, and outside of the namespace in which the program could see or signal it. The
program itself has the same rights without the one to read files. The name is copied once, this
process opens it, and what it opened is handed in: there is nothing between the look and the act that
another thread could change. What the grants refuse, the kernel refuses to this process, too.
"""

import _socket
import ctypes
import os
from _struct import Struct

from consentry.enforce.native import calls, restraint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# An id, flags, mode, how names are to be followed, the umask; then the name.
_REQUEST = Struct("<QQQQI")
_ANSWER = Struct("<QI")
_MOST_REQUEST = _REQUEST.size + 8192
_SIGKILL = 9
_KIND, _PLAIN = 0o170000, 0o100000
_NOT_PLAIN = 0xFFFFFFFF


class Opener:
    """The launcher's side: sends names, and receives what they led to."""

    def __init__(self, program: int, rights: "Mapping[str, Any]") -> None:
        self._socket, its = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        # The program that waits now may close itself to others when it goes on.
        spaces = restraint.spaces_of(program, rights)
        self._pid = calls.clone(0)
        if self._pid == 0:
            _live(spaces, rights, its.detach())
        its.close()
        restraint.let_go(spaces)

    def fileno(self) -> int:
        """What becomes readable when something was opened."""
        return self._socket.fileno()

    def ask(
        self, number: int, wish: "tuple[int, int, int, int]", name: bytes, folder: int | None
    ) -> bool:
        """Has a name opened, relative to a folder; false when it cannot be asked now.

        The wish is flags, mode, how names are followed, and the umask.
        """
        body = _REQUEST.pack(number, *wish) + name
        rights = [] if folder is None else [folder.to_bytes(4, "little")]
        ancillary = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, each) for each in rights]
        try:
            self._socket.sendmsg([body], ancillary, _socket.MSG_DONTWAIT)
        except OSError:
            return False
        return True

    def answer(self) -> "tuple[int, int, int | None] | None":
        """An id, the number of an error or 0, and what was opened; None when it is gone."""
        try:
            said, ancillary, _, _ = self._socket.recvmsg(
                _ANSWER.size, _socket.CMSG_SPACE(4), _socket.MSG_CMSG_CLOEXEC
            )
        except OSError:
            return None
        if not said:
            return None
        number, problem = _ANSWER.unpack(said)
        opened = [int.from_bytes(data[:4], "little") for _, _, data in ancillary]
        return number, problem, opened[0] if opened else None

    def close(self) -> None:
        """Ends it."""
        self._socket.close()
        os.kill(self._pid, _SIGKILL)
        os.waitpid(self._pid, 0)


def is_left_to_the_kernel(problem: int) -> bool:
    """Whether it is no file: the program's own call decides, and may read no file either."""
    return problem == _NOT_PLAIN


def _live(spaces: "list[tuple[int, int]]", rights: "Mapping[str, Any]", requests: int) -> None:
    try:
        calls.prctl(calls.PR_SET_PDEATHSIG, _SIGKILL)
        restraint.stand_in_box(spaces, rights, (requests,))
        socket = _socket.socket(fileno=requests)
        while _serve(socket):
            pass
    finally:
        os._exit(0)


def _serve(socket: _socket.socket) -> bool:
    body, ancillary, _, _ = socket.recvmsg(
        _MOST_REQUEST, _socket.CMSG_SPACE(4), _socket.MSG_CMSG_CLOEXEC
    )
    if not body:
        return False
    folders = [int.from_bytes(data[:4], "little") for _, _, data in ancillary]
    number, *wish = _REQUEST.unpack_from(body)
    opened = _opened(wish, body[_REQUEST.size :], folders[0] if folders else calls.AT_FDCWD)
    ancillary = []
    if opened >= 0:
        ancillary = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, opened.to_bytes(4, "little"))]
    socket.sendmsg([_ANSWER.pack(number, max(0, -opened))], ancillary)
    for descriptor in (*folders, opened):
        if descriptor >= 0:
            os.close(descriptor)
    return True


def _opened(wish: "list[int]", name: bytes, folder: int) -> int:
    """A plain file, or an error below zero; without waiting for whoever is at the other end."""
    flags, mode, follows, umask = wish
    os.umask(umask)
    # The program's own links into /proc mean nothing here, and ours are none of its business.
    how = (ctypes.c_uint64 * 3)(
        flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY,
        mode,
        follows | calls.RESOLVE_NO_MAGICLINKS,
    )
    opened = calls.openat2_quickly(folder, name, ctypes.byref(how))
    if opened < 0:
        return opened
    if os.fstat(opened).st_mode & _KIND != _PLAIN:
        os.close(opened)
        return -_NOT_PLAIN
    if not flags & os.O_NONBLOCK:
        os.set_blocking(opened, True)
    return opened

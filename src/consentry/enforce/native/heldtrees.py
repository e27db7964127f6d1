"""Trees through which held calls are answered: the host's, that nobody can write, and a run's layers.

A descriptor that was opened for reading still changes the mode, the times and the marks of its file,
and leads to it by `/proc` for whoever may write it: unless it was opened through a mount that is
read-only. `read_only_tree` is such a mount, of everything that is mounted at the moment. A layer that is
writable in a part of it only is mounted read-only around that part; `writable_layers` are mounts of the
same layers that are not, so that what is written by them stays in the layer all the same.

All of them are attached nowhere, and no mount that is made later comes in. Nobody needs to be root for
it: a process that lives for a moment makes them in namespaces where it may, and passes them out.
"""

import _socket
import errno
import os

from consentry.enforce.native import calls, restraint, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

_CLONE = calls.OPEN_TREE_CLONE | calls.OPEN_TREE_CLOEXEC | calls.AT_RECURSIVE
_BITS = (
    calls.MOUNT_ATTR_RDONLY
    | calls.MOUNT_ATTR_NOSUID
    | calls.MOUNT_ATTR_NODEV
    | calls.MOUNT_ATTR_NOEXEC
)
_ERROR_BYTES = 4


def read_only_tree() -> int:
    """The top of it, as a descriptor that keeps all of it; raises `OSError` where it cannot be made."""
    if os.getuid() == 0:
        return _read_only()
    uid, gid = os.getuid(), os.getgid()

    def make() -> "list[int]":
        restraint.enter_user_namespace(uid, gid)
        return [_read_only()]

    [tree] = _made_elsewhere(calls.CLONE_NEWUSER | calls.CLONE_NEWNS, make, 1)
    return tree


def writable_layers(pid: int, wish: "Mapping[str, Any]", roots: "Sequence[bytes]") -> "list[int]":
    """The tops of the layers at these places in the box of a process; raises `OSError`."""
    spaces = restraint.spaces_of(pid, wish)

    def make() -> "list[int]":
        for space, kind in spaces:
            calls.setns(space, kind)
        return [_writable(root) for root in roots]

    try:
        return _made_elsewhere(0, make, len(roots))
    finally:
        restraint.let_go(spaces)


def _read_only() -> int:
    tree = calls.open_tree(calls.AT_FDCWD, "/", _CLONE)
    how = calls.AT_EMPTY_PATH | calls.AT_RECURSIVE
    calls.mount_setattr(tree, "", _BITS, how, spreads=calls.MS_PRIVATE)
    return tree


def _writable(root: bytes) -> int:
    tree = calls.open_tree(calls.AT_FDCWD, os.fsdecode(root), _CLONE)
    writable = calls.MOUNT_ATTR_RDONLY
    calls.mount_setattr(tree, "", 0, calls.AT_EMPTY_PATH, clear_bits=writable)
    return tree


def _made_elsewhere(kinds: int, make: "Callable[[], list[int]]", count: int) -> "list[int]":
    mine, its = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    pid = calls.clone(kinds)
    if pid == 0:
        _pass_out(its, make)
    its.close()
    try:
        said, ancillary = wire.heard(mine, _ERROR_BYTES, _socket.CMSG_SPACE(4 * count))
    finally:
        mine.close()
        os.waitpid(pid, 0)
    trees = wire.passed(ancillary)
    if len(trees) != count:
        for tree in trees:
            os.close(tree)
        number = int.from_bytes(said, "little") or errno.ECHILD
        raise OSError(number, os.strerror(number), "a tree of mounts")
    return trees


def _pass_out(its: _socket.socket, make: "Callable[[], list[int]]") -> None:
    try:
        its.sendmsg([bytes(_ERROR_BYTES)], wire.rights(make()))
    except OSError as problem:
        its.send((problem.errno or 0).to_bytes(_ERROR_BYTES, "little"))
    finally:
        os._exit(0)

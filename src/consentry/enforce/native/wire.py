"""What travels between the owner, the launcher and what waits there: plans, news, and descriptors.

One form for all plans: eight bytes with the length, to which the descriptors are attached, and the
plan. News are one small value each.
"""

import _socket
import errno
import marshal
import os

from consentry.enforce.native import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

MOST_FILES = 250
_HEADER = 8
_INT = 4


def send_order(control: _socket.socket, plan: "Mapping[str, Any]", files: "Sequence[int]") -> None:
    """Sends all of it; whoever receives has copies of the descriptors."""
    body = marshal.dumps(plan)  # type: ignore[arg-type]
    control.sendmsg([len(body).to_bytes(_HEADER, "little")], rights(files))
    control.sendall(body)


def receive_order(control: _socket.socket) -> "tuple[dict[str, Any], list[int]] | None":
    """A plan and all of its descriptors, or none of them; None when the other end is gone."""
    space = _socket.CMSG_SPACE(4 * MOST_FILES)
    header, ancillary, flags, _ = control.recvmsg(_HEADER, space, _socket.MSG_CMSG_CLOEXEC)
    files = passed(ancillary)
    if flags & _socket.MSG_CTRUNC:
        while files:
            os.close(files.pop())
    wanted = int.from_bytes(header, "little")
    body = b""
    while len(body) < wanted:
        part = control.recv(wanted - len(body))
        if not part:
            return None
        body += part
    return (marshal.loads(body), files) if header else None  # noqa: S302 - from our own side


def heard(
    speaker: _socket.socket, size: int, space: int = 0
) -> "tuple[bytes, list[tuple[int, int, bytes]]]":
    """What was said and what came with it; nothing, when whoever spoke is gone."""
    try:
        said, ancillary, _, _ = speaker.recvmsg(size, space, _socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        return b"", []  # it did not live to read all that it was told
    return said, ancillary


def rights(descriptors: "Sequence[int]") -> "list[tuple[int, int, bytes]]":
    """The part of a message that passes these descriptors."""
    packed = b"".join(each.to_bytes(_INT, "little") for each in descriptors)
    return [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)] if packed else []


def passed(ancillary: "Sequence[tuple[int, int, bytes]]") -> "list[int]":
    """The descriptors that came with a message."""
    return [
        int.from_bytes(data[at : at + _INT], "little")
        for _, kind, data in ancillary
        if kind == _socket.SCM_RIGHTS
        for at in range(0, len(data) - len(data) % _INT, _INT)
    ]


def numbers(descriptors: "Sequence[int]") -> bytes:
    """Tells of the speaker's own descriptors, for the other side to fetch.

    Passing them is among the calls that are trapped in a box, and nobody answers yet.
    """
    return b"".join(each.to_bytes(_INT, "little") for each in descriptors)


def fetched(pidfd: int, told: bytes) -> "list[int]":
    """Copies of the descriptors that a process told of, while it waits."""
    return [
        calls.pidfd_getfd(pidfd, int.from_bytes(told[at : at + _INT], "little"))
        for at in range(0, len(told), _INT)
    ]


def speaker(ancillary: "Sequence[tuple[int, int, bytes]]") -> int:
    """The kernel's word for who is speaking, in the numbers of our own namespace."""
    for _, kind, data in ancillary:
        if kind == _socket.SCM_CREDENTIALS:
            return int.from_bytes(data[:_INT], "little")
    return 0


def send(news: _socket.socket, message: object, *descriptors: int) -> None:
    """Tells the owner of a run; one that is gone needs no news."""
    body = marshal.dumps(message)  # type: ignore[arg-type]
    try:
        news.sendmsg([body], rights(descriptors))
    except OSError as problem:
        if problem.errno not in (errno.EPIPE, errno.ECONNRESET):
            raise

"""What travels between the owner, the launcher and a waiting box: a plan, and descriptors with it.

One form for all: eight bytes with the length, to which the descriptors are attached, and the plan.
"""

import _socket
import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

MOST_FILES = 250
_HEADER = 8


def send_order(control: _socket.socket, plan: "Mapping[str, Any]", files: "Sequence[int]") -> None:
    """Sends all of it; whoever receives has copies of the descriptors."""
    body = marshal.dumps(plan)  # type: ignore[arg-type]
    rights = b"".join(each.to_bytes(4, "little") for each in files)
    ancillary = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)] if rights else []
    control.sendmsg([len(body).to_bytes(_HEADER, "little")], ancillary)
    control.sendall(body)


def receive_order(control: _socket.socket) -> "tuple[dict[str, Any], list[int]] | None":
    """A plan and its descriptors; None when the other end is gone."""
    space = _socket.CMSG_SPACE(4 * MOST_FILES)
    header, ancillary, _, _ = control.recvmsg(_HEADER, space, _socket.MSG_CMSG_CLOEXEC)
    files = [
        int.from_bytes(data[at : at + 4], "little")
        for _, _, data in ancillary
        for at in range(0, len(data) - len(data) % 4, 4)
    ]
    wanted = int.from_bytes(header, "little")
    body = b""
    while len(body) < wanted:
        part = control.recv(wanted - len(body))
        if not part:
            return None
        body += part
    return (marshal.loads(body), files) if header else None  # noqa: S302 - from our own side

"""The sockets by which programs of a box reach the proxy, made inside and served outside.

A box has a network of its own with nothing in it. Here every address of it is made our own, so that
whatever a program connects to ends at one of these sockets; they are passed out, and nothing of ours
runs inside. The box can make no others: it has no right to, and nobody listens on its other ports.
"""

import _socket
import errno
import fcntl
import os
from _struct import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SET_FLAGS = 0x8914
_UP_AND_RUNNING = 0x1 | 0x40
_INTERFACE = Struct("=16sh22x")

_NETLINK, _ROUTES = 16, 0
# A message: its length, what it is, how it is meant, its number, and who says it.
_MESSAGE = Struct("=IHHII")
# A route: family, lengths, service, table, origin, scope, kind, flags.
_ROUTE = Struct("=BBBBBBBBI")
_ATTRIBUTE = Struct("=HHI")
_NEW_ROUTE, _ASKED_ACKNOWLEDGED_NEW = 24, 0x1 | 0x4 | 0x400
_LOCAL_TABLE, _STATIC, _LOCAL = 255, 4, 2
_SCOPE_HOST, _SCOPE_ALL = 254, 0
_LEADS_TO = 4
_ERROR = 2
_NAMES = 53
_WAITING = 128
_NO_SUCH_FAMILY = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EOPNOTSUPP, errno.EACCES)


def bring_up_loopback() -> None:
    """Programs of one box may talk to each other, as on every machine."""
    asked = _INTERFACE.pack(b"lo", _UP_AND_RUNNING)
    control = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    try:
        fcntl.ioctl(control.fileno(), _SET_FLAGS, asked)
    finally:
        control.close()


def opened(ports: "Sequence[int]") -> "list[int]":
    """Sockets for connections to these ports and for questions about names, at every address."""
    _own_everything(_socket.AF_INET, _SCOPE_HOST)
    found = [*_sockets(_socket.AF_INET, "0.0.0.0", ports)]  # noqa: S104 - of the box's own network
    try:
        _own_everything(_socket.AF_INET6, _SCOPE_ALL)
        found += _sockets(_socket.AF_INET6, "::", ports)
    except OSError as problem:
        # A host without it has nobody to be reached there either.
        if problem.errno not in _NO_SUCH_FAMILY:
            raise
    return found


def for_questions() -> "list[int]":
    """Where programs of a box without network ask for names, which they are refused."""
    found = [_names(_socket.AF_INET, "127.0.0.1")]
    try:
        found.append(_names(_socket.AF_INET6, "::1"))
    except OSError as problem:
        if problem.errno not in _NO_SUCH_FAMILY:
            raise
    return found


def _own_everything(family: int, scope: int) -> None:
    """A route by which every address is one of this network's own."""
    route = _ROUTE.pack(family, 0, 0, 0, _LOCAL_TABLE, _STATIC, scope, _LOCAL, 0)
    route += _ATTRIBUTE.pack(_ATTRIBUTE.size, _LEADS_TO, _socket.if_nametoindex("lo"))
    size = _MESSAGE.size + len(route)
    message = _MESSAGE.pack(size, _NEW_ROUTE, _ASKED_ACKNOWLEDGED_NEW, 1, 0) + route
    control = _socket.socket(_NETLINK, _socket.SOCK_RAW, _ROUTES)
    try:
        control.send(message)
        answer = control.recv(4096)
    finally:
        control.close()
    _, kind, _, _, _ = _MESSAGE.unpack_from(answer)
    number = int.from_bytes(answer[_MESSAGE.size : _MESSAGE.size + 4], "little", signed=True)
    if kind != _ERROR or number != 0:
        raise OSError(-number, os.strerror(-number), "a route to the proxy")


def _sockets(family: int, address: str, ports: "Sequence[int]") -> "list[int]":
    made = []
    for port in ports:
        listens = _socket.socket(family, _socket.SOCK_STREAM)
        if family == _socket.AF_INET6:
            listens.setsockopt(_socket.IPPROTO_IPV6, _socket.IPV6_V6ONLY, 1)
        listens.bind((address, port))
        listens.listen(_WAITING)
        made.append(listens.detach())
    made.append(_names(family, address))
    return made


def _names(family: int, address: str) -> int:
    asked_at = _socket.socket(family, _socket.SOCK_DGRAM)
    if family == _socket.AF_INET6:
        asked_at.setsockopt(_socket.IPPROTO_IPV6, _socket.IPV6_V6ONLY, 1)
    asked_at.bind((address, _NAMES))
    return asked_at.detach()

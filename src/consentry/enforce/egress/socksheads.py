"""The two messages with which a program asks a SOCKS5 proxy for a connection, and the answers."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import Final, TypeAlias

from consentry.enforce.egress.heads import BadHead

VERSION: Final = 5
DONE, NOT_ALLOWED, UNREACHABLE, NOT_DONE, BAD_ADDRESS = 0, 2, 4, 7, 8

Read: TypeAlias = Callable[[int], bytes]
"""Reads exactly so many bytes, or raises `BadHead`."""

_NO_PASSWORD, _NONE_OF_THEM = 0, 0xFF
_CONNECT: Final = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4


def greet(read: Read, send: Callable[[bytes], None]) -> None:
    """Agrees on no password; raises where the program wants another way. The version was read."""
    ways = read(read(1)[0])
    if _NO_PASSWORD not in ways:
        send(bytes((VERSION, _NONE_OF_THEM)))
        raise BadHead("it wants to log in, and there is nothing to log in to")
    send(bytes((VERSION, _NO_PASSWORD)))


def read_wish(read: Read) -> "tuple[int, str, int]":
    """What it wants to do, and the host and the port; raises for what cannot be read."""
    version, command, _, kind = read(4)
    if version != VERSION:
        raise BadHead("it changed its version")
    if kind == _IPV4:
        host = str(IPv4Address(read(4)))
    elif kind == _IPV6:
        host = str(IPv6Address(read(16)))
    elif kind == _NAME:
        raw = read(read(1)[0])
        if not raw.isascii() or b"\0" in raw:
            raise BadHead("the name is not ASCII")
        host = raw.decode("ascii")
    else:
        raise BadHead("an address of an unknown kind")
    return command, host, int.from_bytes(read(2), "big")


def is_connect(command: int) -> bool:
    """Whether it wants a connection, and not to listen or to send datagrams."""
    return command == _CONNECT


def reply(code: int) -> bytes:
    """The answer, without an address: nobody needs to know ours."""
    return bytes((VERSION, code, 0, _IPV4, 0, 0, 0, 0, 0, 0))

"""What a program says to the proxy first: a request of HTTP, or of SOCKS, read strictly.

Two readers of one message must never disagree about whom it is for and where it ends, so whatever
could be read in two ways is refused: odd spaces, folded lines, two lengths, a length beside chunks, a
host that differs from the address line. What is sent on is written anew from what was read.
"""

import re
from typing import Final

from consentry.base.values import dataclass

MOST_HEAD: Final = 64 << 10
CONNECT: Final = "CONNECT"
HTTP_PORT: Final = 80

_METHOD: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}")
_AUTHORITY: Final = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
_ABSOLUTE: Final = re.compile(
    rb"[Hh][Tt][Tt][Pp]://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?(/[\x21-\x7e]*)?(\?[\x21-\x7e]*)?"
)
_FIELD: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\x80-\xff\t]*?)[ \t]*")
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")
# Fields between a program and its proxy; a server has no business with them.
_OURS: Final = frozenset(
    (b"connection", b"proxy-connection", b"keep-alive", b"proxy-authorization", b"te", b"trailer",
     b"upgrade", b"host", b"expect")
)  # fmt: skip
_MOST_PORT: Final = 65_535
_TLS_PORT: Final = 443


class BadHead(Exception):
    """A message that is not read; the text says why, and quotes nothing of it."""


class CutShort(BadHead):
    """A message that is not there, or not whole: whoever began it hung up."""


@dataclass(frozen=True, slots=True)
class Request:
    """Whom it is for, and what is sent on; nothing is where a tunnel was asked for."""

    method: str
    host: str
    port: int
    head: bytes = b""
    body_bytes: int = 0
    is_chunked: bool = False
    waits: bool = False
    """Whether the program wants to be told to go on before it sends the body."""

    @property
    def is_tunnel(self) -> bool:
        """Whether the bytes that follow are nobody's but the two ends'."""
        return self.method == CONNECT


def read_request(head: bytes, extra: tuple[tuple[str, str], ...] = ()) -> Request:
    """A request of HTTP/1, up to and with its empty line; raises `BadHead`.

    `extra` are fields that are added, in the place of any of the same name; such a request goes on over
    TLS, where the usual port is another and is not named.
    """
    if not head.endswith(b"\r\n\r\n"):
        raise BadHead("the request does not end")
    line, *fields = head[:-4].split(b"\r\n")
    words = line.split(b" ")
    if len(words) != 3 or words[2] not in (b"HTTP/1.1", b"HTTP/1.0"):  # noqa: PLR2004 - as it says
        raise BadHead("the first line is no request of HTTP/1")
    method, address, _ = words
    if _METHOD.fullmatch(method) is None:
        raise BadHead("the method is no word")
    read = [_field(field) for field in fields]
    if method == CONNECT.encode():
        return _tunnel(address, read)
    return _forwarded(method.decode(), address, read, extra)


def _field(line: bytes) -> tuple[bytes, bytes]:
    found = _FIELD.fullmatch(line)
    if found is None:
        raise BadHead("a field is not written as fields are")
    return found[1].lower(), found[2]


def _tunnel(address: bytes, fields: "list[tuple[bytes, bytes]]") -> Request:
    found = _AUTHORITY.fullmatch(address)
    if found is None:
        raise BadHead("CONNECT needs a host and a port")
    if any(name in (b"content-length", b"transfer-encoding") for name, _ in fields):
        raise BadHead("CONNECT has no body")
    return Request(CONNECT, found[1].decode(), _port(found[2]))


def _forwarded(
    method: str,
    address: bytes,
    fields: "list[tuple[bytes, bytes]]",
    extra: tuple[tuple[str, str], ...],
) -> Request:
    found = _ABSOLUTE.fullmatch(address)
    if found is None:
        raise BadHead("the address must begin with http:// and a host")
    host = found[1]
    port = HTTP_PORT if found[2] is None else _port(found[2])
    named = host if found[2] is None else host + b":" + found[2]
    hosts = [value for name, value in fields if name == b"host"]
    if len(hosts) > 1 or any(value.lower() != named.lower() for value in hosts):
        raise BadHead("the host of the address line is another than that of the request")
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value.lower() for name, value in fields if name == b"transfer-encoding"]
    if len(lengths) + len(codings) > 1 or any(coding != b"chunked" for coding in codings):
        raise BadHead("the length of the body could be read in two ways")
    if any(_LENGTH.fullmatch(length) is None for length in lengths):
        raise BadHead("the length of the body is no number")
    if extra:
        # One spelling of the host; and of the port nothing, where it is the usual one of TLS.
        bare = host.lower().removesuffix(b".")
        named = bare if port == _TLS_PORT else b"%s:%d" % (bare, port)
    path = (found[3] or b"/") + (found[4] or b"")
    # Some servers take the one spelling for the other.
    replaced = {name.lower().replace("_", "-").encode() for name, _ in extra}
    lines = [b"%s %s HTTP/1.1" % (method.encode(), path), b"host: " + named]
    lines += [
        b"%s: %s" % each
        for each in fields
        if each[0] not in _OURS and each[0].replace(b"_", b"-") not in replaced
    ]
    lines += [f"{name.lower()}: {value}".encode("latin-1") for name, value in extra]
    lines += [b"connection: close", b"", b""]
    expected = [value.lower() for name, value in fields if name == b"expect"]
    if any(value != b"100-continue" for value in expected):
        raise BadHead("it expects what a proxy cannot do")
    return Request(
        method,
        host.decode(),
        port,
        b"\r\n".join(lines),
        int(lengths[0]) if lengths else 0,
        is_chunked=bool(codings),
        waits=bool(expected),
    )


def _port(digits: bytes) -> int:
    port = int(digits)
    if not 0 < port <= _MOST_PORT:
        raise BadHead("the port is none")
    return port

"""One network target: a host or a block of addresses, and a port.

    example.com:443         that name, that port
    example.com             that name, any port
    *.example.com           every name below it at any depth, not the name itself
    192.0.2.7:80            an address; 192.0.2.0/24 a block
    [2001:db8::1]:443       IPv6 with a port; [2001:db8::/32]:443 a block with one
    *:443                   any name or address, on that port

Rules kept: names are ASCII, lower case, without a final dot; a name whose last label looks like a
number is refused unless it is a plain dotted quad, because resolvers read `0x7f.1` and `2130706433`
as addresses; an IPv4 address dressed as IPv6 is that IPv4 address; no entry means any host on any
port (that is the level `ANY`). A name never covers an address nor an address a name: what a name
resolves to is checked when it is dialled. An entry without a port stands for every port and for
traffic that has none, so listing all ports is still less.
"""

import re
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass

Network: TypeAlias = IPv4Network | IPv6Network

ANY_HOST = "*"

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER_LIKE = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_BRACKETED = re.compile(r"\[([^\[\]]*)\](?::(.*))?", re.DOTALL)
_PORT = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_MOST_NAME = 253
_MOST_TARGET = 512
_MOST_PORT = 65_535
_MAPPED = ip_network("::ffff:0:0/96")


@dataclass(frozen=True, slots=True)
class Target:
    """One entry: a name, `*.name`, `*`, or a block of addresses; and a port, or any."""

    host: str
    network: Network | None
    port: int | None

    @classmethod
    def parse(cls, text: str) -> "Target":
        """Reads one entry; raises `surface-host`."""
        if len(text) > _MOST_TARGET:
            raise _unreadable(text[:_MOST_NAME], f"it has more than {_MOST_TARGET} characters")
        host, port = _split_port(text)
        if host == ANY_HOST:
            if port is None:
                raise _unreadable(text, "`*` without a port is the level ANY, not an entry")
            return cls(ANY_HOST, None, port)
        network = _read_network(text, host)
        if network is not None:
            return cls.block(network, port)
        return cls(_read_name(text, host), None, port)

    @classmethod
    def block(cls, network: Network, port: int | None) -> "Target":
        """The entry for a block of addresses."""
        is_single = network.prefixlen == network.max_prefixlen
        return cls(str(network.network_address if is_single else network), network, port)

    def __str__(self) -> str:
        bracket = self.port is not None and ":" in self.host
        host = f"[{self.host}]" if bracket else self.host
        return host if self.port is None else f"{host}:{self.port}"

    def covers(self, other: "Target") -> bool:
        """Whether this entry alone reaches everything `other` does."""
        if self.port is not None and self.port != other.port:
            return False
        if self.host in (ANY_HOST, other.host):
            return True
        if self.network is not None:
            return other.network is not None and _contains(self.network, other.network)
        return (
            other.network is None
            and self.host.startswith("*.")
            and other.host != ANY_HOST
            and other.host.endswith(self.host[1:])
        )

    def on(self, port: int | None) -> "Target":
        """The same host on another port, or on any."""
        return Target(self.host, self.network, port)


def _contains(wide: Network, narrow: Network) -> bool:
    if isinstance(wide, IPv4Network):
        return isinstance(narrow, IPv4Network) and narrow.subnet_of(wide)
    return isinstance(narrow, IPv6Network) and narrow.subnet_of(wide)


def _unreadable(text: str, why: str) -> BadInput:
    return BadInput(Code.SURFACE_HOST, f"`{text}` is not a network target: {why}")


def _split_port(text: str) -> tuple[str, int | None]:
    bracketed = _BRACKETED.fullmatch(text)
    if bracketed:
        host, port = bracketed[1], bracketed[2]
        if ":" not in host:
            raise _unreadable(text, "brackets are for IPv6 addresses")
        return host, None if port is None else _read_port(text, port)
    if text.count(":") > 1:
        return text, None
    host, colon, port = text.partition(":")
    return host, _read_port(text, port) if colon else None


def _read_port(text: str, port: str) -> int:
    if _PORT.fullmatch(port) is None or int(port) > _MOST_PORT:
        raise _unreadable(text, f"`{port}` is not a port from 1 to {_MOST_PORT}")
    return int(port)


@lru_cache(maxsize=4096)
def _read_network(text: str, host: str) -> Network | None:
    """The block a host part denotes, or None when it is a name."""
    address = host.partition("/")[0]
    looks_like_quad = re.fullmatch(r"[0-9]+(\.[0-9]+){3}", address, re.ASCII)
    if ":" not in address and not looks_like_quad:
        return None
    try:
        network = ip_network(host)
    except ValueError as problem:
        raise _unreadable(text, str(problem)) from None
    if "%" in host:
        raise _unreadable(text, "an address with a zone belongs to one machine")
    if isinstance(network, IPv6Network) and isinstance(_MAPPED, IPv6Network):
        mapped = network.network_address.ipv4_mapped
        if mapped is not None and network.subnet_of(_MAPPED):
            return IPv4Network((mapped, network.prefixlen - _MAPPED.prefixlen))
    return network


def _read_name(text: str, host: str) -> str:
    if not host.isascii():
        raise _unreadable(text, "write the name in its ASCII form (xn--…)")
    name = host.lower().removesuffix(".")
    labels = name.removeprefix("*.").split(".")
    if len(name) > _MOST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise _unreadable(text, "a name is letters, digits, `-` and `_` between dots")
    if _NUMBER_LIKE.fullmatch(labels[-1]):
        raise _unreadable(text, "its last part is a number, which resolvers read as an address")
    return name

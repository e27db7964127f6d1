"""Network targets: hosts, addresses and ports, as one scope with decided containment.

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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import BadInput

Network: TypeAlias = IPv4Network | IPv6Network

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER_LIKE = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_BRACKETED = re.compile(r"\[([^\[\]]*)\](?::(.*))?", re.DOTALL)
_MOST_NAME = 253
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
        host, port = _split_port(text)
        if host == "*":
            if port is None:
                raise _unreadable(text, "`*` without a port is the level ANY, not an entry")
            return cls("*", None, port)
        network = _read_network(text, host)
        if network is not None:
            return cls(_spell_network(network), network, port)
        return cls(_read_name(text, host), None, port)

    def __str__(self) -> str:
        bracket = self.port is not None and ":" in self.host
        host = f"[{self.host}]" if bracket else self.host
        return host if self.port is None else f"{host}:{self.port}"

    def covers(self, other: "Target") -> bool:
        """Whether this entry alone reaches everything `other` does."""
        if self.port is not None and self.port != other.port:
            return False
        if self.host in ("*", other.host):
            return True
        if self.network is not None:
            return other.network is not None and _contains(self.network, other.network)
        return (
            other.network is None
            and self.host.startswith("*.")
            and other.host != "*"
            and other.host.endswith(self.host[1:])
        )

    def meet(self, other: "Target") -> "Target | None":
        """What both reach; hosts are nested or apart, so one entry says it."""
        if self.port is not None and other.port is not None and self.port != other.port:
            return None
        port = self.port if self.port is not None else other.port
        wide_self = Target(self.host, self.network, None)
        wide_other = Target(other.host, other.network, None)
        if wide_self.covers(wide_other):
            return Target(other.host, other.network, port)
        if wide_other.covers(wide_self):
            return Target(self.host, self.network, port)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class HostScope:
    """A set of targets, with the same operators as every other scope."""

    entries: tuple[Target, ...]
    known: frozenset[Target] = field(repr=False)
    blocks: dict[int | None, dict[int, frozenset[Network]]] = field(repr=False)
    """For each port named anywhere: the address blocks reachable on it, by prefix length."""

    @classmethod
    def parse(cls, spellings: Iterable[str]) -> "HostScope":
        """Reads entries as `str()` writes them."""
        return cls.of(Target.parse(text) for text in spellings)

    @classmethod
    def of(cls, targets: Iterable[Target]) -> "HostScope":
        """A scope of these targets, without those that the others cover."""
        given = set(targets)
        whole = cls._indexed(given)
        merged = {
            Target(_spell_network(network), network, port)
            for port, by_length in whole.blocks.items()
            for networks in by_length.values()
            for network in networks
        }
        candidates = merged | {target for target in given if target.network is None}
        kept = [t for t in candidates if not any(w in candidates for w in _wider(t))]
        any_port = cls._indexed(t for t in kept if t.port is None)
        kept = [t for t in kept if t.port is None or not any_port.reaches(t)]
        return cls._indexed(kept)

    @classmethod
    def _indexed(cls, targets: Iterable[Target]) -> "HostScope":
        known = frozenset(targets)
        by_port: dict[int | None, list[Network]] = {}
        for target in known:
            if target.network is not None:
                by_port.setdefault(target.port, []).append(target.network)
        everywhere = by_port.get(None, [])
        blocks = {
            port: _by_length(networks if port is None else [*networks, *everywhere])
            for port, networks in by_port.items()
        }
        return cls(tuple(sorted(known, key=str)), known, blocks)

    def reaches(self, target: Target) -> bool:
        """Whether the scope reaches everything `target` does."""
        if target in self.known or any(wider in self.known for wider in _wider(target)):
            return True
        if target.network is None:
            return False
        by_length = self.blocks.get(target.port) or self.blocks.get(None) or {}
        return any(
            length <= target.network.prefixlen
            and target.network.supernet(new_prefix=length) in networks
            for length, networks in by_length.items()
        )

    def __or__(self, other: "HostScope") -> "HostScope":
        return HostScope.of((*self.entries, *other.entries)) if other.entries else self

    def __and__(self, other: "HostScope") -> "HostScope":
        met = (one.meet(two) for one in self.entries for two in other.entries)
        return HostScope.of(target for target in met if target is not None)

    def __sub__(self, other: "HostScope") -> "HostScope":
        return HostScope._indexed(t for t in self.entries if not other.reaches(t))

    def __le__(self, other: "HostScope") -> bool:
        return all(map(other.reaches, self.entries))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HostScope):
            return NotImplemented
        return self <= other <= self

    def __hash__(self) -> int:
        return hash(bool(self.entries))

    def __bool__(self) -> bool:
        return bool(self.entries)

    def __iter__(self) -> Iterator[str]:
        return map(str, self.entries)

    def __repr__(self) -> str:
        return f"HostScope({', '.join(self)})"


def _wider(target: Target) -> Iterator[Target]:
    """The entries that would cover a name or a lone address, nearest first; not address blocks."""
    if target.host == "*":
        return
    ports = (None,) if target.port is None else (None, target.port)
    if target.port is not None:
        yield Target(target.host, target.network, None)
        yield Target("*", None, target.port)
    if target.network is None:
        _, dot, parent = target.host.removeprefix("*.").partition(".")
        while dot:
            for port in ports:
                yield Target(f"*.{parent}", None, port)
            _, dot, parent = parent.partition(".")


def _by_length(networks: list[Network]) -> dict[int, frozenset[Network]]:
    fours = [network for network in networks if isinstance(network, IPv4Network)]
    sixes = [network for network in networks if isinstance(network, IPv6Network)]
    lengths: dict[int, set[Network]] = {}
    collapsed: list[Network] = [*collapse_addresses(fours), *collapse_addresses(sixes)]
    for network in collapsed:
        lengths.setdefault(network.prefixlen, set()).add(network)
    return {length: frozenset(found) for length, found in lengths.items()}


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
    if not (port.isascii() and port.isdigit() and port[0] != "0" and int(port) <= _MOST_PORT):
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


def _spell_network(network: Network) -> str:
    is_single = network.prefixlen == network.max_prefixlen
    return str(network.network_address) if is_single else str(network)


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

"""Whether the network of a permission set leads to a host, by the way the host is spelled.

With a list, a set opens exactly what it names (`none`: nothing, whatever else is named; `any`: as
without a list). Without one it opens the public network: an address of this machine, of a private or
link-local network or of a metadata service is not part of it, and neither is a name that stands for
one. What any other name leads to is known when it is dialled.
"""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, TypeAlias

from consentry.base.values import dataclass
from consentry.surface.access import Access
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import host_access
from consentry.surface.targets import ANY_HOST, Target

ANY_WORD: Final = "any"
NONE_WORD: Final = "none"

Address: TypeAlias = IPv4Address | IPv6Address

_TRANSLATED: Final = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_COMPATIBLE: Final = ip_network("::/96")
_LAST_IPV4: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class NearHosts:
    """Names and addresses that are not of the public network, besides those that say so themselves."""

    names: frozenset[str]
    below: tuple[str, ...]
    addresses: frozenset[Address]

    @classmethod
    def of(
        cls, names: Iterable[str], below: Iterable[str], addresses: Iterable[str]
    ) -> "NearHosts":
        """From spellings."""
        return cls(frozenset(names), tuple(below), frozenset(map(ip_address, addresses)))

    def is_public(self, target: Target) -> bool:
        """Whether the spelling speaks for the public network, or at least not against it."""
        if target.network is not None:
            # A block may have its ends in the public network and other places between them.
            is_single = target.network.num_addresses == 1
            return is_single and self._is_public_address(target.network.network_address)
        if target.host == ANY_HOST:
            return False
        name = target.host.removeprefix("*.")
        return name not in self.names and not f".{name}".endswith(self.below)

    def _is_public_address(self, address: Address) -> bool:
        each = (address, *_carried(address))
        return all(a.is_global and not a.is_multicast and a not in self.addresses for a in each)


def narrowed(words: Sequence[str]) -> Access[HostScope]:
    """What is left of an open network after these words of a command line: hosts, `any` or `none`."""
    if NONE_WORD in words:
        return host_access(Level.NONE)
    if ANY_WORD in words or not words:
        return host_access(Level.ANY)
    return host_access(list(words))


def is_listed(target: Target, allowed: HostScope) -> bool:
    """Whether the list names it; a host that was denied before its port was known, on any port."""
    if target.port is not None:
        return allowed.reaches(target)
    return any(entry.on(None).covers(target) for entry in allowed.entries)


def _carried(address: Address) -> Iterator[IPv4Address]:
    """IPv4 addresses inside an IPv6 one, to which a gateway would send what is sent there."""
    if isinstance(address, IPv4Address):
        return
    last = IPv4Address(int(address) & _LAST_IPV4)
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    elif address in _COMPATIBLE and int(address) > 1:
        yield last
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in network for network in _TRANSLATED):
        yield last

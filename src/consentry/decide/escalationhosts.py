"""Whether the network of a permission set leads to a host, by the way the host is spelled.

With a list, a set opens exactly what it names (`none`: nothing, whatever else is named; `any`: as
without a list). Without one it opens the public network: an address of this machine, of a private or
link-local network or of a metadata service is not part of it, and neither is a name that stands for
one. What any other name leads to is known when it is dialled.
"""

from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Final

from consentry.base.values import dataclass
from consentry.surface.access import Access
from consentry.surface.carriedaddresses import Address, carried
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import host_access
from consentry.surface.targets import ANY_HOST, Target

ANY_WORD: Final = "any"
NONE_WORD: Final = "none"


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
        each = (address, *carried(address))
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

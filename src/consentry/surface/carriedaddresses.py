"""IPv4 addresses that an IPv6 one carries: what is sent to the one may arrive at the other.

An IPv4 address may be dressed as IPv6 in several ways; whoever judges an address judges these as well.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Final, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_TRANSLATED: Final = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_COMPATIBLE: Final = ip_network("::/96")
_LAST_IPV4: Final = 0xFFFFFFFF


def carried(address: Address) -> Iterator[IPv4Address]:
    """Those inside, to which a gateway would send what is sent there."""
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

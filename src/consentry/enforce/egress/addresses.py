"""What kind of place an address is: public, private, or one that a name must not lead to.

A name is granted for what is behind it on the network. Whoever answers for the name can make it lead
to this machine, to its neighbours on the link or to a provider's metadata, where other powers lie than
those that were granted. Such addresses are reached only when they were granted themselves.

An IPv4 address may be dressed as IPv6 in several ways; it is the plain one that counts.
"""

import socket
from collections.abc import Callable
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from consentry.surface.carriedaddresses import Address, carried


class Kind(StrEnum):
    """From the most harmless on."""

    PUBLIC = "public"
    PRIVATE = "private"
    RESERVED = "reserved"
    MULTICAST = "multicast"
    LINK_LOCAL = "link-local"
    OWN = "one of this machine's own"
    LOOPBACK = "loopback"
    UNSPECIFIED = "unspecified"
    METADATA = "metadata"


GRANTED_BY_NAME: Final = (Kind.PUBLIC, Kind.PRIVATE)
"""Where a name that was granted may lead."""

# Services that tell a machine about itself and give out its credentials.
_METADATA: Final = tuple(
    map(
        ip_address,
        ("169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16",
         "fd00:ec2::254", "fd20:ce::254"),
    )
)  # fmt: skip
_SHARED: Final = ip_network("100.64.0.0/10")


def kind_of(address: Address, is_own: Callable[[Address], bool]) -> Kind:
    """The least harmless of what the address is and of the addresses it carries."""
    kinds = [_kind(each, is_own) for each in (address, *carried(address))]
    return max(kinds, key=list(Kind).index)


def _kind(address: Address, is_own: Callable[[Address], bool]) -> Kind:
    tests = (
        (Kind.METADATA, address in _METADATA),
        (Kind.UNSPECIFIED, address.is_unspecified or _is_this_network(address)),
        (Kind.LOOPBACK, address.is_loopback),
        (Kind.LINK_LOCAL, address.is_link_local or _is_site_local(address)),
        (Kind.MULTICAST, address.is_multicast),
    )
    for kind, applies in tests:
        if applies:
            return kind
    if is_own(address):
        return Kind.OWN
    if address.is_reserved or str(address) == "255.255.255.255":
        return Kind.RESERVED
    return Kind.PRIVATE if address.is_private or address in _SHARED else Kind.PUBLIC


def _is_this_network(address: Address) -> bool:
    """Of `0.0.0.0/8` systems take some for themselves."""
    return isinstance(address, IPv4Address) and int(address) >> 24 == 0


def _is_site_local(address: Address) -> bool:
    return isinstance(address, IPv6Address) and address.is_site_local


def is_own_address(address: Address) -> bool:
    """Whether it belongs to this machine: only then a socket can be given it."""
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as trial:
            trial.bind((str(address), 0))
    except OSError:
        return False
    return True

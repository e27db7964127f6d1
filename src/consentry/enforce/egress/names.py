"""The addresses that stand for names inside a box.

Programs that know no proxy ask for a name and connect to the address they get. Inside, each granted
name has an address of its own that leads nowhere but to us; by it we know which name was meant.
"""

from ipaddress import IPv4Address, IPv6Address
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.surface.carriedaddresses import Address

IPV4_BLOCK: Final = IPv4Address("198.18.0.0")
IPV6_BLOCK: Final = IPv6Address("fd63:6f6e:7365:6e74::")
MOST_NAMES: Final = 10_000
"""How many names one run may have addresses for."""


class NameTable:
    """The addresses of one run, each for one name; the same name has the same ones for good."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def addresses_of(self, name: str) -> tuple[IPv4Address, IPv6Address]:
        """Made when a name is asked for the first time; raises when there are too many."""
        number = self._numbers.get(name)
        if number is None:
            if len(self._numbers) >= MOST_NAMES:
                raise BadInput(Code.SURFACE_TOO_COMPLEX, f"more than {MOST_NAMES} names")
            number = self._numbers[name] = len(self._numbers) + 1
            self._names[number] = name
        return IPv4Address(int(IPV4_BLOCK) + number), IPv6Address(int(IPV6_BLOCK) + number)

    def name_of(self, address: Address) -> str | None:
        """The name that an address stands for, if it does."""
        block = IPV4_BLOCK if isinstance(address, IPv4Address) else IPV6_BLOCK
        return self._names.get(int(address) - int(block))

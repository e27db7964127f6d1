"""Secrets that the proxy adds to requests for one host, and that never enter a box.

A secret is a field of a request: the program asks in plain HTTP for a host and a port, and the proxy
sends that one request on over TLS, to that host and port alone, with the field added. Whoever has no
verified certificate for the host gets nothing.
"""

from enum import StrEnum
from typing import Any, Final

from consentry.base.values import dataclass, field

MIRRORS: Final = frozenset(("TRACE", "TRACK"))
"""Methods that ask a host to say back what it was sent; some hosts take them in any case of letters."""


LEAST: Final = 8
"""How many letters a secret has: a shorter one would be found in anything."""


class Source(StrEnum):
    """Where a secret was kept."""

    FILE = "file"
    VARIABLE = "env"


@dataclass(frozen=True, slots=True)
class Secret:
    """One field for one host and port; `vouchers` are certificates instead of the system's own."""

    host: str
    port: int
    header: str
    source: Source
    value: str = field(repr=False)
    vouchers: str | None = field(default=None, repr=False)

    @property
    def telling_words(self) -> tuple[str, ...]:
        """What must not be seen elsewhere: the value, and what stands behind a word like `Bearer`."""
        last = self.value.split()[-1]
        return (self.value, last) if len(last) >= LEAST else (self.value,)

    def told(self) -> dict[str, Any]:
        """As the proxy is told, and nobody else."""
        return {
            "host": self.host,
            "port": self.port,
            "header": self.header,
            "source": self.source.value,
            "value": self.value,
            "vouchers": self.vouchers,
        }

    @classmethod
    def heard(cls, told: dict[str, Any]) -> "Secret":
        """What `told` told."""
        return cls(**{**told, "source": Source(told["source"])})

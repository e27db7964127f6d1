"""Which hosts and ports a run may reach, asked twice: by the name, and by what it leads to.

The name is read once, into the one spelling that is checked, resolved and dialled; what cannot be read
so is refused. An address is checked when it is about to be dialled, and that very one is dialled.
"""

from collections.abc import Callable
from ipaddress import ip_address
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass, replace
from consentry.enforce.egress.addresses import (
    GRANTED_BY_NAME,
    Kind,
    is_own_address,
    kind_of,
)
from consentry.surface.access import Access
from consentry.surface.carriedaddresses import Address
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.modes import AnyHost
from consentry.surface.targets import ANY_HOST, Target

ANY_PUBLIC: Final = "any public host"
"""The rule of a run that may reach every host on the public network."""

ANY_AT_ALL: Final = "any host"
"""The rule of a run that may reach this machine and its neighbours, too."""

_NEVER_ASKED: Final = "*/%\\@"
LOCALHOST: Final = "localhost"
"""The one name that means this machine: granted, it leads there."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether it may be reached, by which rule, and if not, why.

    `is_held` says that the rule is a person's answer, given while the run waited.
    """

    is_allowed: bool
    rule: str | None
    why: str | None = None
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """The network access of one run."""

    access: Access[HostScope]
    is_own: Callable[[Address], bool] = is_own_address
    opened: frozenset[Target] = frozenset()
    """What was granted while the run waited: each one host and port, by a person's answer."""

    any_host: AnyHost = AnyHost.PUBLIC

    def by_name(self, asked: Target) -> Verdict:
        """Before anything is resolved: whether this host and port were granted at all."""
        if asked in self.opened:
            return Verdict(is_allowed=True, rule=str(asked), is_held=True)
        if self.access.level is Level.ANY:
            is_every = self.any_host is AnyHost.EVERY
            return Verdict(is_allowed=True, rule=ANY_AT_ALL if is_every else ANY_PUBLIC)
        found = self._entry(asked) if self.access.level is Level.ALLOWLIST else None
        if found is None:
            return Verdict(is_allowed=False, rule=None, why="not granted")
        return Verdict(is_allowed=True, rule=str(found))

    def by_address(self, asked: Target, address: Address) -> Verdict:
        """What was granted by name, or as an address, and leads to this one now."""
        granted = self.by_name(asked)
        if not granted.is_allowed or granted.rule == ANY_AT_ALL:
            return granted
        kind = kind_of(address, self.is_own)
        literal = address_target(address, asked)
        is_named = self._names_address(literal) or (
            literal in self.opened and kind in GRANTED_BY_NAME
        )
        if is_named or (kind in (Kind.LOOPBACK, Kind.OWN) and self._is_granted_localhost(asked)):
            return granted
        # A program chose the name that a person said yes to, and may answer for where it leads.
        is_chosen = granted.rule == ANY_PUBLIC or granted.is_held
        harmless = (Kind.PUBLIC,) if is_chosen else GRANTED_BY_NAME
        if kind in harmless:
            return granted
        return Verdict(
            is_allowed=False, rule=granted.rule, why=f"leads to {address} ({kind.value})"
        )

    def may_be_asked_about(self, asked: Target) -> bool:
        """Whether a person can be asked for it: not for this machine, the link, or metadata.

        A name is looked up only after a yes, because looking it up tells others of it; where it leads
        is held to `by_address` then.
        """
        literal = address_in(asked)
        if literal is None:
            return asked.host != LOCALHOST and not asked.host.endswith(f".{LOCALHOST}")
        return kind_of(literal, self.is_own) in GRANTED_BY_NAME

    def with_opened(self, asked: Target) -> "Rules":
        """The same, and this host and port."""
        return replace(self, opened=self.opened | {asked})

    def _entry(self, asked: Target) -> Target | None:
        """The narrowest entry that covers it, for the record."""
        covering = [entry for entry in self.access.targets.entries if entry.covers(asked)]
        return max(covering, key=_narrowness, default=None)

    def _names_address(self, literal: Target) -> bool:
        """Whether an address was granted as such, alone or in a block; `*:443` names none."""
        return any(
            entry.network is not None and entry.covers(literal)
            for entry in self.access.targets.entries
        )

    def _is_granted_localhost(self, asked: Target) -> bool:
        return asked.host == LOCALHOST and any(
            entry.host == LOCALHOST and entry.covers(asked) for entry in self.access.targets.entries
        )


def read_target(host: str, port: int) -> Target:
    """The one spelling of what was asked for; raises `BadInput` for what could be read two ways."""
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    is_odd = bare != host and ":" not in bare
    if is_odd or not bare or any(character in _NEVER_ASKED for character in bare):
        raise BadInput(Code.SURFACE_HOST, f"`{host}` is no host that could be reached")
    return Target.parse(_spelled(bare, port))


def address_target(address: Address, asked: Target) -> Target:
    """The address that a name leads to, on the same port, as a place of its own."""
    return Target.parse(_spelled(str(address), asked.port))


def address_in(asked: Target) -> Address | None:
    """The address, where an address was asked for."""
    return None if asked.network is None else ip_address(asked.host)


def _spelled(host: str, port: int | None) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _narrowness(entry: Target) -> tuple[bool, bool, int, int]:
    length = 0 if entry.network is None else entry.network.prefixlen
    is_wild = entry.host == ANY_HOST or entry.host.startswith("*.")
    return (not is_wild, entry.port is not None, length, len(entry.host))

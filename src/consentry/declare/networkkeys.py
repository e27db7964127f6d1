"""Reads what a profile says of the network: whether, where to, and with which secrets."""

from typing import Final

from consentry.base.values import dataclass
from consentry.declare.profile import DeclaredSecrets
from consentry.declare.secretentry import FILE, SecretEntry
from consentry.declare.toolcapabilities import host_list
from consentry.declare.values import Fields, Value
from consentry.surface.access import Access
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import host_access


@dataclass(frozen=True, slots=True)
class DeclaredNetwork:
    """Which hosts, and what is added to requests for some of them."""

    access: Access[HostScope]
    secrets: DeclaredSecrets


CLOSED: Final = DeclaredNetwork(host_access(Level.NONE), DeclaredSecrets())


def network(value: Value) -> DeclaredNetwork | None:
    """The whole block."""
    fields = value.fields(("enabled", "allow", "secrets", "secretCA"))
    if fields is None:
        return None
    secrets = DeclaredSecrets(
        fields.may("secrets", lambda listed: listed.each(_secret), ()),
        fields.may("secretCA", _absolute, None),
    )
    return DeclaredNetwork(_access(fields), secrets)


def _access(fields: Fields) -> Access[HostScope]:
    """Closed, open to every public host, or open to a list; an empty list opens nothing."""
    is_enabled = fields.need("enabled", Value.flag, stand_in=False)
    listed = fields.find("allow")
    if listed is None:
        return host_access(Level.ANY if is_enabled else Level.NONE)
    allowed = host_list(listed)
    if allowed is None:
        return CLOSED.access
    if allowed.targets and not is_enabled:
        listed.refuse(
            "hosts are listed, and the network is not enabled",
            "write `enabled: true`, or leave the list out",
        )
    return allowed


def _secret(value: Value) -> SecretEntry | None:
    entry = value.parsed(SecretEntry.parse)
    if entry is not None and entry.kind == FILE:
        _require_absolute(value, entry.kept_in)
    return entry


def _absolute(value: Value) -> str | None:
    found = value.text()
    if found is not None:
        _require_absolute(value, found)
    return found


def _require_absolute(value: Value, path: str) -> None:
    if not path.startswith("/"):
        value.refuse("the path of this file must be absolute", "write the whole path")

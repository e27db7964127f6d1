"""The catalog of module capabilities: six ids, their scope and hard limits, and its version.

An allowlist and nothing else: an id that is not in it is unknown. There are no wildcards, prefixes
or aliases, and no id implies another.
"""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

from consentry.base.values import dataclass, field

_TABLE = "capability_catalog.toml"


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One capability: what it lets a module do, and what it never does."""

    capability_id: str
    scope: str
    limits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CapabilityCatalog:
    """The whole catalog at one version."""

    version: str
    entries: tuple[CatalogEntry, ...]
    _by_id: Mapping[str, CatalogEntry] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_id = {each.capability_id: each for each in self.entries}
        object.__setattr__(self, "_by_id", MappingProxyType(by_id))

    def find(self, capability_id: str) -> CatalogEntry | None:
        """The entry with exactly this id, or None: nothing is folded, trimmed or expanded."""
        return self._by_id.get(capability_id)

    def voids_grants_of(self, grant_version: str) -> bool:
        """Whether a grant recorded under `grant_version` is stale: another major version."""
        return grant_version.partition(".")[0] != self.version.partition(".")[0]


@lru_cache(maxsize=1)
def capability_catalog() -> CapabilityCatalog:
    """The catalog as shipped."""
    text = files("consentry.surface").joinpath(_TABLE).read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return CapabilityCatalog(
        version=table["capabilityCatalogVersion"],
        entries=tuple(
            CatalogEntry(row["id"], row["scope"], tuple(row["limits"]))
            for row in table["capability"]
        ),
    )

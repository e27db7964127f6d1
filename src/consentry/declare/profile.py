"""What a sandbox configuration says, as values: engines, profiles, files, limits (CONSENT §sandbox).

A profile that leaves something out asks for less: no files, no network, no limits of its own beyond
the engine's. The words of the enumerations are those of the document.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from consentry.base.errors import Where
from consentry.base.units import Duration, Size
from consentry.base.values import dataclass, field
from consentry.declare.pathentries import PathEntry
from consentry.declare.secretentry import SecretEntry
from consentry.surface.access import Access
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import NOTHING
from consentry.surface.modes import Denials, LayerPlace, Reads, Rounding, View, Writes
from consentry.surface.pattern import Pattern, Vocabulary
from consentry.surface.patterns import PatternScope


class EngineName(StrEnum):
    """What may confine a run; `auto` is the cheapest that enforces all that is required."""

    AUTO = "auto"
    NATIVE = "native"
    BUBBLEWRAP = "bubblewrap"
    FIREJAIL = "firejail"
    NSJAIL = "nsjail"
    DOCKER = "docker"
    PODMAN = "podman"
    DENO = "deno"


@dataclass(frozen=True, slots=True)
class DenyList:
    """What is closed whatever opens it: each entry with all below it, at any depth.

    Surfaces hold no denials, so this goes beside them. `a | b` closes what either does.
    """

    entries: tuple[PathEntry, ...] = ()

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Each entry with all below it."""
        return tuple(entry.tree for entry in self.entries)

    @property
    def scope(self) -> PatternScope:
        """All of it as one scope, for asking what it covers."""
        return PatternScope.of(Vocabulary.PATH, [(pattern,) for pattern in self.patterns])

    def __or__(self, other: "DenyList") -> "DenyList":
        return DenyList(tuple(dict.fromkeys((*self.entries, *other.entries))))


@dataclass(frozen=True, slots=True)
class Filesystem:
    """Which files are open: what is in neither list is closed, and so is what `no_access` names."""

    read_only: tuple[PathEntry, ...] = ()
    read_write: tuple[PathEntry, ...] = ()
    no_access: DenyList = DenyList()


@dataclass(frozen=True, slots=True)
class DeclaredLimits:
    """What a run may use up, as it was written; None leaves the engine's own default."""

    cpu: Duration | None = None
    memory: Size | None = None
    processes: int | None = None
    file_size: Size | None = None
    written: Size | None = None
    timeout: Duration | None = None


@dataclass(frozen=True, slots=True)
class DeclaredSecrets:
    """What the proxy adds to requests, and the certificates that vouch for those hosts."""

    entries: tuple[SecretEntry, ...] = ()
    vouchers: str | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """One way to confine a run.

    `dropped` are the Linux capabilities it names; an engine drops the others too. `network` is
    closed, open to any public host, or a list. `secrets` count only in a user's own configuration.
    """

    name: str
    where: Where = field(compare=False)
    dropped: tuple[str, ...] = ()
    filesystem: Filesystem = Filesystem()
    network: Access[HostScope] = NOTHING.net_access
    limits: DeclaredLimits = DeclaredLimits()
    view: View = View.PRIVATE
    writes: Writes = Writes.LAYER
    layer: LayerPlace = LayerPlace.MEMORY
    reads: Reads = Reads.OBSERVED
    patterns: Rounding = Rounding.ROUNDED
    denials: Denials = Denials.OBSERVED
    secrets: DeclaredSecrets = DeclaredSecrets()


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """The whole document: which engine, and the profiles by name."""

    engine: EngineName = EngineName.AUTO
    fallback_engine: EngineName | None = None
    profiles: Mapping[str, Profile] = field(default_factory=lambda: MappingProxyType({}))

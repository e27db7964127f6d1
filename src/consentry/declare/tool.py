"""What a tool's manifest says, as values (CONSENT §manifest).

A manifest is the tool's own word: it asks, and nothing in it grants. The words of the enumerations
are those of the document.
"""

from enum import StrEnum

from consentry.base.canonical import Digest
from consentry.base.errors import Where
from consentry.base.units import Duration, Size
from consentry.base.values import dataclass, field, replace
from consentry.declare.pathentries import PathEntry
from consentry.surface.access import Access
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import NOTHING


class RiskLevel(StrEnum):
    """How much harm the tool could do, by its author's word."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class ConsentLevel(StrEnum):
    """How a person is asked, from loose to strict."""

    NONE = "none"
    IMPLICIT = "implicit"
    EXPLICIT = "explicit"
    STRICT = "strict"

    @property
    def rank(self) -> int:
        """Position from loose to strict."""
        return tuple(ConsentLevel).index(self)


class LogLevel(StrEnum):
    """How much the audit entry lists: no file lists, the usual, everything."""

    MINIMAL = "minimal"
    STANDARD = "standard"
    DETAILED = "detailed"


class Origin(StrEnum):
    """Whose document it is: the user's own (or accepted), or found in a workspace."""

    OWN = "own"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class FileNeed:
    """Files that the tool reads or writes, and what for."""

    entry: PathEntry
    purpose: str


@dataclass(frozen=True, slots=True)
class Command:
    """A program that the tool starts, with its arguments, and what for."""

    command: str
    arguments: tuple[str, ...]
    purpose: str
    where: Where = field(compare=False)


@dataclass(frozen=True, slots=True)
class Entrypoint:
    """What a run of the tool starts, where not the commands themselves; relative to the workspace."""

    command: str
    arguments: tuple[str, ...]
    working_directory: str
    where: Where = field(compare=False)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the tool asks for.

    `env_write` are names that it may hand to later tasks of a flow; they are no power over this
    machine and part of no surface.
    """

    file_read: tuple[FileNeed, ...] = ()
    file_write: tuple[FileNeed, ...] = ()
    commands: tuple[Command, ...] = ()
    network: Access[HostScope] = NOTHING.net_access
    env_read: tuple[str, ...] = ()
    env_write: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Requirements:
    """How the tool wants to be confined; without `allowed_paths`, all of its patterns stand."""

    isolate_file_system: bool = True
    restrict_network: bool = True
    cpu: Duration | None = None
    memory: Size | None = None
    allowed_paths: tuple[PathEntry, ...] | None = None
    profile: str | None = None

    def ignored_from(self, origin: Origin) -> tuple[str, ...]:
        """The wishes for less confinement that do not count, by the names of their keys.

        They count only from the user's own configuration. Even then they open nothing: what the
        manifest does not list stays closed.
        """
        if origin is Origin.OWN:
            return ()
        wishes = {
            "isolateFileSystem": self.isolate_file_system,
            "restrictNetwork": self.restrict_network,
        }
        return tuple(name for name, confined in wishes.items() if not confined)

    def counting_from(self, origin: Origin) -> "Requirements":
        """What is left of them when those that do not count are taken away."""
        if origin is Origin.OWN:
            return self
        return replace(self, isolate_file_system=True, restrict_network=True)


@dataclass(frozen=True, slots=True)
class AuditConfig:
    """What is kept of a run, and for how long."""

    log_level: LogLevel = LogLevel.STANDARD
    retain_logs: Duration | None = None
    include_in_report: bool = True


@dataclass(frozen=True, slots=True)
class ToolManifest:
    """One tool.

    `digest` is over the values of the document, description included and formatting not: the same
    values in another order of keys, or as JSON, have the same digest. It does not cover the programs
    that the tool starts.
    """

    name: str
    display_name: str
    description: str
    version: str
    capabilities: Capabilities
    risk: RiskLevel
    requirements: Requirements
    consent_level: ConsentLevel | None
    audit: AuditConfig
    entrypoint: Entrypoint | None
    digest: Digest
    where: Where = field(compare=False)

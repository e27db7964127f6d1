"""What is remembered of a plugin that was accepted with evidence: how high its version was, and how much it took.

One memory stands for a plugin's folder on a machine until a person has it forgotten. It only moves
up: to a higher version, to more signers. It is what a roll-back and a downgrade are measured by.
"""

from typing import Final, Protocol

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.semver import SemVer
from consentry.base.values import dataclass, replace
from consentry.decide.fields import (
    Fields,
    as_json,
    check_digest,
    check_id_field,
    check_pair,
    check_text,
    problem,
)
from consentry.decide.identity import Identity, check_identity
from consentry.decide.machine import check_machine_id

PREFIX: Final = "pluginmemory"
FIELDS: Final = (
    "memoryId",
    "machineId",
    "folder",
    "plugin",
    "version",
    "digest",
    "strength",
    "evidence",
    "signers",
    "signedAt",
    "acceptedAt",
    "forgottenBy",
    "forgottenAt",
)


@dataclass(frozen=True, slots=True)
class PluginVersion:
    """The highest version that was accepted, its tree, and by what evidence.

    `strength` is how many signers the policy asked for, `evidence` the formats that told of them.
    """

    memory_id: str
    machine_id: str
    folder: str
    plugin: str
    version: str
    digest: Digest
    strength: int
    evidence: tuple[str, ...]
    signers: tuple[str, ...]
    signed_at: Instant | None
    accepted_at: Instant
    forgotten_by: Identity | None = None
    forgotten_at: Instant | None = None

    def __post_init__(self) -> None:
        check_id_field("memoryId", self.memory_id, PREFIX)
        check_machine_id("machineId", self.machine_id)
        check_text("folder", self.folder)
        check_text("plugin", self.plugin)
        SemVer.parse(self.version)
        check_digest("digest", self.digest)
        if self.strength < 1 or not self.evidence or not self.signers:
            raise problem("strength", "nothing is remembered of a plugin that nobody signed")
        check_pair("forgottenBy", self.forgotten_by, "forgottenAt", self.forgotten_at)
        if self.forgotten_by is not None:
            check_identity("forgottenBy", self.forgotten_by)

    def forgotten(self, by: Identity, now: Instant) -> "PluginVersion":
        """The same, not counting any more."""
        return replace(self, forgotten_by=by, forgotten_at=max(now, self.accepted_at))

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded."""
        return {
            "memoryId": self.memory_id,
            "machineId": self.machine_id,
            "folder": self.folder,
            "plugin": self.plugin,
            "version": self.version,
            "digest": self.digest,
            "strength": self.strength,
            "evidence": list(self.evidence),
            "signers": list(self.signers),
            "signedAt": as_json(self.signed_at),
            "acceptedAt": str(self.accepted_at),
            "forgottenBy": self.forgotten_by,
            "forgottenAt": as_json(self.forgotten_at),
        }

    @classmethod
    def from_json(cls, document: object) -> "PluginVersion":
        """Reads what `to_json` writes."""
        fields = Fields(document, FIELDS)
        forgotten_by = fields.optional_text("forgottenBy")
        return cls(
            memory_id=fields.text("memoryId"),
            machine_id=fields.text("machineId"),
            folder=fields.text("folder"),
            plugin=fields.text("plugin"),
            version=fields.text("version"),
            digest=fields.digest("digest"),
            strength=fields.whole("strength"),
            evidence=fields.texts("evidence"),
            signers=fields.texts("signers"),
            signed_at=fields.optional_instant("signedAt"),
            accepted_at=fields.instant("acceptedAt"),
            forgotten_by=None if forgotten_by is None else Identity(forgotten_by),
            forgotten_at=fields.optional_instant("forgottenAt"),
        )


class PluginMemory(Protocol):
    """Where it is kept; every question is about the machine this program runs on."""

    def remembered(self, folder: str, plugin: str) -> PluginVersion | None:
        """What was accepted of this plugin, if it was and was not forgotten."""
        ...


class NothingRemembered:
    """What is remembered where nothing was ever kept."""

    def remembered(self, folder: str, plugin: str) -> PluginVersion | None:  # noqa: ARG002 - as every other
        """None."""
        return None

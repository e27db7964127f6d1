"""The parts of a preview that are no files: its source, programs, limits, times, the last consent.

Each has one JSON form and is read strictly. Nothing here is escaped for a terminal or a page yet.
"""

from enum import StrEnum
from typing import Final

from consentry.base.canonical import Digest, Json
from consentry.base.units import Duration, Size
from consentry.base.values import dataclass, field
from consentry.decide.fields import Fields, check_digest, check_text, check_texts, problem
from consentry.declare.profile import DeclaredLimits
from consentry.declare.tool import Origin
from consentry.surface.lattice import Surface
from consentry.surface.wire import surface_from_json, surface_to_json


class CommandPart(StrEnum):
    """What becomes of a program: the run starts it, or what the run starts may."""

    STARTED = "started"
    ALLOWED = "allowed"


@dataclass(frozen=True, slots=True)
class Source:
    """Where the manifest is, whose it is, and whether its bytes were accepted."""

    file: str
    origin: Origin
    is_accepted: bool

    def __post_init__(self) -> None:
        check_text("file", self.file)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept."""
        return {"file": self.file, "origin": self.origin.value, "accepted": self.is_accepted}

    @classmethod
    def from_json(cls, document: object) -> "Source":
        """Reads what `to_json` writes."""
        fields = Fields(document, ("file", "origin", "accepted"))
        return cls(fields.text("file"), fields.member("origin", Origin), fields.flag("accepted"))


@dataclass(frozen=True, slots=True)
class CommandUse:
    """One program with its arguments, of which secret values are masked, and what for."""

    program: str
    arguments: tuple[str, ...]
    purpose: str | None
    part: CommandPart = CommandPart.STARTED

    def __post_init__(self) -> None:
        check_text("program", self.program)
        check_texts("arguments", self.arguments)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept."""
        return {
            "program": self.program,
            "arguments": list(self.arguments),
            "purpose": self.purpose,
            "part": self.part.value,
        }

    @classmethod
    def from_json(cls, document: object) -> "CommandUse":
        """Reads what `to_json` writes."""
        fields = Fields(document, ("program", "arguments", "purpose", "part"))
        return cls(
            fields.text("program"),
            fields.texts("arguments"),
            fields.optional_text("purpose"),
            fields.member("part", CommandPart),
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long it took before: half of the runs no longer than `p50`, nine in ten than `p90`."""

    p50: Duration
    p90: Duration
    runs: int

    def __post_init__(self) -> None:
        if self.runs < 1 or self.p90 < self.p50:
            raise problem(
                "estimate", "an estimate comes from runs, and its p90 is not under its p50"
            )

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept."""
        return {
            "p50Ms": self.p50.milliseconds,
            "p90Ms": self.p90.milliseconds,
            "runs": self.runs,
        }

    @classmethod
    def from_json(cls, document: object) -> "Estimate":
        """Reads what `to_json` writes."""
        fields = Fields(document, ("p50Ms", "p90Ms", "runs"))
        p50, p90 = (Duration(fields.whole(name)) for name in ("p50Ms", "p90Ms"))
        return cls(p50, p90, fields.whole("runs"))


@dataclass(frozen=True, slots=True)
class LastConsent:
    """What a person agreed to for this tool the last time."""

    version: str
    digest: Digest
    surface: Surface = field(repr=False)

    def __post_init__(self) -> None:
        check_text("version", self.version)
        check_digest("digest", self.digest)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept."""
        return {
            "version": self.version,
            "digest": self.digest,
            "surface": surface_to_json(self.surface),
        }

    @classmethod
    def from_json(cls, document: object) -> "LastConsent":
        """Reads what `to_json` writes."""
        fields = Fields(document, ("version", "digest", "surface"))
        surface = surface_from_json(fields.value("surface"))
        return cls(fields.text("version"), fields.digest("digest"), surface)


_LIMIT_FIELDS: Final = ("cpu", "memory", "processes", "fileSize", "written", "timeout")


def limits_to_json(limits: DeclaredLimits) -> dict[str, Json]:
    """The limits, each as it is written in a document."""
    return {
        "cpu": _spelled(limits.cpu),
        "memory": _spelled(limits.memory),
        "processes": limits.processes,
        "fileSize": _spelled(limits.file_size),
        "written": _spelled(limits.written),
        "timeout": _spelled(limits.timeout),
    }


def limits_from_json(document: object) -> DeclaredLimits:
    """Reads what `limits_to_json` writes."""
    fields = Fields(document, _LIMIT_FIELDS)
    return DeclaredLimits(
        fields.optional_amount("cpu", Duration),
        fields.optional_amount("memory", Size),
        None if fields.value("processes") is None else fields.whole("processes"),
        fields.optional_amount("fileSize", Size),
        fields.optional_amount("written", Size),
        fields.optional_amount("timeout", Duration),
    )


def _spelled(amount: Duration | Size | None) -> str | None:
    return None if amount is None else str(amount)

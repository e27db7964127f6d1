"""A preview: all that a person is shown before a tool runs, as one value that is kept with the question.

The powers come from the surface that the run will have, never from what the tool says of itself; the
patterns of the preview together are the files of that surface. What the author wrote (names,
purposes, the description) stands beside them as it was written, for the one renderer to make safe
where it is shown. Times and ids are no part of it: the same tool over the same files has the same
preview, byte for byte.

It promises what could happen, not what will: files counted may be others a moment later, and shared
libraries and modules that a program loads are not listed.
"""

from typing import Final

from consentry.base.canonical import Digest, Json
from consentry.base.values import dataclass, field
from consentry.decide.fields import Fields, check_digest, check_text, check_texts, problem
from consentry.decide.previewfiles import FileUse, Impact
from consentry.decide.previewparts import (
    CommandUse,
    Estimate,
    LastConsent,
    Source,
    limits_from_json,
    limits_to_json,
)
from consentry.declare.profile import DeclaredLimits
from consentry.declare.tool import ConsentLevel, RiskLevel
from consentry.surface.lattice import Gain, Surface
from consentry.surface.modes import View, Writes
from consentry.surface.wire import surface_from_json, surface_to_json

PREVIEW_VERSION: Final = 1

_FIELDS: Final = (
    "previewVersion",
    "tool",
    "displayName",
    "version",
    "description",
    "digest",
    "source",
    "risk",
    "level",
    "levelReasons",
    "askedBecause",
    "showPreview",
    "read",
    "write",
    "systemFiles",
    "closed",
    "commands",
    "surface",
    "environmentWrite",
    "secrets",
    "limits",
    "profile",
    "view",
    "writes",
    "estimate",
    "impact",
    "lastConsent",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a tool is, what it could do, and what that would mean here.

    Attributes:
        read: Files of the workspace and beyond that it may read, one pattern each.
        write: Files that it may make, change or delete; it may read them too.
        system_files: Absolute places that the profile opens for reading.
        closed: What stays closed whatever opens it.
        secrets: What the proxy adds to requests, as `HEADER for HOST:PORT`; never the value.
        asked_because: Why a person is asked although something was agreed to before.
        impact: Only where the level asks for the analysis.
        last_consent: What was agreed to before, whatever became of it since.
    """

    tool: str
    display_name: str
    version: str
    description: str
    digest: Digest
    source: Source
    risk: RiskLevel
    level: ConsentLevel
    surface: Surface = field(repr=False)
    profile: str
    level_reasons: tuple[str, ...] = ()
    asked_because: tuple[str, ...] = ()
    shows_preview: bool = True
    read: tuple[FileUse, ...] = ()
    write: tuple[FileUse, ...] = ()
    system_files: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    commands: tuple[CommandUse, ...] = ()
    environment_write: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    limits: DeclaredLimits = field(default_factory=DeclaredLimits)
    view: View = View.PRIVATE
    writes: Writes = Writes.LAYER
    estimate: Estimate | None = None
    impact: Impact | None = None
    last_consent: LastConsent | None = None

    def __post_init__(self) -> None:
        check_text("tool", self.tool)
        check_text("version", self.version)
        check_digest("digest", self.digest)
        check_text("profile", self.profile)
        for name, values in (
            ("levelReasons", self.level_reasons),
            ("askedBecause", self.asked_because),
            ("systemFiles", self.system_files),
            ("closed", self.closed),
            ("environmentWrite", self.environment_write),
            ("secrets", self.secrets),
        ):
            check_texts(name, values)

    @property
    def gains(self) -> tuple[Gain, ...] | None:
        """What is new since the last consent; None where there was none to compare with."""
        return (
            None
            if self.last_consent is None
            else self.surface.gains_over(self.last_consent.surface)
        )

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept with the question."""
        return {
            "previewVersion": PREVIEW_VERSION,
            "tool": self.tool,
            "displayName": self.display_name,
            "version": self.version,
            "description": self.description,
            "digest": self.digest,
            "source": self.source.to_json(),
            "risk": self.risk.value,
            "level": self.level.value,
            "levelReasons": list(self.level_reasons),
            "askedBecause": list(self.asked_because),
            "showPreview": self.shows_preview,
            "read": [each.to_json() for each in self.read],
            "write": [each.to_json() for each in self.write],
            "systemFiles": list(self.system_files),
            "closed": list(self.closed),
            "commands": [each.to_json() for each in self.commands],
            "surface": surface_to_json(self.surface),
            "environmentWrite": list(self.environment_write),
            "secrets": list(self.secrets),
            "limits": limits_to_json(self.limits),
            "profile": self.profile,
            "view": self.view.value,
            "writes": self.writes.value,
            "estimate": None if self.estimate is None else self.estimate.to_json(),
            "impact": None if self.impact is None else self.impact.to_json(),
            "lastConsent": None if self.last_consent is None else self.last_consent.to_json(),
        }

    @classmethod
    def from_json(cls, document: object) -> "Preview":
        """Reads what `to_json` writes; another version is refused."""
        if isinstance(document, dict) and document.get("previewVersion") != PREVIEW_VERSION:
            raise problem("previewVersion", f"this is not {PREVIEW_VERSION}, the one known here")
        fields = Fields(document, _FIELDS)
        estimate, impact = fields.value("estimate"), fields.value("impact")
        last = fields.value("lastConsent")
        return cls(
            tool=fields.text("tool"),
            display_name=fields.text("displayName"),
            version=fields.text("version"),
            description=fields.text("description"),
            digest=fields.digest("digest"),
            source=Source.from_json(fields.value("source")),
            risk=fields.member("risk", RiskLevel),
            level=fields.member("level", ConsentLevel),
            level_reasons=fields.texts("levelReasons"),
            asked_because=fields.texts("askedBecause"),
            shows_preview=fields.flag("showPreview"),
            read=fields.parts("read", FileUse.from_json),
            write=fields.parts("write", FileUse.from_json),
            system_files=fields.texts("systemFiles"),
            closed=fields.texts("closed"),
            commands=fields.parts("commands", CommandUse.from_json),
            surface=surface_from_json(fields.value("surface")),
            environment_write=fields.texts("environmentWrite"),
            secrets=fields.texts("secrets"),
            limits=limits_from_json(fields.value("limits")),
            profile=fields.text("profile"),
            view=fields.member("view", View),
            writes=fields.member("writes", Writes),
            estimate=None if estimate is None else Estimate.from_json(estimate),
            impact=None if impact is None else Impact.from_json(impact),
            last_consent=None if last is None else LastConsent.from_json(last),
        )

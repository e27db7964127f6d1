"""Saved capabilities: code with the permission set it runs in, and which set that really is.

A capability is code under a name, with the set that was inferred from it, approved for it, or given
to it by hand. `permission_set` is what is stored; `determine_permission_set` says what it runs in: a
set that was only inferred, and not surely, counts as `minimal` (ESCALATION §set-1, §set-2).

Rules kept: `trusted` is there by hand only, and the hash is that of the code. A value here grants
nothing: the store says what is saved, the sandbox enforces it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Protocol, Self, overload

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass, field, replace
from consentry.decide.capabilitycode import (
    MOST_CODE,
    PREFIX,
    check_code,
    check_name,
    digest_of_code,
    subject_of,
)
from consentry.decide.fields import (
    Fields,
    check_digest,
    check_id_field,
    check_not_before,
    check_texts,
    check_words,
    problem,
)
from consentry.decide.identity import Identity
from consentry.examine.inference.inferred import Inferred, Language
from consentry.surface.permission_sets import PermissionSet

__all__ = [
    "FIELDS",
    "HEAD_FIELDS",
    "MOST_CODE",
    "PERMISSION_CONFIDENCE_THRESHOLD",
    "PREFIX",
    "Capabilities",
    "Capability",
    "CapabilityHead",
    "Inferred",
    "Language",
    "PermissionSource",
    "check_code",
    "check_language",
    "check_name",
    "determine_permission_set",
    "digest_of_code",
]

PERMISSION_CONFIDENCE_THRESHOLD: Final = 0.7
"""What was inferred with less than this runs as `minimal`."""

FIELDS: Final = (
    "id",
    "name",
    "language",
    "code",
    "codeHash",
    "version",
    "permissionSet",
    "permissionConfidence",
    "permissionSource",
    "detectedPatterns",
    "createdAt",
    "updatedAt",
)
HEAD_FIELDS: Final = tuple(name for name in FIELDS if name != "code")


class PermissionSource(StrEnum):
    """Where the set of a capability comes from."""

    EMERGENT = "emergent"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class CapabilityHead:
    """All of a saved capability but its code, which may be much."""

    capability_id: str
    name: str
    language: Language
    code_hash: Digest
    version: int
    permission_set: PermissionSet
    permission_confidence: float
    permission_source: PermissionSource
    detected_patterns: tuple[str, ...]
    created_at: Instant
    updated_at: Instant

    def __post_init__(self) -> None:
        check_id_field("id", self.capability_id, PREFIX)
        check_name(self.name)
        check_digest("codeHash", self.code_hash)
        if self.version < 1:
            raise problem("version", "versions count from 1")
        if not 0 <= self.permission_confidence <= 1:
            raise problem("permissionConfidence", "this is not a number from 0 to 1")
        if (
            self.permission_set is PermissionSet.TRUSTED
            and self.permission_source is not PermissionSource.MANUAL
        ):
            raise problem("permissionSet", f"`{self.permission_set}` is set by hand only")
        check_texts("detectedPatterns", self.detected_patterns)
        check_not_before("updatedAt", self.updated_at, self.created_at)

    @property
    def subject(self) -> str:
        """What a question, a permit and a record about it name."""
        return subject_of(self.capability_id)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded."""
        return {
            "id": self.capability_id,
            "name": self.name,
            "language": self.language.value,
            "codeHash": self.code_hash,
            "version": self.version,
            "permissionSet": self.permission_set.value,
            "permissionConfidence": self.permission_confidence,
            "permissionSource": self.permission_source.value,
            "detectedPatterns": list(self.detected_patterns),
            "createdAt": str(self.created_at),
            "updatedAt": str(self.updated_at),
        }

    @classmethod
    def from_json(cls, document: object) -> Self:
        """Reads what `to_json` writes."""
        return cls(**_read(Fields(document, HEAD_FIELDS)))


@dataclass(frozen=True, slots=True)
class Capability(CapabilityHead):
    """One saved version of a capability, under the set it has now."""

    code: str = field(repr=False)

    def __post_init__(self) -> None:
        # By its name: a slotted class is made anew, and `super()` would look for the old one.
        CapabilityHead.__post_init__(self)
        check_words("code", self.code)
        if self.code_hash != digest_of_code(self.code):
            raise problem("codeHash", "this is not the hash of the code")

    def with_set(
        self,
        permission_set: PermissionSet,
        confidence: float,
        source: PermissionSource,
        now: Instant,
    ) -> "Capability":
        """The same version of the code, in another set."""
        return replace(
            self,
            permission_set=permission_set,
            permission_confidence=confidence,
            permission_source=source,
            updated_at=max(now, self.updated_at),
        )

    def with_code(
        self, language: Language, code: str, found: Inferred, now: Instant
    ) -> "Capability":
        """The next version, in the set that was inferred from its code."""
        return replace(
            self,
            language=language,
            code=code,
            code_hash=digest_of_code(code),
            version=self.version + 1,
            permission_set=found.permission_set,
            permission_confidence=found.confidence,
            permission_source=PermissionSource.EMERGENT,
            detected_patterns=found.detected_patterns,
            updated_at=max(now, self.updated_at),
        )

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded: the payload of `workflow.pattern.saved`."""
        said = {**CapabilityHead.to_json(self), "code": self.code}
        return {name: said[name] for name in FIELDS}

    @classmethod
    def from_json(cls, document: object) -> Self:
        """Reads what `to_json` writes."""
        fields = Fields(document, FIELDS)
        return cls(**_read(fields), code=fields.text("code"))


def _read(fields: Fields) -> dict[str, Any]:
    return {
        "capability_id": fields.text("id"),
        "name": fields.text("name"),
        "language": fields.member("language", Language),
        "code_hash": fields.digest("codeHash"),
        "version": fields.whole("version"),
        "permission_set": fields.member("permissionSet", PermissionSet),
        "permission_confidence": _share(fields, "permissionConfidence"),
        "permission_source": fields.member("permissionSource", PermissionSource),
        "detected_patterns": fields.texts("detectedPatterns"),
        "created_at": fields.instant("createdAt"),
        "updated_at": fields.instant("updatedAt"),
    }


def _share(fields: Fields, name: str) -> float:
    # Canonical JSON writes 1.0 as 1: both are numbers.
    found = fields.value(name)
    if not isinstance(found, int | float) or isinstance(found, bool):
        raise problem(name, "this is not a number")
    return float(found)


def check_language(language: str) -> Language:
    """Returns the language of that name, or raises `capability-code`."""
    try:
        return Language(language)
    except ValueError:
        message = f"`{language}` is not one of {', '.join(Language)}"
        raise UsageProblem(Code.CAPABILITY_CODE, message) from None


@overload
def determine_permission_set(capability: CapabilityHead, /) -> PermissionSet: ...


@overload
def determine_permission_set(
    *, permission_set: PermissionSet, confidence: float, source: PermissionSource
) -> PermissionSet: ...


def determine_permission_set(
    capability: CapabilityHead | None = None,
    /,
    *,
    permission_set: PermissionSet = PermissionSet.MINIMAL,
    confidence: float = 0.0,
    source: PermissionSource = PermissionSource.EMERGENT,
) -> PermissionSet:
    """The set that a capability runs in: the stored one, or `minimal` where that is a mere guess.

    Takes a capability, or what it has stored about its set.
    """
    if capability is not None:
        permission_set = capability.permission_set
        confidence = capability.permission_confidence
        source = capability.permission_source
    if source is PermissionSource.MANUAL:
        return permission_set
    is_sure = confidence >= PERMISSION_CONFIDENCE_THRESHOLD
    is_by_hand_only = permission_set is PermissionSet.TRUSTED
    return permission_set if is_sure and not is_by_hand_only else PermissionSet.MINIMAL


class Capabilities(Protocol):
    """Where capabilities are kept: what saving, finding and asking need of it."""

    def save(
        self,
        name: str,
        language: Language,
        code: str,
        inferred: Inferred,
        *,
        by: Identity,
        set_by_hand: PermissionSet | None = None,
    ) -> Capability:
        """Saves the code under the name; the same code stays as it is, other code is a new version."""
        ...

    def find(self, capability_id: str) -> Capability | None:
        """The capability with this id, as it is now."""
        ...

    def named(self, name: str) -> Capability | None:
        """The capability of this name, as it is now."""
        ...

    def names(self) -> Mapping[str, str]:
        """Of all of them the names, by id; without their code, which may be much."""
        ...

"""Consents: a person's recorded yes for a tool at a digest and a surface, and when it holds.

A consent for once binds the arguments and is used once. One that is remembered binds tool, version,
digest, surface and machine, and lasts for the session, until a time, or until one of those changes.
It holds when what is needed now is covered by what was consented to (`needed <= consented`); where
it does not hold, `why_not` names the nearest miss, so that a person who is asked again knows why.
After a change of policy a remembered consent holds only if the new policy allows its whole surface.

A consent says what a person agreed to. It starts nothing: a permit does, and is made from it.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.values import dataclass, field, replace
from consentry.decide.fields import (
    Fields,
    as_json,
    check_digest,
    check_id_field,
    check_not_before,
    check_pair,
    check_text,
    check_texts,
    problem,
)
from consentry.decide.identity import Identity, check_identity, check_person
from consentry.decide.lasting import Lasts, check_end
from consentry.decide.machine import MachineScope, check_scope
from consentry.decide.session import PREFIX as SESSION_PREFIX
from consentry.record.auditfields import ConsentMethod
from consentry.surface.lattice import Surface
from consentry.surface.wire import surface_from_json, surface_to_json

PREFIX: Final = "consent"


_A_PERSONS_YES = (
    ConsentMethod.EXPLICIT_APPROVAL,
    ConsentMethod.STRICT_APPROVAL,
    ConsentMethod.BATCH_APPROVAL,
)


@dataclass(frozen=True, slots=True)
class ConsentTerms:
    """What a person says yes to, and for how long."""

    tool: str
    version: str
    digest: Digest
    surface: Surface = field(repr=False)
    lasts: Lasts
    machine_scope: MachineScope
    method: ConsentMethod
    given_by: Identity
    arguments: tuple[str, ...] | None = None
    session_id: str | None = None
    expires_at: Instant | None = None
    policy_hash: Digest | None = None
    request_id: str | None = None

    def __post_init__(self) -> None:
        check_text("tool", self.tool)
        check_text("version", self.version)
        check_digest("digest", self.digest)
        check_scope("machineScope", self.machine_scope)
        check_person("givenBy", self.given_by)
        check_id_field("sessionId", self.session_id, SESSION_PREFIX)
        check_digest("policyHash", self.policy_hash)
        check_id_field("requestId", self.request_id, "request")
        check_end("expiresAt", self.lasts, self.expires_at)
        check_texts("arguments", self.arguments or ())
        if (self.lasts is Lasts.ONCE) != (self.arguments is not None):
            raise problem("arguments", "a consent for once binds its arguments, and no other does")
        if self.lasts is Lasts.SESSION and self.session_id is None:
            raise problem("sessionId", "a consent for the session names it")
        if self.method not in _A_PERSONS_YES:
            raise problem("method", f"`{self.method}` leaves no consent to be kept")


FIELDS: Final = (
    "consentId",
    "tool",
    "version",
    "digest",
    "surface",
    "arguments",
    "lasts",
    "sessionId",
    "expiresAt",
    "machineScope",
    "policyHash",
    "method",
    "requestId",
    "givenBy",
    "givenAt",
    "revokedBy",
    "revokedAt",
    "usedAt",
)


@dataclass(frozen=True, slots=True)
class Consent:
    """Terms that a person agreed to, and what became of them."""

    consent_id: str
    terms: ConsentTerms
    given_at: Instant
    revoked_by: Identity | None = None
    revoked_at: Instant | None = None
    used_at: Instant | None = None

    def __post_init__(self) -> None:
        check_id_field("consentId", self.consent_id, PREFIX)
        check_not_before("expiresAt", self.terms.expires_at, self.given_at)
        check_pair("revokedBy", self.revoked_by, "revokedAt", self.revoked_at)
        if self.revoked_by is not None:
            check_identity("revokedBy", self.revoked_by)
        if self.used_at is not None and self.terms.lasts is not Lasts.ONCE:
            raise problem("usedAt", "only a consent for once is used up")
        check_not_before("revokedAt", self.revoked_at, self.given_at)
        check_not_before("usedAt", self.used_at, self.given_at)

    def revoked(self, by: Identity, now: Instant) -> "Consent":
        """The same consent, taken back."""
        return replace(self, revoked_by=by, revoked_at=max(now, self.given_at))

    def used(self, now: Instant) -> "Consent":
        """The same consent, used up."""
        return replace(self, used_at=max(now, self.given_at))

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded."""
        terms = self.terms
        return {
            "consentId": self.consent_id,
            "tool": terms.tool,
            "version": terms.version,
            "digest": terms.digest,
            "surface": surface_to_json(terms.surface),
            "arguments": None if terms.arguments is None else list(terms.arguments),
            "lasts": terms.lasts.value,
            "sessionId": terms.session_id,
            "expiresAt": as_json(terms.expires_at),
            "machineScope": terms.machine_scope,
            "policyHash": terms.policy_hash,
            "method": terms.method.value,
            "requestId": terms.request_id,
            "givenBy": terms.given_by,
            "givenAt": str(self.given_at),
            "revokedBy": self.revoked_by,
            "revokedAt": as_json(self.revoked_at),
            "usedAt": as_json(self.used_at),
        }

    @classmethod
    def from_json(cls, document: object) -> "Consent":
        """Reads what `to_json` writes."""
        fields = Fields(document, FIELDS)
        revoked_by = fields.optional_text("revokedBy")
        return cls(
            consent_id=fields.text("consentId"),
            terms=_terms(fields),
            given_at=fields.instant("givenAt"),
            revoked_by=None if revoked_by is None else Identity(revoked_by),
            revoked_at=fields.optional_instant("revokedAt"),
            used_at=fields.optional_instant("usedAt"),
        )


def _terms(fields: Fields) -> ConsentTerms:
    return ConsentTerms(
        tool=fields.text("tool"),
        version=fields.text("version"),
        digest=fields.digest("digest"),
        surface=surface_from_json(fields.value("surface")),
        lasts=fields.member("lasts", Lasts),
        machine_scope=check_scope("machineScope", fields.text("machineScope")),
        method=fields.member("method", ConsentMethod),
        given_by=Identity(fields.text("givenBy")),
        arguments=fields.optional_texts("arguments"),
        session_id=fields.optional_text("sessionId"),
        expires_at=fields.optional_instant("expiresAt"),
        policy_hash=fields.optional_digest("policyHash"),
        request_id=fields.optional_text("requestId"),
    )


class Consents(Protocol):
    """Where consents are kept."""

    def give(self, terms: ConsentTerms) -> Consent:
        """Records the yes; a request gives one consent for each of its tools, once."""
        ...

    def use(self, consent_id: str) -> Consent:
        """Uses up a consent for once; refused to all but the first."""
        ...

    def revoke(self, consent_id: str, by: Identity) -> Consent:
        """Takes it back; one that was revoked before stays as it was."""
        ...

    def find(self, consent_id: str) -> Consent | None:
        """The consent with this id."""
        ...

    def open(self, tool: str) -> Sequence[Consent]:
        """The tool's consents, newest first, without those used, revoked or of an ended session."""
        ...

    def recent(self, tool: str, most: int) -> Sequence[Consent]:
        """The tool's last consents, newest first, whatever became of them."""
        ...

    def history(
        self, *, session_id: str | None = None, tool: str | None = None
    ) -> Sequence[Consent]:
        """All that were ever given, oldest first, of that session and tool where named."""
        ...

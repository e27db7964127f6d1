"""Grants: a stored yes for one catalog capability of one version of one module (MODULES §grants).

Deny is the default. A grant holds in one host, for the very module version and package digest it was
given for, under the major version of the catalog it was given under, in the session it names if it is
for a session, and until it is revoked. What does not hold has one of two names:
`capability-not-granted` when there is nothing, `capability-grant-stale` when there is a grant that a
change has voided or that went with its session. No grant implies another, and none is ever given or
widened silently.

Another version of the module, or the same one with other content, voids its grants for good (MODULES
§grant-2): going back finds them void. A void grant is one that `system` revoked, which no person can
have done. What was granted in one host says nothing in another.
"""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, Protocol

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.values import dataclass, replace
from consentry.decide.fields import (
    Fields,
    as_json,
    check_digest,
    check_id_field,
    check_not_before,
    check_pair,
    check_text,
    problem,
)
from consentry.decide.identity import SYSTEM, Identity, Role, check_identity, check_role
from consentry.decide.session import PREFIX as SESSION_PREFIX
from consentry.surface.catalog import CapabilityCatalog

PREFIX: Final = "grant"
REQUEST_PREFIX: Final = "request"

MODULE_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{2,63}", re.ASCII)
FIELDS: Final = (
    "grantId",
    "hostId",
    "moduleId",
    "moduleVersion",
    "packageDigest",
    "capabilityId",
    "scope",
    "grantVersion",
    "sessionId",
    "givenBy",
    "givenRole",
    "givenAt",
    "requestId",
    "revokedBy",
    "revokedAt",
)


class GrantScope(StrEnum):
    """How long a grant is meant to last."""

    SESSION = "session"
    PERSISTENT = "persistent"


class GrantLack(StrEnum):
    """Why a capability may not be used; the values are the reject codes of MODULES."""

    NOT_GRANTED = "capability-not-granted"
    STALE = "capability-grant-stale"


@dataclass(frozen=True, slots=True)
class GrantTerms:
    """Which capability of which module version in which host, for how long, and who says so.

    `request_id` is the question that it answers.
    """

    host_id: str
    module_id: str
    module_version: str
    package_digest: Digest
    capability_id: str
    scope: GrantScope
    given_by: Identity
    given_role: Role
    session_id: str | None = None
    request_id: str | None = None

    def __post_init__(self) -> None:
        if MODULE_ID.fullmatch(self.host_id) is None:
            raise problem("hostId", f"`{self.host_id}` is not the id of a host")
        if MODULE_ID.fullmatch(self.module_id) is None:
            raise problem("moduleId", f"`{self.module_id}` is not the id of a module")
        check_text("moduleVersion", self.module_version)
        check_digest("packageDigest", self.package_digest)
        check_id_field("requestId", self.request_id, REQUEST_PREFIX)
        check_text("capabilityId", self.capability_id)
        check_role("givenRole", check_identity("givenBy", self.given_by), self.given_role)
        if self.given_role is Role.VIEWER:
            raise problem("givenRole", "a viewer grants nothing")
        check_id_field("sessionId", self.session_id, SESSION_PREFIX)
        if (self.scope is GrantScope.SESSION) != (self.session_id is not None):
            raise problem("sessionId", "a grant for a session names it, and no other does")


@dataclass(frozen=True, slots=True)
class Grant:
    """Terms that somebody granted, under a version of the catalog, and whether they still stand."""

    grant_id: str
    terms: GrantTerms
    grant_version: str
    given_at: Instant
    revoked_by: Identity | None = None
    revoked_at: Instant | None = None

    def __post_init__(self) -> None:
        check_id_field("grantId", self.grant_id, PREFIX)
        check_text("grantVersion", self.grant_version)
        check_pair("revokedBy", self.revoked_by, "revokedAt", self.revoked_at)
        if self.revoked_by is not None:
            check_identity("revokedBy", self.revoked_by)
        check_not_before("revokedAt", self.revoked_at, self.given_at)

    def revoked(self, by: Identity, now: Instant) -> "Grant":
        """The same grant, taken back."""
        return replace(self, revoked_by=by, revoked_at=max(now, self.given_at))

    def voided(self, now: Instant) -> "Grant":
        """The same grant, after another version of its module came."""
        return self.revoked(SYSTEM, now)

    @property
    def is_void(self) -> bool:
        """Whether a change of the module ended it, and not a person."""
        return self.revoked_by == SYSTEM

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded."""
        terms = self.terms
        return {
            "grantId": self.grant_id,
            "hostId": terms.host_id,
            "moduleId": terms.module_id,
            "moduleVersion": terms.module_version,
            "packageDigest": terms.package_digest,
            "capabilityId": terms.capability_id,
            "scope": terms.scope.value,
            "grantVersion": self.grant_version,
            "sessionId": terms.session_id,
            "givenBy": terms.given_by,
            "givenRole": terms.given_role.value,
            "givenAt": str(self.given_at),
            "requestId": terms.request_id,
            "revokedBy": self.revoked_by,
            "revokedAt": as_json(self.revoked_at),
        }

    @classmethod
    def from_json(cls, document: object) -> "Grant":
        """Reads what `to_json` writes."""
        fields = Fields(document, FIELDS)
        revoked_by = fields.optional_text("revokedBy")
        terms = GrantTerms(
            host_id=fields.text("hostId"),
            module_id=fields.text("moduleId"),
            module_version=fields.text("moduleVersion"),
            package_digest=fields.digest("packageDigest"),
            capability_id=fields.text("capabilityId"),
            scope=fields.member("scope", GrantScope),
            given_by=Identity(fields.text("givenBy")),
            given_role=fields.member("givenRole", Role),
            session_id=fields.optional_text("sessionId"),
            request_id=fields.optional_text("requestId"),
        )
        return cls(
            grant_id=fields.text("grantId"),
            terms=terms,
            grant_version=fields.text("grantVersion"),
            given_at=fields.instant("givenAt"),
            revoked_by=None if revoked_by is None else Identity(revoked_by),
            revoked_at=fields.optional_instant("revokedAt"),
        )


@dataclass(frozen=True, slots=True)
class GrantNeed:
    """What an action of a module is about to use."""

    host_id: str
    module_id: str
    module_version: str
    package_digest: Digest
    capability_id: str
    session_id: str | None = None


def granted(terms: GrantTerms, grant_id: str, catalog: CapabilityCatalog, now: Instant) -> Grant:
    """A fresh grant under that catalog; a capability that is not in it is refused."""
    if catalog.find(terms.capability_id) is None:
        raise problem("capabilityId", f"`{terms.capability_id}` is not in the catalog")
    return Grant(grant_id, terms, catalog.version, now)


def grant_for(
    grants: Iterable[Grant],
    need: GrantNeed,
    catalog: CapabilityCatalog,
    expired: Iterable[Grant] = (),
) -> Grant | GrantLack:
    """The grant that holds, or why none does; the sessions of those in `expired` are over."""
    standing = [grant for grant in grants if _is_about(grant, need)]
    for grant in standing:
        terms = grant.terms
        is_same_content = (terms.module_version, terms.package_digest) == (
            need.module_version,
            need.package_digest,
        )
        if (
            is_same_content
            and not grant.is_void
            and not catalog.voids_grants_of(grant.grant_version)
        ):
            return grant
    is_stale = standing or any(_is_of(grant, need) for grant in expired)
    return GrantLack.STALE if is_stale else GrantLack.NOT_GRANTED


def _is_about(grant: Grant, need: GrantNeed) -> bool:
    terms = grant.terms
    is_lasting = terms.scope is GrantScope.PERSISTENT
    return _is_of(grant, need) and (is_lasting or terms.session_id == need.session_id)


def _is_of(grant: Grant, need: GrantNeed) -> bool:
    """Whether it was given for that capability of that module, and nobody took it back."""
    terms = grant.terms
    return (
        (grant.revoked_at is None or grant.is_void)
        and terms.host_id == need.host_id
        and terms.module_id == need.module_id
        and terms.capability_id == need.capability_id
    )


class Grants(Protocol):
    """Where grants are kept."""

    def give(self, terms: GrantTerms) -> Grant:
        """Records the yes; the same one that still stands is returned as it is.

        Grants of other versions and contents of the module are void from then on.
        """
        ...

    def revoke(self, grant_id: str, by: Identity) -> Grant:
        """Takes it back; one that was revoked before stays as it was."""
        ...

    def active(self, need: GrantNeed) -> Grant | GrantLack:
        """The grant that holds for this need, or why none does."""
        ...

    def find(self, grant_id: str) -> Grant | None:
        """The grant with this id."""
        ...

    def of_module(self, module_id: str) -> Sequence[Grant]:
        """All that were ever given to a module, oldest first."""
        ...

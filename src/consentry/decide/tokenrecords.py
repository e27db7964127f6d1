"""What the ledger knows of a capability token, and whether the one in hand may be used now.

A token is audit + lint: any code that imports its type can make one that looks like another. What an
operation asks is therefore not "is this a token?" but "was this minted?": the ledger has to have the same
content under the same id. Nothing here reads a clock or a store; a store asks inside the transaction
that records the use.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.base.values import dataclass
from consentry.decide.budgets import Budget, UseKind
from consentry.decide.consent import Consent
from consentry.decide.fields import (
    Fields,
    as_json,
    check_digest,
    check_id_field,
    check_text,
    problem,
)
from consentry.decide.machine import check_machine_id

PREFIX: Final = "token"
LONGEST_LIFE: Final = Duration(12 * 3_600_000)
USUAL_LIFE: Final = Duration(3_600_000)

FIELDS: Final = (
    "tokenId",
    "capability",
    "workflow",
    "workspace",
    "tool",
    "machineId",
    "consentId",
    "grantId",
    "partOf",
    "digest",
    "scope",
    "mintedAt",
    "expiresAt",
)


@dataclass(frozen=True, slots=True)
class MintedToken:
    """A token as it was minted: what it says of itself, and the digest of all of that.

    It names the consent or the grant it was minted against; grants come with the modules. `part_of` is
    the bundle that it was minted with.
    """

    token_id: str
    capability: str
    workflow: str
    workspace: str
    tool: str | None
    machine_id: str
    consent_id: str | None
    grant_id: str | None
    part_of: str | None
    digest: Digest
    scope: dict[str, Json]
    minted_at: Instant
    expires_at: Instant

    def __post_init__(self) -> None:
        check_id_field("tokenId", self.token_id, PREFIX)
        check_id_field("partOf", self.part_of, PREFIX)
        for name, value in (("workflow", self.workflow), ("workspace", self.workspace)):
            check_text(name, value)
        check_machine_id("machineId", self.machine_id)
        check_digest("digest", self.digest)
        if (self.consent_id is None) is (self.grant_id is None):
            raise problem("consentId", "a token is minted against one consent or one grant")
        if not self.minted_at < self.expires_at <= self.minted_at.plus(LONGEST_LIFE):
            raise problem(
                "expiresAt", f"a token lives more than nothing and at most {LONGEST_LIFE}"
            )

    def to_json(self) -> dict[str, Json]:
        """The fields as an event has them."""
        return {
            "tokenId": self.token_id,
            "capability": self.capability,
            "workflow": self.workflow,
            "workspace": self.workspace,
            "tool": self.tool,
            "machineId": self.machine_id,
            "consentId": self.consent_id,
            "grantId": self.grant_id,
            "partOf": self.part_of,
            "digest": self.digest,
            "scope": self.scope,
            "mintedAt": str(self.minted_at),
            "expiresAt": str(self.expires_at),
        }

    @classmethod
    def from_json(cls, document: object) -> "MintedToken":
        """Reads what `to_json` writes."""
        fields = Fields(document, FIELDS)
        scope = fields.value("scope")
        if not isinstance(scope, dict):
            raise problem("scope", "is no object")
        return cls(
            token_id=fields.text("tokenId"),
            capability=fields.text("capability"),
            workflow=fields.text("workflow"),
            workspace=fields.text("workspace"),
            tool=fields.optional_text("tool"),
            machine_id=fields.text("machineId"),
            consent_id=fields.optional_text("consentId"),
            grant_id=fields.optional_text("grantId"),
            part_of=fields.optional_text("partOf"),
            digest=fields.digest("digest"),
            scope=scope,
            minted_at=fields.instant("mintedAt"),
            expires_at=fields.instant("expiresAt"),
        )


@dataclass(frozen=True, slots=True)
class TokenTold:
    """A minted token, how often it was used, and when last."""

    token: MintedToken
    uses: int
    used_at: Instant | None

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {**self.token.to_json(), "uses": self.uses, "usedAt": as_json(self.used_at)}


@dataclass(frozen=True, slots=True)
class TokenUse:
    """An operation that somebody is about to do with the token in hand, as that says of itself."""

    token_id: str
    capability: str
    workflow: str
    digest: Digest
    kind: UseKind
    operation: str
    target: str | None

    def to_json(self) -> dict[str, Json]:
        """The payload of `CapabilityUsed`."""
        return {
            "tokenId": self.token_id,
            "capability": self.capability,
            "workflow": self.workflow,
            "kind": self.kind.value,
            "operation": self.operation,
            "target": self.target,
        }


def require_minted(
    use: TokenUse, minted: MintedToken | None, machine_id: str, now: Instant
) -> MintedToken:
    """The token as it was minted; raises `token-refused` unless it is the one in hand, here and now."""
    if minted is None:
        raise refused(use.token_id, "was never minted")
    if (minted.digest, minted.capability, minted.workflow) != (
        use.digest,
        use.capability,
        use.workflow,
    ):
        raise refused(use.token_id, "was minted with other content than it has now")
    if minted.machine_id != machine_id:
        raise refused(use.token_id, f"is for `{minted.machine_id}`, and this is `{machine_id}`")
    if now > minted.expires_at:
        raise refused(use.token_id, f"expired at {minted.expires_at.shown()}")
    if now < minted.minted_at:
        # Otherwise a clock set back would let it live longer.
        made, present = minted.minted_at.shown(), now.shown()
        raise refused(use.token_id, f"was minted at {made}, after the present {present}")
    return minted


def refused(token_id: str, why: str) -> Refused:
    """The refusal of a use; nothing was done."""
    return Refused(Code.TOKEN_REFUSED, f"`{token_id}` {why}, so nothing was done")


class MintRecords(Protocol):
    """Where tokens are recorded when they are minted."""

    @property
    def machine_id(self) -> str:
        """The machine that this program runs on."""
        ...

    def now(self) -> Instant:
        """The present."""
        ...

    def new_id(self) -> str:
        """The id of a token that is about to be minted."""
        ...

    def consent(self, consent_id: str) -> Consent | None:
        """The consent with this id, as it stands."""
        ...

    def record(self, minted: Sequence[MintedToken], budget: Budget) -> None:
        """Records the tokens of one call, all against the same consent, and the workflow's limits.

        In the same transaction the consent is held again, used up where it was for once, and no limit
        is raised; where any of that fails, nothing is recorded.
        """
        ...

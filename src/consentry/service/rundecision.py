"""What decided that something runs: a person's own line, a consent, a policy, a permission set, or nobody.

Whatever decided it, the run takes the same way from here: this is what the ledger says of the decision,
what the audit entry says of consent, and what is held again in the moment in which the permit is made.
Nothing here decides anything.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.decide.identity import Identity
from consentry.decide.tooldigest import tool_digest
from consentry.declare.policy import PolicyEntry
from consentry.declare.profile import Profile
from consentry.declare.tool import ConsentLevel, ToolManifest
from consentry.enforce.confinement import Confinement
from consentry.record.auditfields import ConsentMethod
from consentry.surface.permission_sets import PermissionSet

if TYPE_CHECKING:
    from consentry.store.tokens import RecordedUse

TOOL: Final = "tool"
BY_SET: Final = "permission_set"
"""What the ledger calls the decision where a stored set is one, and nobody was asked."""


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """The tool that a run is of, and the bytes that were decided about.

    `digest` is the one that was shown and answered; `programs` are the paths of the files that it
    covers, for each program that the manifest names. Without them it is a tool whose programs were
    not found yet, for records of a run that is refused. `profile` is the one that the manifest names.
    """

    manifest: ToolManifest
    digest: Digest | None = None
    programs: tuple[tuple[str, ...], ...] = ()
    profile: Profile | None = None

    @property
    def name(self) -> str:
        """What the tool is called."""
        return self.manifest.name

    @property
    def subject(self) -> str:
        """How records speak of it."""
        return f"{TOOL}:{self.name}"

    @property
    def audit_config(self) -> dict[str, Json]:
        """What its manifest says of keeping and reporting."""
        said = self.manifest.audit
        return {
            "logLevel": said.log_level.value,
            "retainLogs": None if said.retain_logs is None else str(said.retain_logs),
            "includeInReport": said.include_in_report,
        }

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of all files that the digest covers."""
        return tuple(dict.fromkeys(path for each in self.programs for path in each))

    def require_unchanged(self, digests: Mapping[str, Digest]) -> None:
        """Raises unless these digests, by path, are of the bytes that were decided about."""
        found = tool_digest(
            self.manifest.digest, [[digests[path] for path in each] for each in self.programs]
        )
        if found != self.digest:
            raise Refused(
                Code.CONSENT_STALE,
                f"a file of `{self.name}` is not what it was when its run was decided "
                f"(the tool was `{self.digest}`, and is `{found}`), so nothing was started",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class InSet:
    """The code that runs inside a permission set, and which attempt of which execution it is.

    `permission_set` is the one it runs in, `stored_set` the one that is kept for it; of a task's code
    nothing is kept, so it has neither a version nor a stored set.
    """

    capability_id: str
    name: str
    code_hash: Digest
    permission_set: PermissionSet
    execution_id: str
    attempt: int = 1
    version: int | None = None
    stored_set: PermissionSet | None = None
    confidence: float | None = None
    source: str | None = None

    def to_json(self) -> dict[str, Json]:
        """What the ledger says of it."""
        stored = self.stored_set
        return {
            "decision": BY_SET,
            "capabilityId": self.capability_id,
            "version": self.version,
            "permissionSet": self.permission_set.value,
            "storedSet": None if stored is None else stored.value,
            "confidence": self.confidence,
            "source": None if self.source is None else str(self.source),
            "executionId": self.execution_id,
            "attempt": self.attempt,
        }

    def named(self) -> dict[str, Json]:
        """What an audit entry calls it: a version by its number, other code by its bytes."""
        version = self.code_hash if self.version is None else str(self.version)
        return {"name": self.name, "version": version, "digest": self.code_hash}


@dataclass(frozen=True, slots=True)
class UnderToken:
    """The capability token that a run is done with, and what its use adds to the permit's transaction."""

    token_id: str
    use: "Callable[[], RecordedUse]"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDecision:
    """Why something may run, in all that is recorded of it.

    Without `consented_at` the moment of the permit counts: the line is the yes. A `consent_id` names
    a stored consent, which must hold still in the transaction that makes the permit, and is used up
    there if it was for one run. With a token the token's own use is what must hold there: its consent
    was used when it was minted.
    """

    subject: str
    method: ConsentMethod
    consented_at: Instant | None = None
    given_by: Identity | None = None
    consent_id: str | None = None
    request_id: str | None = None
    level: ConsentLevel | None = None
    policy_entry: PolicyEntry | None = None
    policy_hash: Digest | None = None
    reason: str | None = None
    tool: ToolFacts | None = None
    in_set: InSet | None = None
    token: UnderToken | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The files whose bytes it was for, where it was for a tool."""
        return () if self.tool is None else self.tool.files

    def require_unchanged(self, digests: Mapping[str, Digest]) -> None:
        """Raises where it was for a tool at other bytes than these."""
        if self.tool is not None:
            self.tool.require_unchanged(digests)

    def to_json(self) -> dict[str, Json] | None:
        """What the ledger says of it besides subject and method; of a person's own line nothing."""
        said: dict[str, Json] = {
            "level": self.level,
            "consentId": self.consent_id,
            "requestId": self.request_id,
            "givenBy": self.given_by,
            "reason": self.reason,
            "tokenId": None if self.token is None else self.token.token_id,
            "policyEntry": None if self.policy_entry is None else str(self.policy_entry.where),
        }
        if self.tool is not None:
            said |= {
                "version": self.tool.manifest.version,
                "toolDigest": self.tool.digest,
                "auditConfig": self.tool.audit_config,
            }
        if self.in_set is not None:
            said |= self.in_set.to_json()
        return {name: value for name, value in said.items() if value is not None} or None


def by_command_line(confinement: Confinement) -> RunDecision:
    """The decision that a person's own line is; its subject is the program's name."""
    subject = f"program:{confinement.program.path.name}"
    return RunDecision(subject=subject, method=ConsentMethod.COMMAND_LINE)


def by_line_of_code(subject: str) -> RunDecision:
    """The same for a snippet."""
    return RunDecision(subject=subject, method=ConsentMethod.COMMAND_LINE)


def by_permission_set(subject: str, in_set: InSet, *, request_id: str | None = None) -> RunDecision:
    """The decision that a permission set is; `request_id` names the question behind a retry."""
    return RunDecision(
        subject=subject, method=ConsentMethod.NONE, request_id=request_id, in_set=in_set
    )

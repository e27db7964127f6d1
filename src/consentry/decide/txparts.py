"""The parts that an attempt at a transaction is made of: whose it is, who approved it, what went wrong.

An approval binds to one transaction, one attempt, one preview and one revision, and to a span of time. It is
a record of what somebody said; whoever can write the store can write another one.
"""

from enum import StrEnum
from typing import Final

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.units import Duration
from consentry.base.values import dataclass
from consentry.decide.capabilityask import subject_of
from consentry.decide.capabilitycheck import ModuleIdentity, Origin
from consentry.decide.fields import Fields, as_json, check_text, problem
from consentry.decide.identity import Identity, Role, check_identity, check_role
from consentry.decide.session import Leader
from consentry.declare.hostdescription import ApprovalLevel, ApprovalRule

USUAL_TTL: Final = 600
"""For so many seconds an approval counts, where the host says nothing else."""
MOST_TTL: Final = 7 * 24 * 3600
_ERROR_FIELDS: Final = (
    "code",
    "class",
    "safeToRetry",
    "recoveryAction",
    "why",
    "capabilityId",
)
_APPROVAL_FIELDS: Final = (
    "txId",
    "attemptNo",
    "previewHash",
    "baseRevision",
    "approverId",
    "approverRole",
    "decision",
    "decisionAt",
    "approvalTtlSeconds",
    "requestId",
)
_ORIGIN_FIELDS: Final = (
    "hostId",
    "proposedBy",
    "label",
    "module",
    "actionId",
    "actionRunId",
    "origin",
    "commands",
    "needed",
    "sessionId",
    "rule",
)


class Track(StrEnum):
    """Whose transaction it is."""

    HEAVY = "heavy"
    HOST = "host"


class DocumentKeeper(StrEnum):
    """Who keeps the document that an attempt changes, and so who can carry it out.

    What a host keeps in a store of its own is out of reach for everybody else: another program that
    looked for its commits would find none, and take that for the truth.
    """

    BUILT_IN = "built-in"
    HOST = "host"


class Decision(StrEnum):
    """What was decided about a preview."""

    APPROVED = "approved"
    REJECTED = "rejected"


class ErrorClass(StrEnum):
    """Of what kind a failure is."""

    REJECTED = "rejected"
    CONFLICT = "conflict"
    VIOLATION = "violation"
    STORE = "store"
    INTERRUPTED = "interrupted"
    EXPIRED = "expired"


class RecoveryAction(StrEnum):
    """What helps."""

    NONE = "none"
    PREVIEW_AGAIN = "preview-again"
    APPLY_AGAIN = "apply-again"
    RECONCILE = "reconcile"
    RESOLVE = "resolve"


@dataclass(frozen=True, slots=True)
class TxError:
    """What went wrong with an attempt; `why` and the capability are for people and stand in no event."""

    code: str
    kind: ErrorClass
    safe_to_retry: bool
    action: RecoveryAction
    why: str = ""
    capability_id: str | None = None

    def to_json(self) -> dict[str, Json]:
        """As the event has it."""
        return {
            "code": self.code,
            "class": self.kind.value,
            "safeToRetry": self.safe_to_retry,
            "recoveryAction": self.action.value,
        }

    def kept(self) -> dict[str, Json]:
        """As an attempt keeps it."""
        return {**self.to_json(), "why": self.why, "capabilityId": self.capability_id}

    @classmethod
    def from_json(cls, document: object) -> "TxError":
        """Reads what an attempt keeps."""
        fields = Fields(document, _ERROR_FIELDS)
        return cls(
            fields.text("code"),
            fields.member("class", ErrorClass),
            fields.flag("safeToRetry"),
            fields.member("recoveryAction", RecoveryAction),
            fields.text("why"),
            fields.optional_text("capabilityId"),
        )


@dataclass(frozen=True, slots=True)
class Approval:
    """A decision about one preview of one attempt at one revision, for some time."""

    tx_id: str
    attempt_no: int
    preview_hash: Digest
    base_revision: str
    approver_id: Identity
    approver_role: Role
    decision: Decision
    decision_at: Instant
    ttl_seconds: int
    request_id: str | None = None

    def __post_init__(self) -> None:
        check_role(
            "approverRole", check_identity("approverId", self.approver_id), self.approver_role
        )
        check_ttl(self.ttl_seconds)

    @property
    def expires_at(self) -> Instant:
        """From then on it counts for nothing."""
        return self.decision_at.plus(Duration(self.ttl_seconds * 1000))

    def to_json(self) -> dict[str, Json]:
        """As the event has it."""
        return {
            "txId": self.tx_id,
            "attemptNo": self.attempt_no,
            "previewHash": self.preview_hash,
            "baseRevision": self.base_revision,
            "approverId": self.approver_id,
            "approverRole": self.approver_role.value,
            "decision": self.decision.value,
            "decisionAt": str(self.decision_at),
            "approvalTtlSeconds": self.ttl_seconds,
            "requestId": self.request_id,
        }

    @classmethod
    def from_json(cls, document: object) -> "Approval":
        """Reads what `to_json` writes."""
        fields = Fields(document, _APPROVAL_FIELDS)
        return cls(
            fields.text("txId"),
            fields.whole("attemptNo"),
            fields.digest("previewHash"),
            fields.text("baseRevision"),
            Identity(fields.text("approverId")),
            fields.member("approverRole", Role),
            fields.member("decision", Decision),
            fields.instant("decisionAt"),
            fields.whole("approvalTtlSeconds"),
            fields.optional_text("requestId"),
        )


@dataclass(frozen=True, slots=True)
class TxOrigin:
    """Who wants the change: an action of a module, or the application on behalf of its person.

    `rule` is what the commands say about approval; where there is none, what was granted is enough. The
    application's own changes are the person's, who saw what they did.
    """

    host_id: str
    proposed_by: Identity
    label: str
    module: ModuleIdentity | None = None
    action_id: str | None = None
    action_run_id: str | None = None
    origin: Origin = Origin.INTERACTIVE
    commands: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    session_id: str | None = None
    rule: ApprovalRule | None = None

    def __post_init__(self) -> None:
        check_text("label", self.label)
        check_text("hostId", self.host_id)
        check_identity("proposedBy", self.proposed_by)

    @property
    def track(self) -> Track:
        """Whose it is."""
        return Track.HOST if self.module is None else Track.HEAVY

    @property
    def subject(self) -> str:
        """Who asks; never the person who clicked."""
        return f"host:{self.host_id}" if self.module is None else subject_of(self.module.module_id)

    @property
    def approval_required(self) -> bool:
        """Whether a person has to look at the preview: the plan says so, never the caller."""
        return self.rule is not None

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept."""
        return {
            "hostId": self.host_id,
            "proposedBy": self.proposed_by,
            "label": self.label,
            "module": None if self.module is None else self.module.to_json(),
            "actionId": self.action_id,
            "actionRunId": self.action_run_id,
            "origin": self.origin.value,
            "commands": list(self.commands),
            "needed": list(self.needed),
            "sessionId": self.session_id,
            "rule": None if self.rule is None else self.rule.to_json(),
        }

    @classmethod
    def from_json(cls, document: object) -> "TxOrigin":
        """Reads what `to_json` writes."""
        fields = Fields(document, _ORIGIN_FIELDS)
        return cls(
            host_id=fields.text("hostId"),
            proposed_by=Identity(fields.text("proposedBy")),
            label=fields.text("label"),
            module=_module(fields.value("module")),
            action_id=fields.optional_text("actionId"),
            action_run_id=fields.optional_text("actionRunId"),
            origin=fields.member("origin", Origin),
            commands=fields.texts("commands"),
            needed=fields.texts("needed"),
            session_id=fields.optional_text("sessionId"),
            rule=read_rule(fields.value("rule")),
        )


@dataclass(frozen=True, slots=True)
class Worker:
    """The process that carries an attempt out, on its machine; and until when that is believed."""

    machine_id: str
    process: Leader
    until: Instant

    def to_json(self) -> dict[str, Json]:
        """The fields as they are kept."""
        return {
            "machineId": self.machine_id,
            "process": self.process.to_json(),
            "until": as_json(self.until),
        }

    @classmethod
    def from_json(cls, document: object) -> "Worker":
        """Reads what `to_json` writes."""
        fields = Fields(document, ("machineId", "process", "until"))
        process = Leader.from_json(fields.value("process"))
        return cls(fields.text("machineId"), process, fields.instant("until"))


def check_ttl(seconds: int) -> None:
    """Raises where an approval cannot last so long."""
    if not 1 <= seconds <= MOST_TTL:
        raise problem("approvalTtlSeconds", f"an approval lasts 1 to {MOST_TTL:,} seconds")


def read_rule(document: object) -> ApprovalRule | None:
    """A rule as an attempt or a question keeps it; None where there is none."""
    if document is None:
        return None
    fields = Fields(document, ("reason", "level", "approver"))
    level = fields.member("level", ApprovalLevel)
    return ApprovalRule(fields.text("reason"), level, fields.optional_text("approver"))


def _module(document: object) -> ModuleIdentity | None:
    if document is None:
        return None
    fields = Fields(document, ("hostId", "moduleId", "moduleVersion", "packageDigest"))
    return ModuleIdentity(
        fields.text("hostId"),
        fields.text("moduleId"),
        fields.text("moduleVersion"),
        fields.digest("packageDigest"),
    )

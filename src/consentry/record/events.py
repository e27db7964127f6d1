"""The names of the events the ledger holds, each with the fields its payload must carry.

One vocabulary for every room; names and fields are the documents' own (MODULES §audit, TRUST,
CONSENT §audit, GUARD §5, ESCALATION AC7, CONTRACTS §3) where they have them. Every event carries
`evidenceChannel` and the other envelope fields besides; those are the ledger's business and are not
repeated here. `docs/reference/events.md` is generated from this table.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Self

from consentry.record import (
    eventfields,
    lifecyclefields,
    modulefields,
    signingfields,
    signofffields,
    transactionfields,
)
from consentry.record.auditfields import TOOL_AUDIT
from consentry.record.fieldrules import Field, Kind, leaves
from consentry.record.verdictfields import GUARD_VERDICT


class EventGroup(StrEnum):
    """What an event is about; the reference has one section for each."""

    MODULES = "modules"
    TRUST = "trust"
    TOOLS = "tools"
    GUARD = "guard"
    ESCALATION = "escalation"
    TRANSACTIONS = "transactions"
    SIGNOFF = "signoff"
    APPROVALS = "approvals"
    CONSENTS = "consents"
    ACCEPTANCES = "acceptances"
    SIGNING = "signing"
    HOSTS = "hosts"
    GRANTS = "grants"
    PERMITS = "permits"
    SESSIONS = "sessions"
    MACHINES = "machines"
    LEDGER = "ledger"


class EventType(StrEnum):
    """An event's type, as stored; `shape` is what its payload must be, `fields` their names."""

    group: EventGroup
    meaning: str
    shape: Kind
    fields: tuple[str, ...]

    def __new__(cls, name: str, group: EventGroup, shape: Kind, meaning: str) -> Self:
        """A member is its own stored name; the rest of the row hangs on it."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.group = group
        member.meaning = meaning
        member.shape = shape
        member.fields = tuple(field.name for field in shape.fields)
        return member

    def places(self) -> Iterator[tuple[str, Field]]:
        """Every field with its place, those of its parts included: `user.id`, `heads[].size`."""
        return leaves(self.shape.fields)

    ESCALATION_REQUESTED = (
        "capability.escalation.requested",
        EventGroup.MODULES,
        eventfields.ESCALATION_REQUESTED,
        "a module lacks a capability it needs, and a person is asked",
    )
    ESCALATION_APPROVED = (
        "capability.escalation.approved",
        EventGroup.MODULES,
        eventfields.ESCALATION_APPROVED,
        "the person granted the capability",
    )
    ESCALATION_DENIED = (
        "capability.escalation.denied",
        EventGroup.MODULES,
        eventfields.ESCALATION_DENIED,
        "the person, a cancelled prompt or the deadline said no",
    )
    CHECK_REJECTED = (
        "capability.check.rejected",
        EventGroup.MODULES,
        eventfields.CAPABILITY_REJECTED,
        "an action was refused by the capability policy",
    )
    ROLLBACK_EXECUTED = (
        "capability.rollback.executed",
        EventGroup.MODULES,
        eventfields.CAPABILITY_REJECTED,
        "a violation in the middle of an apply was undone",
    )
    ROLLBACK_FAILED = (
        "capability.rollback.failed",
        EventGroup.MODULES,
        eventfields.CAPABILITY_REJECTED,
        "a violation in the middle of an apply could not be undone",
    )
    CAPABILITY_MINTED = (
        "CapabilityMinted",
        EventGroup.TRUST,
        eventfields.CAPABILITY_MINTED,
        "a capability token was made against a consent or grant",
    )
    CAPABILITY_USED = (
        "CapabilityUsed",
        EventGroup.TRUST,
        eventfields.CAPABILITY_USED,
        "an operation was done with a capability token",
    )
    FILESYSTEM_RACE_DETECTED = (
        "FilesystemRaceDetected",
        EventGroup.TRUST,
        eventfields.FILESYSTEM_RACE_DETECTED,
        "a path became a link between its check and its use",
    )
    PLUGIN_REJECTED = (
        "PluginRejected",
        EventGroup.TRUST,
        eventfields.PLUGIN_REJECTED,
        "a plugin failed its check and was not loaded",
    )
    TOOL_AUDIT = (
        "tool.audit",
        EventGroup.TOOLS,
        TOOL_AUDIT,
        "a tool ran, or was refused; what it read, wrote and used",
    )
    EFFECT_DECIDED = (
        "effect.decided",
        EventGroup.TOOLS,
        lifecyclefields.EFFECT_DECIDED,
        "somebody decided what becomes of a run's kept effect: commit, discard or undo",
    )
    EFFECT_SETTLED = (
        "effect.settled",
        EventGroup.TOOLS,
        lifecyclefields.EFFECT_SETTLED,
        "the effect was committed, discarded or undone; or it was not, and why",
    )
    GUARD_VERDICT = (
        "guard.verdict",
        EventGroup.GUARD,
        GUARD_VERDICT,
        "a patch was judged by the powers it adds, with the witnesses of the judgement",
    )
    PERMISSION_ESCALATION_DECIDED = (
        "permission.escalation.decided",
        EventGroup.ESCALATION,
        eventfields.PERMISSION_ESCALATION_DECIDED,
        "a larger permission set was approved or refused; a row of `permission_audit_log`",
    )
    PERMISSION_ESCALATION_REFUSED = (
        "permission.escalation.refused",
        EventGroup.ESCALATION,
        eventfields.PERMISSION_ESCALATION_REFUSED,
        "code met a denial that no person is asked about; no row, and no set was changed",
    )
    WORKFLOW_PATTERN_SAVED = (
        "workflow.pattern.saved",
        EventGroup.ESCALATION,
        eventfields.WORKFLOW_PATTERN_SAVED,
        "a capability was saved with its code and permission set; a row of `workflow_pattern`",
    )
    TRANSACTION_TRANSITION = (
        "transaction.transition",
        EventGroup.TRANSACTIONS,
        transactionfields.TRANSACTION_TRANSITION,
        "an attempt at a transaction went from one state to the next",
    )
    TRANSACTION_RESOLVED = (
        "transaction.resolved",
        EventGroup.TRANSACTIONS,
        transactionfields.TRANSACTION_RESOLVED,
        "an operator let a document take changes again, after an attempt that could not be settled",
    )
    CERTIFICATION_CHECKED = (
        "certification.checked",
        EventGroup.SIGNOFF,
        signofffields.CERTIFICATION_CHECKED,
        "a case of the certification corpus was tried; what each try answered",
    )
    SIGNOFF_RESOLVED = (
        "signoff.resolved",
        EventGroup.SIGNOFF,
        signofffields.SIGNOFF_RESOLVED,
        "somebody recorded the root cause of a policy violation, and what was done about it",
    )
    APPROVAL_REQUESTED = (
        "approval.requested",
        EventGroup.APPROVALS,
        lifecyclefields.APPROVAL_REQUESTED,
        "a person is asked one question",
    )
    APPROVAL_ANSWERED = (
        "approval.answered",
        EventGroup.APPROVALS,
        lifecyclefields.APPROVAL_ANSWERED,
        "the question was answered; no later answer counts",
    )
    APPROVAL_EXPIRED = (
        "approval.expired",
        EventGroup.APPROVALS,
        lifecyclefields.APPROVAL_EXPIRED,
        "nobody answered by the deadline, which is a no",
    )
    APPROVAL_SUPERSEDED = (
        "approval.superseded",
        EventGroup.APPROVALS,
        lifecyclefields.APPROVAL_SUPERSEDED,
        "the question lost its ground before it was answered",
    )
    CONSENT_GIVEN = (
        "consent.given",
        EventGroup.CONSENTS,
        lifecyclefields.CONSENT_GIVEN,
        "a person said yes to a tool at a digest and a surface",
    )
    CONSENT_USED = (
        "consent.used",
        EventGroup.CONSENTS,
        lifecyclefields.CONSENT_USED,
        "a yes for one run was used up",
    )
    CONSENT_REVOKED = (
        "consent.revoked",
        EventGroup.CONSENTS,
        lifecyclefields.CONSENT_REVOKED,
        "the yes was taken back",
    )
    WORKSPACE_ACCEPTED = (
        "workspace.accepted",
        EventGroup.ACCEPTANCES,
        lifecyclefields.WORKSPACE_ACCEPTED,
        "a person let the configuration of a workspace count like their own, at these digests",
    )
    WORKSPACE_WITHDRAWN = (
        "workspace.withdrawn",
        EventGroup.ACCEPTANCES,
        lifecyclefields.WORKSPACE_WITHDRAWN,
        "that was taken back, or replaced by another one",
    )
    KEY_TRUSTED = (
        "key.trusted",
        EventGroup.SIGNING,
        signingfields.KEY_TRUSTED,
        "a public key became known under a signer's name: made here, accepted, or endorsed",
    )
    KEY_REVOKED = (
        "key.revoked",
        EventGroup.SIGNING,
        signingfields.KEY_REVOKED,
        "a key counts for nothing any more, whatever it signed",
    )
    PLUGIN_SIGNED = (
        "plugin.signed",
        EventGroup.SIGNING,
        signingfields.PLUGIN_SIGNED,
        "a plugin's tree was signed here with a key of this user",
    )
    PLUGIN_ACCEPTED = (
        "plugin.accepted",
        EventGroup.SIGNING,
        signingfields.PLUGIN_ACCEPTED,
        "a plugin passed with evidence, at a higher version or by more than before",
    )
    PLUGIN_FORGOTTEN = (
        "plugin.forgotten",
        EventGroup.SIGNING,
        signingfields.PLUGIN_FORGOTTEN,
        "a person had that memory removed; older or weaker may come",
    )
    HOST_REGISTERED = (
        "module.host.registered",
        EventGroup.HOSTS,
        modulefields.HOST_REGISTERED,
        "an application said which commands its modules can be bound to",
    )
    HOST_REMOVED = (
        "module.host.removed",
        EventGroup.HOSTS,
        modulefields.HOST_REMOVED,
        "an application that has no modules any more is not known here from then on",
    )
    MODULE_IMPORTED = (
        "module.imported",
        EventGroup.HOSTS,
        modulefields.MODULE_IMPORTED,
        "a version of a module was registered in a host, in place of another one where it says so",
    )
    MODULE_IMPORT_REJECTED = (
        "module.import.rejected",
        EventGroup.HOSTS,
        modulefields.MODULE_IMPORT_REJECTED,
        "a package was refused at import; nothing of it was registered",
    )
    MODULE_REMOVED = (
        "module.removed",
        EventGroup.HOSTS,
        modulefields.MODULE_REMOVED,
        "a module was removed from a host, with its grants and what it had stored",
    )
    MODULE_MODE_CHANGED = (
        "module.mode.changed",
        EventGroup.HOSTS,
        modulefields.MODULE_MODE_CHANGED,
        "an operator changed what modules may do at all",
    )
    MODULE_CAPABILITY_USED = (
        "module.capability.used",
        EventGroup.HOSTS,
        modulefields.MODULE_CAPABILITY_USED,
        "an action of a module was let use a capability, under this grant",
    )
    MODULE_ACTION_ENDED = (
        "module.action.ended",
        EventGroup.HOSTS,
        modulefields.MODULE_ACTION_ENDED,
        "an action of a module came to its end, or was refused by a rule of its host's command",
    )
    GRANT_GIVEN = (
        "grant.given",
        EventGroup.GRANTS,
        lifecyclefields.GRANT_GIVEN,
        "a version of a module may use one capability of the catalog",
    )
    GRANT_REVOKED = (
        "grant.revoked",
        EventGroup.GRANTS,
        lifecyclefields.GRANT_REVOKED,
        "the grant was taken back",
    )
    RUN_DECIDED = (
        "run.decided",
        EventGroup.PERMITS,
        lifecyclefields.RUN_DECIDED,
        "a command line, a consent or a policy decided whether a program may run, and with what",
    )
    PERMIT_MADE = (
        "permit.made",
        EventGroup.PERMITS,
        lifecyclefields.PERMIT_MADE,
        "one start was allowed, for these bytes on this machine",
    )
    PERMIT_SPENT = (
        "permit.spent",
        EventGroup.PERMITS,
        lifecyclefields.PERMIT_SPENT,
        "the start was made; the permit is of no further use",
    )
    SESSION_STARTED = (
        "session.started",
        EventGroup.SESSIONS,
        lifecyclefields.SESSION_STARTED,
        "a person's session on a machine began",
    )
    SESSION_ENDED = (
        "session.ended",
        EventGroup.SESSIONS,
        lifecyclefields.SESSION_ENDED,
        "the session is over, and what was given for it",
    )
    MACHINE_REGISTERED = (
        "machine.registered",
        EventGroup.MACHINES,
        lifecyclefields.MACHINE_REGISTERED,
        "a machine uses this store for the first time",
    )
    LEDGER_CHECKPOINT = (
        "ledger.checkpoint",
        EventGroup.LEDGER,
        lifecyclefields.LEDGER_CHECKPOINT,
        "a checkpoint over the heads of all chains was signed",
    )
    LEDGER_ARCHIVED = (
        "ledger.archived",
        EventGroup.LEDGER,
        lifecyclefields.LEDGER_ARCHIVED,
        "old events were sealed in an archive; their hashes stay in the chain",
    )
    LEDGER_PURGED = (
        "ledger.purged",
        EventGroup.LEDGER,
        lifecyclefields.LEDGER_PURGED,
        "data that is no longer needed was removed beside the ledger",
    )
    LEDGER_REBUILT = (
        "ledger.rebuilt",
        EventGroup.LEDGER,
        lifecyclefields.LEDGER_REBUILT,
        "tables were filled anew from the events",
    )


CAPABILITY_FIELDS = EventType.ESCALATION_REQUESTED.fields
"""The thirteen fields of every capability event; all are always present."""

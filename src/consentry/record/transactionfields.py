"""What the payloads of transactions hold (CONTRACTS §3-audit).

One event for every step of an attempt. The first twelve fields are the document's own; `eventId` is the
envelope's. The others are what single stages have to say, and are null where a stage has nothing: what was
shown and for which revision, whose approval is bound to it, which commit came of it, how long it took, and
what went wrong. The content of a change is never here: it is looked up by the hash of its preview.
"""

from collections.abc import Mapping
from typing import Any, Final

from consentry.record.eventfields import ROLE
from consentry.record.fieldrules import (
    BOOLEAN,
    CODE_WORD,
    DIGEST,
    INSTANT,
    TEXT,
    field,
    id_of,
    nullable,
    object_of,
    one_of,
    refuse,
    whole_from,
)
from consentry.record.transactionstates import (
    KEYED,
    TransactionState,
    is_legal,
    is_new_attempt,
)

TRACKS: Final = ("heavy", "host")
"""Whose transaction it is: a heavy user module's, or the application's own."""

STAGES: Final = ("receive", "preview", "approve", "apply", "rollback", "recover")
"""Which part of the protocol took the step."""

ERROR_CLASSES: Final = ("rejected", "conflict", "violation", "store", "interrupted", "expired")
RECOVERY_ACTIONS: Final = ("none", "preview-again", "apply-again", "reconcile", "resolve")


def _legal_step(transition: Mapping[str, Any]) -> None:
    previous = TransactionState(transition["prevState"])
    following = TransactionState(transition["nextState"])
    attempt = transition["attemptNo"]
    if not is_legal(previous, following):
        refuse("nextState", f"cannot go from `{previous}` to `{following}`")
    if is_new_attempt(previous, following) and attempt == 1:
        refuse("attemptNo", "must have the number of the next attempt here")
    if previous is TransactionState.RECEIVED and attempt != 1:
        refuse("attemptNo", "must have 1 here, for the first attempt")
    if following in KEYED and transition["idempotencyKey"] is None:
        refuse("idempotencyKey", f"cannot have null here on the way to `{following}`")


def _bound_apply(transition: Mapping[str, Any]) -> None:
    if transition["nextState"] != TransactionState.APPLYING:
        return
    approval = transition["approval"]
    if approval is None:
        refuse("approval", "cannot have null here on the way to `APPLYING`")
    for name in ("txId", "attemptNo", "previewHash", "baseRevision"):
        if approval[name] != transition[name]:
            refuse(f"approval.{name}", "must have what the attempt itself has here")


TX_APPROVAL: Final = object_of(
    field("txId", TEXT),
    field("attemptNo", whole_from(1)),
    field("previewHash", DIGEST),
    field("baseRevision", TEXT),
    field("approverId", TEXT),
    field("approverRole", ROLE),
    field("decision", one_of("approved", "rejected")),
    field("decisionAt", INSTANT),
    field("approvalTtlSeconds", whole_from(1)),
    nullable("requestId", id_of("request")),
)
TX_ERROR: Final = object_of(
    field("code", CODE_WORD),
    field("class", one_of(*ERROR_CLASSES)),
    field("safeToRetry", BOOLEAN),
    field("recoveryAction", one_of(*RECOVERY_ACTIONS)),
)
_STATE: Final = one_of(*TransactionState)
TRANSACTION_TRANSITION: Final = object_of(
    field("timestamp", INSTANT),
    field("txId", TEXT),
    field("attemptNo", whole_from(1)),
    field("track", one_of(*TRACKS)),
    field("stage", one_of(*STAGES)),
    field("prevState", _STATE),
    field("nextState", _STATE),
    field("actorId", TEXT),
    field("actorRole", TEXT),
    field("requestId", TEXT),
    nullable("idempotencyKey", TEXT),
    field("documentId", TEXT),
    field("hostId", TEXT),
    nullable("moduleId", TEXT),
    nullable("moduleVersion", TEXT),
    nullable("actionId", TEXT),
    nullable("actionRunId", id_of("action")),
    field("approvalRequired", BOOLEAN),
    nullable("baseRevision", TEXT),
    nullable("candidateRevision", TEXT),
    nullable("previewHash", DIGEST),
    nullable("approval", TX_APPROVAL),
    nullable("commitId", TEXT),
    nullable("durationMs", whole_from(0)),
    nullable("error", TX_ERROR),
    # Whether writes of this attempt had begun when it went wrong.
    field("afterPartialApply", BOOLEAN),
    across=(_legal_step, _bound_apply),
)
TRANSACTION_RESOLVED: Final = object_of(
    field("txId", TEXT),
    field("attemptNo", whole_from(1)),
    field("documentId", TEXT),
    field("reason", TEXT),
    field("resolvedBy", TEXT),
    field("resolvedRole", ROLE),
    field("resolvedAt", INSTANT),
)

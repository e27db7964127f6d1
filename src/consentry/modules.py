"""The door for host applications: everything they need to let users import modules they did not write.

    from consentry.modules import ModuleHost, HostCommand, CommandDeclaration, MutationScope

    def count(call):
        return len(call.state()["notes"])

    commands = [
        HostCommand(
            CommandDeclaration("notes.count", MutationScope.LOCAL, capabilities=("state.read",)), count
        ),
    ]
    with ModuleHost("note-board", "1.0.0", commands, state=lambda: {"notes": notes}) as host:
        host.import_module(package)
        host.invoke("word-count", "count")

As `consentry` itself, it reads the environment of whoever calls: where the state directory is, and which
store is shared.
"""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from consentry.base.clock import Clock
from consentry.decide.actionask import ActionAsk
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilityask import CapabilityAsk, CapabilityDecision
from consentry.decide.capabilitycheck import CheckResult, CheckState, Origin, RejectCode
from consentry.decide.documentstore import (
    Commit,
    CommitKind,
    CommitRecord,
    DocumentStore,
    KeyGivenUp,
    Snapshot,
    StoreConflict,
)
from consentry.decide.modulemode import ModuleMode
from consentry.decide.previewredaction import Redaction
from consentry.decide.question import RequestKind
from consentry.decide.slotrender import RenderedEntry
from consentry.decide.statechange import ABSENT, Absent, EntityName, EntityWrite
from consentry.decide.transactionask import TransactionAsk
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import TxError, TxOrigin
from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    HostDescription,
    MutationScope,
    QueuePolicy,
)
from consentry.declare.modulevalues import EntryType, Slot
from consentry.enforce.broker import CapabilityRejected, ModuleCall
from consentry.enforce.moduleexport import ExportReceipt, ExportTarget
from consentry.record.transactionstates import TransactionState
from consentry.service.actionoutcome import ActionOutcome, ActionStatus
from consentry.service.modulehost import HostCommand
from consentry.service.modulehost import ModuleHost as _ModuleHost
from consentry.service.moduleloading import LoadedModule, Unfit
from consentry.service.moduleslots import HeldBack, Rendering
from consentry.service.transactionplace import USUAL_TERMS, TxTerms
from consentry.service.transactions import Transactions

if TYPE_CHECKING:
    from consentry.service.documentconformance import OpenStore, RuleVerdict

__all__ = [
    "ABSENT",
    "Absent",
    "ActionAsk",
    "ActionOutcome",
    "ActionStatus",
    "ApprovalLevel",
    "ApprovalRequest",
    "ApprovalRule",
    "Attempt",
    "CapabilityAsk",
    "CapabilityDecision",
    "CapabilityRejected",
    "CheckResult",
    "CheckState",
    "CommandDeclaration",
    "Commit",
    "CommitKind",
    "CommitRecord",
    "DocumentStore",
    "EntityName",
    "EntityWrite",
    "EntryType",
    "ExportReceipt",
    "ExportTarget",
    "HeldBack",
    "HostCommand",
    "HostDescription",
    "KeyGivenUp",
    "LoadedModule",
    "ModuleCall",
    "ModuleHost",
    "ModuleMode",
    "MutationScope",
    "Origin",
    "QueuePolicy",
    "Redaction",
    "RejectCode",
    "RenderedEntry",
    "Rendering",
    "RequestKind",
    "Slot",
    "Snapshot",
    "StoreConflict",
    "TransactionAsk",
    "TransactionState",
    "Transactions",
    "TxError",
    "TxOrigin",
    "TxTerms",
    "Unfit",
    "check_document_store",
]


def check_document_store(open_store: "OpenStore") -> "tuple[RuleVerdict, ...]":
    """Tries every rule that a host's own document store has to keep; raises where it breaks one.

    `open_store` opens the document of a name, as another process would. The suite leaves what it wrote.
    """
    from consentry.service.documentconformance import check_document_store as check  # noqa: PLC0415 - for tests of hosts

    return check(open_store)


class ModuleHost(_ModuleHost):
    """One application and the modules that were imported into it, in the environment of this process."""

    def __init__(
        self,
        host_id: str,
        version: str,
        commands: Sequence[HostCommand] = (),
        *,
        state: Callable[[], object] | None = None,
        writable_paths: Sequence[str] = (),
        document: DocumentStore | str | None = None,
        terms: TxTerms = USUAL_TERMS,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(
            os.environ,
            host_id,
            version,
            commands,
            state=state,
            writable_paths=writable_paths,
            document=document,
            terms=terms,
            clock=clock,
        )

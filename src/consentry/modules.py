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

from consentry.base.clock import Clock
from consentry.decide.actionask import ActionAsk
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilityask import CapabilityAsk, CapabilityDecision
from consentry.decide.capabilitycheck import CheckResult, CheckState, Origin, RejectCode
from consentry.decide.modulemode import ModuleMode
from consentry.decide.question import RequestKind
from consentry.decide.slotrender import RenderedEntry
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
from consentry.service.actionoutcome import ActionOutcome, ActionStatus
from consentry.service.modulehost import HostCommand
from consentry.service.modulehost import ModuleHost as _ModuleHost
from consentry.service.moduleloading import LoadedModule, Unfit
from consentry.service.moduleslots import HeldBack, Rendering

__all__ = [
    "ActionAsk",
    "ActionOutcome",
    "ActionStatus",
    "ApprovalLevel",
    "ApprovalRequest",
    "ApprovalRule",
    "CapabilityAsk",
    "CapabilityDecision",
    "CapabilityRejected",
    "CheckResult",
    "CheckState",
    "CommandDeclaration",
    "EntryType",
    "ExportReceipt",
    "ExportTarget",
    "HeldBack",
    "HostCommand",
    "HostDescription",
    "LoadedModule",
    "ModuleCall",
    "ModuleHost",
    "ModuleMode",
    "MutationScope",
    "Origin",
    "QueuePolicy",
    "RejectCode",
    "RenderedEntry",
    "Rendering",
    "RequestKind",
    "Slot",
    "Unfit",
]


class ModuleHost(_ModuleHost):
    """One application and the modules that were imported into it, in the environment of this process."""

    def __init__(
        self,
        host_id: str,
        version: str,
        commands: Sequence[HostCommand] = (),
        *,
        state: Callable[[], object] = dict,
        writable_paths: Sequence[str] = (),
        clock: Clock | None = None,
    ) -> None:
        super().__init__(
            os.environ,
            host_id,
            version,
            commands,
            state=state,
            writable_paths=writable_paths,
            clock=clock,
        )

"""Watches what a module's transaction writes: its capabilities, and the paths of the commands it called.

The same gate answers as for everything else a module does. A change is proposed and applied only while the
module has all that its action needs; every operation lies below a path that one of the called commands may
change, and that the host lets anybody write. The use of `state.write.tx` is on record with the step to
`APPLYING`, which holds the module's row: no write begins under a grant that was revoked before it. Between
writes, and before they take effect, it is asked again; a no then is `capability-policy-violation`, because
writes had begun.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.canonical import Json
from consentry.base.errors import UsageProblem
from consentry.decide.capabilityask import subject_of
from consentry.decide.capabilitycheck import (
    ModuleIdentity,
    RejectCode,
    Rejection,
    Standing,
)
from consentry.decide.modulemode import ModuleMode
from consentry.decide.moduleregistration import ActionRun
from consentry.decide.statechange import Operation, pointer
from consentry.decide.txattempt import Attempt, Violation
from consentry.decide.txparts import TxOrigin
from consentry.declare.hostdescription import HostDescription
from consentry.declare.requiredcapabilities import WRITES
from consentry.declare.statepaths import PathSet
from consentry.enforce.broker import CapabilityRejected, violation
from consentry.record.events import EventType
from consentry.service.modulegate import ModuleGate, Wanted
from consentry.service.transactionplace import NOTHING
from consentry.store.capabilityevents import BY_SYSTEM, CapabilityFacts, capability_draft
from consentry.store.journal import About, Journal
from consentry.store.modulechecks import ModuleChecks, Recording, Use
from consentry.store.modules import StoredModules

_MOST_SHOWN: Final = 200


class ModuleWatch:
    """Watches the transactions of one host; those of the application itself pass."""

    def __init__(
        self, host: HostDescription, gate: ModuleGate, checks: ModuleChecks, journal: Journal
    ) -> None:
        self._host = host
        self._gate = gate
        self._checks = checks
        self._journal = journal
        self._writable = PathSet(host.writable_paths)

    def check(self, origin: TxOrigin, operations: Sequence[Operation]) -> None:
        """Whether the module has what its action needs, and each operation stays where it may."""
        if origin.module is None:
            return
        self._require(origin, None)
        self.check_paths(origin, operations)

    def check_paths(self, origin: TxOrigin, operations: Sequence[Operation]) -> None:
        """Whether each operation lies below what the called commands may change."""
        commands = [self._host.command(each) for each in origin.commands]
        mutates = PathSet(path for each in commands if each is not None for path in each.mutates)
        scopes = {each.mutation_scope.value for each in commands if each is not None}
        for each in operations:
            for path in (each.path, *([] if each.source is None else [pointer(each.source)])):
                if not (mutates.covers(path) and self._writable.covers(path)):
                    raise violation(
                        WRITES, f"no command of this action may change `{path[:_MOST_SHOWN]}`"
                    )
            if each.scope not in scopes:
                raise violation(WRITES, f"no command of this action changes what is `{each.scope}`")

    def begin(self, attempt: Attempt) -> Recording:
        """The use of the capability, recorded under the grant that it holds by."""
        origin = attempt.origin
        if origin.module is None:
            return NOTHING
        standing = self._require(origin, attempt.tx_id)
        run = _run(origin, origin.module, attempt.tx_id)
        return self._checks.using(standing, run, [Use(WRITES, _operation(attempt))])

    def require(self, attempt: Attempt) -> None:
        """Raises where the module lost what it needs, or the operator's mode stops it."""
        if attempt.origin.module is not None:
            self._require(attempt.origin, attempt.tx_id)

    def refused(
        self, attempt: Attempt, refused: CapabilityRejected, *, after_writes: bool
    ) -> Recording:
        """The rejection as it is recorded; after writes began it is a violation, whatever the reason."""
        module, rejection = attempt.origin.module, refused.rejection
        if module is None:
            return NOTHING
        code = RejectCode.POLICY_VIOLATION if after_writes else rejection.code
        said = Rejection(code, rejection.capability_id, rejection.why)
        return self._checks.rejecting(said, _run(attempt.origin, module, attempt.tx_id))

    def is_final(self, origin: TxOrigin) -> bool:
        """Whether the operator's mode blocks for good what was rejected (MODULES §mode-block-rejected)."""
        is_module = origin.module is not None
        return is_module and StoredModules(self._journal).mode().mode is ModuleMode.BLOCK_REJECTED

    def undone(self, attempt: Attempt, broken: Violation, *, failed: bool) -> Recording:
        """The end of a roll-back that a violation forced (MODULES §audit-5, §audit-6)."""
        module = attempt.origin.module
        if module is None:
            return NOTHING
        journal, now = self._journal, self._journal.clock.now()
        facts = CapabilityFacts(
            module,
            broken.capability_id,
            RejectCode.POLICY_VIOLATION.value,
            self._checks.catalog.version,
            attempt.origin.action_id,
            attempt.tx_id,
        )
        event = EventType.ROLLBACK_FAILED if failed else EventType.ROLLBACK_EXECUTED
        about = About(subject_of(module.module_id))
        draft = capability_draft(journal, event, facts, BY_SYSTEM, about, now)
        return Recording((draft,), lambda _: None)

    def _require(self, origin: TxOrigin, tx_id: str | None) -> Standing:
        """What the module stands on; raises where it lacks something that its action needs."""
        module = origin.module
        if module is None:
            raise violation(WRITES, "no module is behind this")
        needed = tuple(sorted({*origin.needed, WRITES}))
        wanted = Wanted(_run(origin, module, tx_id), needed, module.module_id)
        try:
            standing, result = self._gate.looked_at(wanted)
        except UsageProblem as gone:
            rejection = Rejection(RejectCode.NOT_GRANTED, WRITES, gone.message)
            raise CapabilityRejected(rejection) from gone
        if result.rejection is not None:
            raise CapabilityRejected(result.rejection)
        return standing


def _operation(attempt: Attempt) -> dict[str, Json]:
    """What the capability is used for."""
    return {
        "operation": "apply",
        "txId": attempt.tx_id,
        "attemptNo": attempt.attempt_no,
        "previewHash": attempt.preview_hash,
    }


def _run(origin: TxOrigin, module: ModuleIdentity, tx_id: str | None) -> ActionRun:
    return ActionRun(
        str(origin.action_run_id), module, origin.action_id, origin.origin, origin.commands, tx_id
    )

"""Runs a saved capability in its set: an attempt, at most one question, at most one retry.

    attempt     in the effective set; asks nobody
    escalation  only where the attempt failed with a denial; once for an execution, in any process
    retry       in the approved set, with the same arguments, workspace and limits

What a failed attempt wrote is discarded before anything else happens. The stored set is changed by
the transaction that writes the answer, never here. An execution that is started again under its id
finds the question it has put before, and puts no other.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from consentry.base.values import replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilities import (
    Capability,
    Language,
    check_language,
    determine_permission_set,
    digest_of_code,
)
from consentry.decide.escalation_handler import (
    AskEscalation,
    Escalated,
    PermissionEscalationHandler,
    is_same_code,
)
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.escalationrequest import escalation_digest
from consentry.decide.identity import Identity
from consentry.decide.permissionaudit import PermissionAudit
from consentry.decide.question import Outcome
from consentry.record.auditfields import Trigger
from consentry.service.approvals import Asker
from consentry.service.binding import workspace_here
from consentry.service.capabilities import found_capability, save_code
from consentry.service.capabilityexecution import (
    FIRST,
    PREFIX,
    RETRY,
    CapabilityRun,
    CapabilityWish,
    Execution,
    TaskWish,
)
from consentry.service.codeattempts import CodePlace, run_in_set
from consentry.service.codeinset import Attempt, CodeInSet, OpenIo
from consentry.service.escalationasking import StoredEscalations, escalation_desk
from consentry.service.ownsettings import own_settings
from consentry.service.rundecision import by_permission_set
from consentry.service.surroundings import Surroundings
from consentry.store.capabilities import CapabilityStore
from consentry.store.journal import Journal
from consentry.store.permissionaudit import PermissionAuditStore
from consentry.surface.permission_sets import PermissionSet

if TYPE_CHECKING:
    from consentry.service.holding import Holding

__all__ = [
    "Attempt",
    "CapabilityDesk",
    "CapabilityRun",
    "CapabilityWish",
    "CodeInSet",
    "CodePlace",
    "OpenIo",
    "TaskWish",
    "run_in_set",
]


class CapabilityDesk:
    """Saves capabilities and runs them, under one ledger; to be closed. Threads may share it.

    `ask` puts the question of an execution in a way of its own; without it the question is stored
    and waits, `asker` is heard where there is one, and any other process may answer. `holding` is how
    what waits inside an attempt that holds is asked about.
    """

    def __init__(
        self,
        journal: Journal,
        around: Surroundings,
        *,
        asker: Asker | None = None,
        ask: AskEscalation | None = None,
        audit: PermissionAudit | None = None,
        workspace: str | None = None,
        trigger: Trigger = Trigger.USER_COMMAND,
        holding: "Holding | None" = None,
    ) -> None:
        self._place = CodePlace(journal, around, workspace=workspace, holding=holding)
        self._asker = asker
        self._ask = ask
        self._trigger = trigger
        self.store = CapabilityStore(journal)
        self.audit = audit or PermissionAuditStore(
            journal.ledger, journal.ids, journal.clock, journal.context
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the engines that were kept."""
        self._place.close()

    def save(
        self,
        name: str,
        code: str,
        language: Language | str = Language.PYTHON,
        *,
        set_by_hand: PermissionSet | None = None,
    ) -> Capability:
        """Saves the code in the set that is inferred from it, or in the one that is given by hand."""
        by = Identity(self._place.journal.context.actor)
        return save_code(
            self.store, name, code, check_language(language), by=by, set_by_hand=set_by_hand
        )

    def found(self, name_or_id: str) -> Capability:
        """The saved capability; raises `capability-missing`."""
        return found_capability(self.store, name_or_id)

    def run(
        self,
        wish: CapabilityWish,
        open_io: OpenIo,
        *,
        ask: AskEscalation | None = None,
        escalates: bool = True,
    ) -> CapabilityRun:
        """One execution; raises where an attempt could not be started or recorded.

        `ask` puts its question instead of the desk's own way. One that does not escalate asks
        nobody: a denial stays one.
        """
        capability = self.found(wish.name_or_id)
        code = CodeInSet(
            code=capability.code,
            language=capability.language,
            name=capability.name,
            permission_set=determine_permission_set(capability),
            arguments=wish.arguments,
            network=wish.network,
            limits=wish.limits,
            holds=wish.holds,
        )
        execution = Execution(
            execution_id=wish.execution_id or self._new_id(),
            code=code,
            capability_id=capability.capability_id,
            capability=capability,
            ask=self._asking(ask) if escalates else None,
            is_known=wish.execution_id is not None,
        )
        over = self._executed(execution, open_io)
        return replace(over, capability=self.store.find(capability.capability_id) or capability)

    def run_task(
        self,
        wish: TaskWish,
        open_io: OpenIo,
        *,
        ask: AskEscalation | None = None,
        escalates: bool = True,
    ) -> CapabilityRun:
        """The same for the code of a task: an approved set holds for this execution only."""
        execution = Execution(
            execution_id=wish.execution_id or self._new_id(),
            code=wish.code,
            capability_id=wish.task_id,
            capability=None,
            ask=self._asking(ask) if escalates else None,
            is_known=wish.execution_id is not None,
        )
        return self._executed(execution, open_io)

    def _new_id(self) -> str:
        return self._place.journal.ids.new(PREFIX)

    def _asking(self, ask: AskEscalation | None) -> Callable[[], AskEscalation]:
        """How the question is put, made when there is one: most executions ask nobody."""

        def asking() -> AskEscalation:
            given = ask or self._ask
            if given is not None:
                return given
            settings = own_settings(self._place.around).approvals
            around = self._place.around
            desk = escalation_desk(self._place.journal, settings, around)
            return StoredEscalations(desk, around, self._asker)

        return asking

    def _executed(self, execution: Execution, open_io: OpenIo) -> CapabilityRun:
        approved = self._approved_before(execution)
        code, number, request_id = execution.code, FIRST, None
        if approved is not None:
            # It was killed between the answer and the retry, or after it: this is the retry.
            number, request_id = RETRY, approved.request_id
            if execution.capability is None:
                wanted = EscalationAsk.of(approved).request.requested_set
                code = replace(code, permission_set=wanted)
        attempts = [self._attempt(execution, code, number, request_id, open_io)]
        escalations = []
        escalated = self._escalated(execution, attempts[-1])
        if escalated is not None:
            escalations.append(escalated)
        if escalated is not None and escalated.new_set is not None and number == FIRST:
            code = replace(code, permission_set=escalated.new_set)
            execution = self._after_the_yes(execution)
            attempts.append(self._attempt(execution, code, RETRY, escalated.request_id, open_io))
            again = self._escalated(execution, attempts[-1])
            escalations += [] if again is None else [again]
        return CapabilityRun(
            execution.execution_id, tuple(attempts), execution.capability, tuple(escalations)
        )

    def _after_the_yes(self, execution: Execution) -> Execution:
        """The same with what is stored by now, where that is still this very code."""
        known = execution.capability
        stored = None if known is None else self.store.find(execution.capability_id)
        is_same = known is not None and stored is not None and stored.code_hash == known.code_hash
        return replace(execution, capability=stored) if is_same else execution

    def _attempt(
        self,
        execution: Execution,
        code: CodeInSet,
        number: int,
        request_id: str | None,
        open_io: OpenIo,
    ) -> Attempt:
        decision = by_permission_set(
            execution.subject, execution.in_set(code, number), request_id=request_id
        )
        return run_in_set(self._place, code, decision, open_io, trigger=self._trigger)

    def _escalated(self, execution: Execution, attempt: Attempt) -> Escalated | None:
        """What came of its denial; the handler says whether anybody may be asked, and asks once."""
        denial = attempt.denial
        if attempt.is_success or denial is None or execution.ask is None:
            return None
        handler = PermissionEscalationHandler(
            self.store,
            self.audit,
            execution.ask(),
            protected=attempt.run.facts.bound.protected,
            user_id=self._place.journal.context.actor,
        )
        return handler.handle_permission_error(execution.failed(attempt, denial))

    def _approved_before(self, execution: Execution) -> ApprovalRequest | None:
        """The yes that this execution has got before, in whichever process, to this very code.

        Of a task's code nothing is stored, so it is held against all that was asked.
        """
        if execution.ask is None or not execution.is_known:
            return None
        earlier = execution.ask().earlier(
            escalation_digest(execution.execution_id, execution.capability_id)
        )
        if earlier is None or earlier.status != Outcome.APPROVED:
            return None
        asked, code, stored = EscalationAsk.of(earlier), execution.code, execution.capability
        if stored is not None:
            known = (asked.ephemeral, asked.code_hash, asked.request.requested_set)
            now = (False, stored.code_hash, stored.permission_set)
            return earlier if known == now else None
        is_same = asked.request.current_set is code.permission_set and is_same_code(
            asked,
            code_hash=digest_of_code(code.code),
            engine=code.engine,
            arguments=dict(code.arguments),
            workspace=str(workspace_here(self._place.around, self._place.workspace)),
            network=code.network,
        )
        return earlier if is_same else None

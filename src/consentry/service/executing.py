"""`ControlledExecutor` for a host program: its tasks run in real sandboxes, its questions are in the store.

It has a session of its own, which ends when it is closed. What it runs, asks and records is what
`consentry capability run` would, for the person whom the host program runs for.

Where answers need a passphrase the queue answers nothing: a program that holds it does not know the
words. The question waits for a person then, on a terminal.
"""

import atexit
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.clock import Clock, SystemClock
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.base.units import Duration
from consentry.base.values import dataclass, replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilities import Capability, Language
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.identity import Identity
from consentry.decide.permissionaudit import PermissionAudit
from consentry.decide.question import Answer
from consentry.flow import executor
from consentry.flow.commands import CommandQueue, check_seconds
from consentry.flow.executor import OnDecision, OnEvent, Ports
from consentry.record.auditfields import Trigger
from consentry.service.approvals import Desk
from consentry.service.capabilityruns import CapabilityDesk
from consentry.service.escalationasking import StoredEscalations, escalation_desk
from consentry.service.givenvalues import Word, words_of
from consentry.service.ledgers import ledger_place
from consentry.service.ownsettings import own_settings
from consentry.service.passphrase import Passphrase
from consentry.service.sessions import end_session_of, journal_of_library
from consentry.service.surroundings import Surroundings, look_around
from consentry.service.taskruns import TaskRuns
from consentry.store.capabilities import CapabilityStore

_MILLISECONDS: Final = 1000
_ELSEWHERE: Final = (
    "answers need the passphrase, which is typed on a terminal: `consentry approve` asks for it"
)


class ControlledExecutor(executor.ControlledExecutor):
    """Executes the tasks of one workflow; a context manager, and threads may share it."""

    def __init__(
        self,
        environ: Mapping[str, str],
        workspace: Word | None = None,
        workflow_id: str | None = None,
        *,
        network: Sequence[str] = (),
        decision_timeout: float | None = None,
        commands: CommandQueue | None = None,
        on_event: OnEvent | None = None,
        on_decision: OnDecision | None = None,
    ) -> None:
        """Begins a session, in which nothing is executed yet.

        Args:
            environ: the environment of the host program.
            workspace: the folder that tasks work on; found from the current one where none is named.
            workflow_id: what its tasks belong to. A task is one execution for good: to be found again
                after a restart, give the same id.
            network: hosts that sets with a network may reach, instead of every public one.
            decision_timeout: seconds until a question that nobody answers is denied, if not as the
                settings say (five minutes).
            commands: a queue that several executors share; one of its own where none is given.
            on_event: called with every `decision_required`.
            on_decision: called with how each question ended.
        """
        clock = SystemClock()
        around, ids = look_around(environ), Uuid7Ids(clock)
        place = None if workspace is None else words_of("workspace", [workspace])[0]
        hosts = words_of("network", network)
        approvals = own_settings(around).approvals
        if decision_timeout is not None:
            seconds = check_seconds("decision_timeout", decision_timeout)
            within = Duration(max(1, round(seconds * _MILLISECONDS)))
            approvals = replace(approvals, escalation_deadline=within)
        self._journal = journal_of_library(around, clock, ids)
        desk = CapabilityDesk(self._journal, around, workspace=place, trigger=Trigger.API)
        self._tasks = TaskRuns(desk, self._journal.context.actor, around, place, hosts)
        self._questions = StoredQuestions(escalation_desk(self._journal, approvals, around), around)
        super().__init__(
            Ports(self._tasks, self._questions, ids, desk.audit),
            workflow_id=workflow_id,
            commands=commands,
            on_event=on_event,
            on_decision=on_decision,
        )
        self._made_by, self._is_closed = os.getpid(), False
        # Behind what the database registered, and so called before it is closed.
        atexit.register(self._close_at_exit)

    @property
    def session_id(self) -> str:
        """The session that lasts as long as this object."""
        return str(self._journal.context.session_id)

    @property
    def capabilities(self) -> CapabilityStore:
        """The saved capabilities of this ledger."""
        return self._tasks.desk.store

    def save_capability(
        self, name: str, code: str, language: Language | str = Language.PYTHON
    ) -> Capability:
        """Saves code under a name, in the set that is inferred from it; the same code stays as it is."""
        return self._tasks.desk.save(name, code, language)

    def set_permission_escalation_dependencies(self, audit_store: PermissionAudit | None) -> None:
        """Sets where refusals are logged and decisions looked up; None puts no question any more.

        Decisions are logged where they are written: with the answer, in this executor's own ledger.
        """
        super().set_permission_escalation_dependencies(audit_store)
        if audit_store is not None:
            self._tasks.desk.audit = audit_store

    def close(self) -> None:
        """Ends the engines and the session, once; a forked child leaves its parent's alone.

        Questions that wait stay open until their deadline.
        """
        if self._is_closed or os.getpid() != self._made_by:
            return
        self._is_closed = True
        atexit.unregister(self._close_at_exit)
        super().close()
        try:
            self._tasks.desk.close()
        finally:
            end_session_of(self._journal)

    def _close_at_exit(self) -> None:
        # A session that could not be ended is found to be over by whoever looks.
        with suppress(ConsentryError):
            self.close()


@dataclass(frozen=True, slots=True)
class StoredQuestions:
    """The questions of one ledger, as an executor puts them."""

    desk: Desk
    around: Surroundings

    @property
    def person(self) -> Identity:
        """Whom the host program runs for."""
        return Identity(self.desk.journal.context.actor)

    @property
    def clock(self) -> Clock:
        """The ledger's."""
        return self.desk.journal.clock

    def closed(self) -> str | None:
        """Why answers through a queue do not count here; None where they do."""
        passphrase = Passphrase(ledger_place(self.around).folder, self.clock)
        is_asked_for = self.desk.settings.passphrase or passphrase.is_set
        return _ELSEWHERE if is_asked_for else None

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """The request that was made with this digest, as it stands now."""
        return StoredEscalations(self.desk, self.around).earlier(digest)

    def put(self, ask: EscalationAsk) -> ApprovalRequest:
        """The request of this execution: a new one, or the one that was made before."""
        return StoredEscalations(self.desk, self.around).put(ask)

    def look(self, request_id: str) -> ApprovalRequest:
        """The request as it stands now; a deadline that passed has denied it."""
        return self.desk.look(request_id)

    def answer(self, request_id: str, answer: Answer) -> ApprovalRequest:
        """Records the answer if it is the first and in time, and refuses it otherwise."""
        return self.desk.answer(request_id, answer)

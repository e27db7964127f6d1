"""Carries a failed execution from its denial to a person's answer (ESCALATION AC4, AC5, AC9).

    read      on native the record's own denial, which no printed text can be; for deno the program's
              own words, and the question says so
    refuse    what nobody may open, what no reachable set opens, and a second question of an execution:
              recorded, and nobody is asked
    ask       once for an execution, in any process and after any crash
    answer    a yes is a yes to the set that was asked for, read back from where it is stored

The handler decides whether anybody may be asked, and asks. It never updates a stored set: the
transaction that writes the answer does, together with its row of the log, so that after a crash both
are there or neither. It does not run anything either: the executor that told of the failure retries.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.codes import Code
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilities import Capabilities, determine_permission_set
from consentry.decide.escalation import denials_said, reason_of, suggested_step
from consentry.decide.escalationask import REPORTED, EscalationAsk
from consentry.decide.escalationcase import (
    AskEscalation,
    Escalated,
    Failed,
    is_same_code,
    kept_arguments,
    kept_lines,
    kept_resource,
)
from consentry.decide.escalationdelta import added_in_words
from consentry.decide.escalationneed import confidence_in, said_surely
from consentry.decide.escalationreach import DENO, DeniedResource, NotOpened, least_covering
from consentry.decide.escalationrequest import PermissionEscalationRequest
from consentry.decide.permissionaudit import EscalationRefusal, PermissionAudit
from consentry.decide.question import Outcome
from consentry.examine.denialtext import own_denial
from consentry.surface.permission_sets import PermissionSet, definition
from consentry.surface.protected import ProtectedRoots

__all__ = ["AskEscalation", "Escalated", "Failed", "PermissionEscalationHandler", "is_same_code"]

_CODES: Final = {
    Outcome.DENIED: Code.APPROVAL_DENIED,
    Outcome.EXPIRED: Code.APPROVAL_EXPIRED,
    Outcome.SUPERSEDED: Code.APPROVAL_SUPERSEDED,
}


class PermissionEscalationHandler:
    """Decides whether a failed execution may ask for a larger set, and asks for it.

    `protected` are the roots that hold where the code runs. `user_id` is on whose behalf it runs.
    """

    def __init__(
        self,
        store: Capabilities,
        audit: PermissionAudit,
        ask: AskEscalation,
        *,
        protected: ProtectedRoots,
        user_id: str | None = None,
    ) -> None:
        self._store = store
        self._audit = audit
        self._ask = ask
        self._protected = protected
        self._user_id = user_id

    def handle_permission_error(self, failed: Failed) -> Escalated:
        """What comes of the failure: the set to retry in, or why there is no retry.

        Where the text speaks of no denial nothing is asked, recorded or said.
        """
        denials = _denials_of(failed)
        if not denials:
            return Escalated(approved=False)
        try:
            wanted = least_covering(
                denials,
                failed.current_set,
                failed.workspace,
                failed.engine,
                failed.allowlist,
                protected=self._protected,
            )
        except NotOpened as refusal:
            return self._refused(failed, refusal)
        ask = self._ask_for(failed, denials, wanted)
        earlier = self._ask.earlier(ask.digest)
        if earlier is not None and not earlier.is_pending:
            return self._answered_before(failed, denials, earlier)
        return self._answered(failed, denials, self._ask(ask))

    def _ask_for(
        self, failed: Failed, denials: Sequence[DeniedResource], wanted: PermissionSet
    ) -> EscalationAsk:
        step = suggested_step(denials, failed.current_set, failed.workspace)
        first = _first(denials, failed)
        request = PermissionEscalationRequest(
            capability_id=failed.capability_id,
            current_set=failed.current_set,
            requested_set=wanted,
            reason=reason_of(failed.error),
            detected_operation=(first.operation if step is None else step.operation).value,
            confidence=min(confidence_in(each, failed.workspace) for each in denials),
        )
        return EscalationAsk(
            request=request,
            execution_id=failed.execution_id,
            engine=failed.engine,
            ephemeral=failed.ephemeral,
            code_hash=failed.code_hash,
            version=failed.version,
            truth_note=REPORTED if failed.engine == DENO else None,
            resource=kept_resource(first),
            delta=added_in_words(
                failed.current_set, wanted, failed.allowlist, is_stored=not failed.ephemeral
            ),
            so_far=kept_lines(failed.so_far),
            workspace=failed.workspace,
            network=tuple(failed.allowlist),
            arguments=kept_arguments(failed.arguments),
            name=failed.name,
            user_id=self._user_id,
        )

    def _answered_before(
        self, failed: Failed, denials: Sequence[DeniedResource], earlier: ApprovalRequest
    ) -> Escalated:
        """The execution has asked: an approved set that it has not run in yet is still its own."""
        ask = EscalationAsk.of(earlier)
        asked, is_approved = ask.request, earlier.status == Outcome.APPROVED
        if is_approved and _is_about(ask, failed):
            return self._answered(failed, denials, earlier)
        message = (
            f"`{failed.execution_id}` has asked for `{asked.requested_set}` in"
            f" `{earlier.request_id}`, which was {earlier.status}, and asks no second time"
        )
        refusal = NotOpened(Code.ESCALATION_SPENT, message, _first(denials, failed))
        return self._refused(failed, refusal, earlier)

    def _answered(
        self, failed: Failed, denials: Sequence[DeniedResource], request: ApprovalRequest
    ) -> Escalated:
        asked = EscalationAsk.of(request)
        if request.answer is None:
            return _without(Code.APPROVAL_PENDING, request, asked, request.ending)
        feedback = request.answer.reason
        if request.answer.outcome is not Outcome.APPROVED:
            moved = self._moved(asked) if request.answer.outcome is Outcome.SUPERSEDED else None
            if moved is None:
                return _without(_CODES[request.answer.outcome], request, asked, feedback)
            return Escalated(
                approved=True,
                new_set=moved,
                feedback=f"`{moved}` was given to it meanwhile",
                request=asked.request,
                request_id=request.request_id,
            )
        if not _is_about(asked, failed):
            return self._answered_before(failed, denials, request)
        if not asked.ephemeral and not self._is_stored(asked):
            changed = "the capability has changed since it was approved"
            return _without(Code.APPROVAL_SUPERSEDED, request, asked, changed)
        return Escalated(
            approved=True,
            new_set=asked.request.requested_set,
            feedback=feedback,
            request=asked.request,
            request_id=request.request_id,
        )

    def _is_stored(self, asked: EscalationAsk) -> bool:
        """Whether the very code that asked has the set that was approved."""
        stored = self._store.find(asked.request.capability_id)
        return (
            stored is not None
            and stored.permission_set is asked.request.requested_set
            and asked.code_hash in (None, stored.code_hash)
        )

    def _moved(self, asked: EscalationAsk) -> PermissionSet | None:
        """The set that the very code that asked has got meanwhile, where it opens what was asked for.

        Executions of one capability ask side by side; the first yes moves it, and ends the others'
        questions.
        """
        stored = None if asked.ephemeral else self._store.find(asked.request.capability_id)
        if stored is None or (stored.code_hash, stored.version) != (asked.code_hash, asked.version):
            return None
        now = determine_permission_set(stored)
        wanted = definition(asked.request.requested_set).surface
        return now if wanted <= definition(now).surface else None

    def _refused(
        self, failed: Failed, refusal: NotOpened, earlier: ApprovalRequest | None = None
    ) -> Escalated:
        self._audit.log_refusal(
            EscalationRefusal(
                capability_id=failed.capability_id,
                from_set=failed.current_set,
                code=refusal.code,
                detected_operation=refusal.denied.operation.value,
                reason=reason_of(failed.error),
                execution_id=failed.execution_id,
                resource=kept_resource(refusal.denied),
                ephemeral=failed.ephemeral,
            )
        )
        return Escalated(
            approved=False,
            code=refusal.code.value,
            feedback=refusal.message,
            help_line=refusal.help_line,
            request_id=None if earlier is None else earlier.request_id,
        )


def _is_about(asked: EscalationAsk, failed: Failed) -> bool:
    """Whether what was answered is what failed: this version of a capability, or this task's code.

    A task may be called like a capability, and an execution may outlast the code it began with.
    """
    if asked.request.current_set is not failed.current_set:
        return False
    if not failed.ephemeral:
        known = (asked.ephemeral, asked.code_hash, asked.version)
        return known == (False, failed.code_hash, failed.version)
    return is_same_code(
        asked,
        code_hash=failed.code_hash,
        engine=failed.engine,
        arguments=failed.arguments,
        workspace=failed.workspace,
        network=failed.allowlist,
    )


def _denials_of(failed: Failed) -> Sequence[DeniedResource]:
    """On deno whatever the text speaks of; elsewhere only the line that a typed denial is."""
    if failed.engine == DENO:
        return denials_said(failed.error)
    own = own_denial(failed.error)
    return () if own is None else (own,)


def _without(
    code: Code, request: ApprovalRequest, asked: EscalationAsk, feedback: str | None
) -> Escalated:
    return Escalated(
        approved=False,
        code=code.value,
        feedback=feedback,
        help_line=code.remedy,
        request=asked.request,
        request_id=request.request_id,
    )


def _first(denials: Sequence[DeniedResource], failed: Failed) -> DeniedResource:
    """The denial that a question names."""
    return said_surely(denials[0], failed.current_set, failed.workspace)

"""The gate of one host: checks what an action needs, asks for what is missing, records what is used.

    check     what the policy says, from a snapshot that one row keeps fresh; nothing is recorded
    escalate  puts the question for what is missing, and waits for its end where somebody can
    begin     records every use of the action together, or rejects the whole action
    require   asks once more, in the moment of a use inside a running action

A question that waits already is joined and not put twice. From automation nobody is asked again for what
was denied in the same session: the policy is the same as for a click, and no way to wear a person down.
"""

from collections.abc import Mapping
from typing import Final

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, UsageProblem
from consentry.base.values import dataclass, replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilityask import CapabilityAsk, WantedPower, rejection_of
from consentry.decide.capabilitycheck import (
    ASKED,
    DECIDED,
    PASSED,
    CheckResult,
    Rejection,
    Standing,
    check,
    first_of,
)
from consentry.decide.moduleregistration import ActionRun
from consentry.decide.question import Outcome
from consentry.enforce.broker import CapabilityRejected
from consentry.service.approvals import Asker, Desk, Waits
from consentry.store.ledger import Change
from consentry.store.modulechecks import ModuleChecks, Use
from consentry.store.rows import Overtaken

_MOST_TRIES: Final = 32


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an action needs, and how a person is told of it."""

    run: ActionRun
    needed: tuple[str, ...]
    display_name: str
    label: str | None = None
    carried: Json = None
    acts: bool = True


@dataclass(frozen=True, slots=True)
class Escalated:
    """How a question stands, and what that makes of the check."""

    request: ApprovalRequest
    result: CheckResult


class ModuleGate:
    """Decides for the modules of one host, in one session."""

    def __init__(self, checks: ModuleChecks, desk: Desk) -> None:
        self._checks = checks
        self._desk = desk

    def standing(self, module_id: str) -> Standing:
        """What a module may do now; raises where it is not registered."""
        found = self._checks.standing(module_id)
        if found is None:
            raise UsageProblem(Code.MODULE_UNKNOWN, f"no module `{module_id}` is registered here")
        return found

    def check(self, wanted: Wanted) -> CheckResult:
        """What the policy says in this moment."""
        return self._checked(self.standing(wanted.run.module.module_id), wanted)

    def looked_at(self, wanted: Wanted) -> tuple[Standing, CheckResult]:
        """What the policy says in this moment, and the standing that it goes by."""
        standing = self.standing(wanted.run.module.module_id)
        return standing, self._checked(standing, wanted)

    def _checked(self, standing: Standing, wanted: Wanted) -> CheckResult:
        run = wanted.run
        if standing.identity != run.module:
            message = f"`{run.module.module_id}` was replaced meanwhile"
            raise UsageProblem(Code.MODULE_UNKNOWN, message, help_line="call the action again")
        return check(standing, wanted.needed, self._checks.catalog, run.action_id, acts=wanted.acts)

    def escalate(
        self, wanted: Wanted, result: CheckResult, asker: Asker | None, *, waits: bool
    ) -> Escalated:
        """Puts the question for what is missing; its end where this waits, or else how it stands."""
        ask = self._ask(wanted, result)
        refused = self._refused_before(ask) if wanted.run.origin.is_automation else None
        request = refused or self._desk.requests.ask_or_join(
            ask.question(), Waits.ESCALATION.within(self._desk.settings)
        )
        if waits or asker is not None:
            request = self._desk.wait(request, asker)
        return Escalated(request, _after(result, request))

    def _ask(self, wanted: Wanted, result: CheckResult) -> CapabilityAsk:
        catalog, run = self._checks.catalog, wanted.run
        standing = self.standing(run.module.module_id)
        return CapabilityAsk(
            module=run.module,
            display_name=wanted.display_name,
            wanted=tuple(
                WantedPower.of(each.capability_id, each.code, catalog) for each in result.missing
            ),
            catalog_version=catalog.version,
            origin=run.origin,
            session_id=standing.session_id,
            action_id=run.action_id,
            action_label=wanted.label,
            commands=run.commands,
            transaction_id=run.transaction_id,
        )

    def decided(self, request: ApprovalRequest) -> CheckResult:
        """What the question makes of the check that raised it; as it was while it waits."""
        ask = CapabilityAsk.of(request)
        missing = tuple(Rejection(each.lack, each.capability_id) for each in ask.wanted)
        needed = tuple(each.capability_id for each in ask.wanted)
        return _after(CheckResult(ASKED, needed, first_of(missing), missing), request)

    def _refused_before(self, ask: CapabilityAsk) -> ApprovalRequest | None:
        """The no that a person gave to this very question in this session, if it was the last."""
        for latest in self._desk.requests.latest_about(ask.digest, 1):
            return latest if latest.status == Outcome.DENIED else None
        return None

    def begin(
        self, wanted: Wanted, passed: CheckResult, spending: Change | None = None
    ) -> CheckResult:
        """Records the use of all that is needed, durably; or gives the rejection, and records nothing.

        `passed` is the result so far, whose states are kept where everything still holds; `spending`
        is what the run uses up besides.
        """
        uses = [Use(each) for each in wanted.needed]
        for _ in range(_MOST_TRIES):
            standing = self.standing(wanted.run.module.module_id)
            result = self._checked(standing, wanted)
            if not result.is_passed:
                return result
            try:
                self._checks.record_uses(standing, wanted.run, uses, spending)
            except Overtaken:
                continue
            states = passed.states if passed.states == DECIDED else PASSED
            return replace(result, states=states)
        raise LedgerProblem(Code.LEDGER_BUSY, "others keep changing this module at once")

    def reject(self, wanted: Wanted, rejection: Rejection) -> None:
        """Puts the refusal on record, also where the module is gone by now."""
        self._checks.record_rejected(rejection, wanted.run)

    def end(
        self,
        run: ActionRun,
        outcome: str,
        code: str | None = None,
        detail: Mapping[str, Json] | None = None,
    ) -> None:
        """Puts on record how an action that was begun ended."""
        self._checks.record_ended(run, outcome, code, detail)

    def require(self, run: ActionRun, capability_id: str) -> None:
        """Raises unless the capability holds for this action in this moment."""
        self._held(run, capability_id)

    def spend(self, run: ActionRun, use: Use, change: Change | None = None) -> None:
        """Records one operation and changes what comes with it, if the capability still holds."""
        for _ in range(_MOST_TRIES):
            standing = self._held(run, use.capability_id)
            try:
                return self._checks.record_uses(standing, run, [use], change)
            except Overtaken:
                continue
        raise LedgerProblem(Code.LEDGER_BUSY, "others keep changing this module at once")

    def _held(self, run: ActionRun, capability_id: str) -> Standing:
        standing = self.standing(run.module.module_id)
        wanted = Wanted(run, (capability_id,), run.module.module_id)
        rejection = self._checked(standing, wanted).rejection
        if rejection is not None:
            raise CapabilityRejected(rejection)
        return standing


def _after(result: CheckResult, request: ApprovalRequest) -> CheckResult:
    """The check after the question ended so; as it was while it waits."""
    if request.is_pending:
        return result
    code = rejection_of(Outcome(request.status))
    if code is None:
        return replace(result, states=DECIDED, rejection=None, missing=())
    name = min((each.capability_id for each in result.missing), default="none")
    return replace(
        result, states=DECIDED, rejection=Rejection(code, name, request.ending), missing=()
    )

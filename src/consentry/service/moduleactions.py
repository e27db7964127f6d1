"""Runs one action of a module: checks, asks, records, and only then calls the host's commands.

    1  the module and its action, as they are registered now
    2  what its commands need; the capability check, in its fixed order
    3  what is missing is asked for, or the action is rejected
    4  the rules of the moment: surface, role, the target of an export
    5  the approval that the commands themselves need; of an action whose commands all last, in step 7
    6  every use on record, together; then the commands, in their order, each when its turn has come and
       all that the action needs still holds
    7  what they asked to change, as one transaction: previewed, decided, applied (`actionchange`)
    8  how it ended, on record

A rejection in 2 to 5 leaves no use on record and has called nothing. From automation and the background
the steps are the same ones; `automation.invoke` is needed besides, and only an action whose graph says so
can be called from there at all.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, Final, TypeAlias

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.base.frozenjson import frozen, thawed
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.actionask import ActionAsk
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilitycheck import (
    CheckResult,
    Origin,
    RejectCode,
    Rejection,
)
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.moduleregistration import ACTION_PREFIX, ActionRun, action_key, said
from consentry.decide.question import Outcome
from consentry.decide.txattempt import PREFIX as TX_PREFIX
from consentry.declare.actionapproval import approval_of
from consentry.declare.actiongraph import GraphAction, GraphSurface
from consentry.declare.hostdescription import HostDescription
from consentry.declare.modulevalues import CommandBinding
from consentry.declare.requiredcapabilities import WRITES, required_capabilities
from consentry.enforce.broker import (
    EXPORTS,
    CapabilityRejected,
    ModuleCall,
    Powers,
)
from consentry.enforce.commandlane import CommandLanes
from consentry.service.actionchange import ActionChanges
from consentry.service.actionoutcome import (
    ActionOutcome,
    ActionStatus,
    ActionWish,
    not_done,
    waiting,
)
from consentry.service.actionquestions import ActionQuestions
from consentry.service.approvals import Desk
from consentry.service.modulegate import ModuleGate, Wanted
from consentry.service.moduleloading import LoadedModule, LoadedModules
from consentry.store.ledger import Change
from consentry.store.modulechecks import spent_approval

Handler: TypeAlias = Callable[[ModuleCall], Any]
"""A command's own code in the host; its answer is the host's business."""

_NOBODY: Final = "the command needs approval, and nobody is to be asked"
_USUAL_WAIT: Final = Duration(10_000)
_SURFACES: Final = {
    Origin.AUTOMATION: GraphSurface.AUTOMATION,
    Origin.BACKGROUND: GraphSurface.BACKGROUND,
}
_ENDINGS: Final = {
    Outcome.DENIED: Code.APPROVAL_DENIED,
    Outcome.EXPIRED: Code.APPROVAL_EXPIRED,
    Outcome.SUPERSEDED: Code.APPROVAL_SUPERSEDED,
}


class ActionRunner:
    """Runs actions for one host object."""

    def __init__(
        self,
        host: HostDescription,
        handlers: Mapping[str, Handler],
        modules: LoadedModules,
        gate: ModuleGate,
        desk: Desk,
        powers_of: Callable[[ActionRun], Powers],
        changes: ActionChanges,
        lanes: CommandLanes | None = None,
    ) -> None:
        self._host = host
        self._handlers = handlers
        self._modules = modules
        self._gate = gate
        self._desk = desk
        self._powers_of = powers_of
        self._changes = changes
        self._lanes = lanes or CommandLanes()
        self._questions = ActionQuestions(desk)

    def run(self, wish: ActionWish) -> ActionOutcome:
        """The outcome; raises where there is no such action, or the host's own code raises."""
        # What is no JSON is told before anybody is asked about it; what is asked about is a copy that
        # stays as it was shown.
        wish = replace(wish, arguments=thawed(frozen(wish.arguments)))
        module = self._modules.of(self._gate.standing(wish.module_id))
        resumed = wish.resumes
        action = (
            module.action(wish.action_id) if resumed is None else self._resumed(resumed, module)
        )
        if action is None:
            message = f"`{wish.module_id}` has no action `{wish.action_id}`"
            raise UsageProblem(Code.MODULE_UNKNOWN, message)
        wanted = self._wanted(wish, module, action)
        result, request_id = self._permitted(wish, wanted)
        if request_id is not None:
            return waiting(wanted, result, request_id)
        rejection = result.rejection or self._broken_rule(wish, action, wanted)
        if rejection is not None:
            return self._refused(wanted, result, rejection)
        refused = self._role_refused(wish, action, wanted, result)
        if refused is not None:
            return refused
        approval = self._approved(wish, action, wanted, result)
        if isinstance(approval, ActionOutcome):
            if approval.status is ActionStatus.REJECTED:
                self._gate.end(wanted.run, "rejected", approval.code)
            return approval
        begun = self._gate.begin(wanted, result, approval)
        if begun.rejection is not None:
            return self._refused(wanted, begun, begun.rejection)
        return self._carried_out(wish, module, action, wanted, begun)

    def _resumed(self, request: ApprovalRequest, module: LoadedModule) -> GraphAction | None:
        """The action that a question was about; raises where its graph makes it another one by now."""
        ask = ActionAsk.of(request)
        action = module.recorded(str(ask.run.action_id))
        if action is None:
            return None
        if (action.calls, approval_of(action, self._host)) != (ask.run.commands, ask.rule):
            message = f"`{request.request_id}` opens nothing any more: the action was changed since"
            raise Refused(Code.APPROVAL_SUPERSEDED, message)
        return action

    def _wanted(self, wish: ActionWish, module: LoadedModule, action: GraphAction) -> Wanted:
        needed = required_capabilities(
            action.calls, self._host, is_automation=wish.origin.is_automation
        )
        journal = self._desk.journal
        resumed = None if wish.resumes is None else ActionAsk.of(wish.resumes).run
        run = resumed or ActionRun(
            journal.ids.new(ACTION_PREFIX),
            module.identity,
            action_key(action.id),
            wish.origin,
            action.calls,
        )
        if WRITES in needed:
            run = replace(run, transaction_id=journal.ids.new(TX_PREFIX))
        return Wanted(
            run,
            needed,
            said(module.package.display_name),
            said(action.label),
            _carried(module, run),
        )

    def _permitted(self, wish: ActionWish, wanted: Wanted) -> tuple[CheckResult, str | None]:
        """The check, after asking where that may help; with the request that still waits, if any."""
        result = self._gate.check(wanted)
        if result.is_passed or not result.missing or not wish.asks:
            return result, None
        escalated = self._gate.escalate(wanted, result, wish.asker, waits=wish.waits)
        request = escalated.request
        return escalated.result, request.request_id if request.is_pending else None

    def _broken_rule(
        self, wish: ActionWish, action: GraphAction, wanted: Wanted
    ) -> Rejection | None:
        """The first rule of the moment that this call breaks (MODULES §order-1, the fifth check)."""
        surface = _SURFACES.get(wish.origin)
        if surface is not None and surface not in action.surface:
            why = f"`{action.id}` does not declare the surface `{surface}`"
            return Rejection(RejectCode.POLICY_VIOLATION, "automation.invoke", why)
        if EXPORTS in wanted.needed and wish.target is None:
            why = "the user chose no target for this export"
            return Rejection(RejectCode.POLICY_VIOLATION, EXPORTS, why)
        return None

    def _role_refused(
        self, wish: ActionWish, action: GraphAction, wanted: Wanted, result: CheckResult
    ) -> ActionOutcome | None:
        for call in action.calls:
            command = self._host.command(call)
            role = None if command is None else command.role
            if role is not None and wish.role not in (role, Role.OWNER):
                why = f"`{call}` is for somebody who is `{role}`, not `{wish.role}`"
                self._gate.end(wanted.run, "rejected", Code.COMMAND_REFUSED.value)
                return not_done(wanted, result, Code.COMMAND_REFUSED.value, why)
        return None

    def _approved(
        self,
        wish: ActionWish,
        action: GraphAction,
        wanted: Wanted,
        result: CheckResult,
    ) -> ActionOutcome | Change | None:
        """What the yes to the commands uses up; None where none is needed; or that there is none."""
        rule = approval_of(action, self._host)
        if rule is None or (wish.asks and self._changes.asks_later(action)):
            return None
        if not wish.asks and self._changes.asks_later(action):
            return not_done(wanted, result, Code.APPROVAL_PENDING.value, _NOBODY)
        if self._gate.standing(wish.module_id).session_id is None:
            why = "the session is over, and the command needs an approval in it"
            return not_done(wanted, result, Code.APPROVAL_SUPERSEDED.value, why)
        request = self._questions.about(wish, rule, wanted)
        if request is None:
            return not_done(wanted, result, Code.APPROVAL_PENDING.value, _NOBODY)
        answer = request.answer
        if answer is None:
            return waiting(wanted, result, request.request_id)
        if answer.outcome is not Outcome.APPROVED:
            code = _ENDINGS[answer.outcome].value
            return not_done(wanted, result, code, request.ending, request.request_id)
        # Once more, on whatever way the answer came.
        ActionAsk.of(request).require_takes(answer)
        # What waited is carried out once, for however long the yes is.
        if answer.lasts is Lasts.SESSION and wish.resumes is None:
            return None
        now = self._desk.journal.clock.now()
        return spent_approval(request.request_id, wanted.run, now)

    def _carried_out(
        self,
        wish: ActionWish,
        module: LoadedModule,
        action: GraphAction,
        wanted: Wanted,
        begun: CheckResult,
    ) -> ActionOutcome:
        run = wanted.run
        results: list[Any] = []
        powers = self._powers_of(run)
        try:
            for call in action.calls:
                answer = self._called(call, wish, module, wanted, powers)
                results.append(answer)
        except CapabilityRejected as refused:
            self._gate.reject(wanted, refused.rejection)
            self._gate.end(run, "rejected", refused.rejection.code.value)
            return not_done(
                wanted,
                begun,
                refused.rejection.code.value,
                refused.rejection.why,
                capability_id=refused.rejection.capability_id,
            )
        except ConsentryError as refused:
            self._gate.end(run, "failed", refused.code.value)
            return not_done(wanted, begun, refused.code.value, refused.message)
        except BaseException:
            self._gate.end(run, "failed")
            raise
        done = ActionOutcome(ActionStatus.DONE, begun.states, run, results=tuple(results))
        return self._changed(wish, action, wanted, powers, done)

    def _changed(
        self,
        wish: ActionWish,
        action: GraphAction,
        wanted: Wanted,
        powers: Powers,
        done: ActionOutcome,
    ) -> ActionOutcome:
        """The end of a run whose commands have ended: with what they asked to change, if anything."""
        run = wanted.run
        operations = powers.wanted.all()
        if not operations:
            self._gate.end(run, "done")
            return done
        try:
            outcome = self._changes.carried_on(wish, action, wanted, operations, done)
        except BaseException:
            self._gate.end(run, "failed", detail={"transactionId": run.transaction_id})
            raise
        is_refused = outcome.status is ActionStatus.REJECTED
        detail: dict[str, Json] = {
            "transactionId": outcome.transaction_id,
            "transactionState": outcome.transaction_state,
        }
        self._gate.end(run, "rejected" if is_refused else "done", outcome.code, detail)
        return outcome

    def _called(
        self,
        command_id: str,
        wish: ActionWish,
        module: LoadedModule,
        wanted: Wanted,
        powers: Powers,
    ) -> Any:
        run = wanted.run
        command, handler = self._host.command(command_id), self._handlers.get(command_id)
        if command is None or handler is None:
            message = f"the host has no handler for `{command_id}` in this process"
            raise UsageProblem(Code.MODULE_UNKNOWN, message)
        binding = _binding_of(module, run.action_id, command_id)
        with ExitStack() as held:
            held.enter_context(self._lanes.entered(command_id, command.queue, wait=_USUAL_WAIT))
            # While another command ran, or this one waited, anything can have been taken back.
            rejection = self._gate.check(wanted).rejection
            if rejection is not None:
                raise CapabilityRejected(rejection)
            call = ModuleCall(
                run,
                command,
                self._gate,
                powers,
                payload=None if binding is None else binding.payload,
                context=None if binding is None else binding.context,
                arguments=wish.arguments,
                target=wish.target,
            )
            try:
                answer = handler(call)
            except Exception as problem:
                # Whatever it makes of a refusal, the refusal is what happened.
                if call.refusal is None or problem is call.refusal:
                    raise
                raise call.refusal from problem
            finally:
                call.end()
        if call.refusal is not None:
            raise call.refusal
        return answer

    def _refused(self, wanted: Wanted, result: CheckResult, rejection: Rejection) -> ActionOutcome:
        self._gate.reject(wanted, rejection)
        return not_done(
            wanted,
            result,
            rejection.code.value,
            rejection.why,
            capability_id=rejection.capability_id,
        )


def _carried(module: LoadedModule, run: ActionRun) -> Json:
    """What the module's own bindings hand to the commands of an action; None where nothing is."""
    carried: list[Json] = []
    for call in run.commands:
        binding = _binding_of(module, run.action_id, call)
        if binding is not None and (binding.payload is not None or binding.context is not None):
            own: dict[str, Json] = {"payload": binding.payload, "context": binding.context}
            carried.append({"commandId": call, **own})
    return carried or None


def _binding_of(
    module: LoadedModule, action_id: str | None, command_id: str
) -> CommandBinding | None:
    """The binding that an action stands for, or else the first of the module to this command."""
    of_command = [each for each in module.package.bindings if each.command_id == command_id]
    own = [each for each in of_command if action_key(each.binding_id) == action_id]
    return next(iter(own or of_command), None)

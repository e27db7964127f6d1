"""Runs one action of a module: checks, asks, records, and only then calls the host's commands.

    1  the module and its action, as they are registered now
    2  what its commands need; the capability check, in its fixed order
    3  what is missing is asked for, or the action is rejected
    4  the rules of the moment: surface, role, writes, the target of an export
    5  the approval that the commands themselves need
    6  every use on record, together; then the commands, in their order
    7  how it ended, on record

A rejection in 2 to 5 leaves no use on record and has called nothing. From automation and the background
the steps are the same ones; `automation.invoke` is needed besides, and only an action whose graph says so
can be called from there at all.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from enum import StrEnum
from typing import Any, Final, TypeAlias

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.base.frozenjson import frozen, thawed
from consentry.base.units import Duration
from consentry.base.values import dataclass, field, replace
from consentry.decide.actionask import ActionAsk
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilitycheck import (
    CheckResult,
    CheckState,
    Origin,
    RejectCode,
    Rejection,
)
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.moduleregistration import ACTION_PREFIX, ActionRun, action_key, said
from consentry.decide.question import BY_SYSTEM, Outcome, RequestKind
from consentry.declare.actionapproval import approval_of
from consentry.declare.actiongraph import GraphAction, GraphSurface
from consentry.declare.hostdescription import ApprovalRule, HostDescription
from consentry.declare.modulevalues import CommandBinding
from consentry.declare.requiredcapabilities import WRITES, required_capabilities
from consentry.enforce.broker import (
    EXPORTS,
    NO_TRANSACTIONS,
    CapabilityRejected,
    ModuleCall,
    Powers,
)
from consentry.enforce.commandlane import CommandLanes
from consentry.enforce.moduleexport import ExportTarget
from consentry.service.approvals import Asker, Desk, Waits
from consentry.service.modulegate import ModuleGate, Wanted
from consentry.service.moduleloading import LoadedModule, LoadedModules
from consentry.store.ledger import Change
from consentry.store.modulechecks import spent_approval

Handler: TypeAlias = Callable[[ModuleCall], Any]
"""A command's own code in the host; its answer is the host's business."""

_USUAL_WAIT: Final = Duration(10_000)
_MOST_LOOKED_AT: Final = 16
_SURFACES: Final = {
    Origin.AUTOMATION: GraphSurface.AUTOMATION,
    Origin.BACKGROUND: GraphSurface.BACKGROUND,
}
_ENDINGS: Final = {
    Outcome.DENIED: Code.APPROVAL_DENIED,
    Outcome.EXPIRED: Code.APPROVAL_EXPIRED,
    Outcome.SUPERSEDED: Code.APPROVAL_SUPERSEDED,
}


class ActionStatus(StrEnum):
    """How a call came out."""

    DONE = "done"
    WAITING = "waiting"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """What came of calling an action.

    `states` are those of the capability check, in order. `code` is one of the seven of MODULES, or one of
    the product's own where a command's rule said no. `results` are what the commands answered.
    """

    status: ActionStatus
    states: tuple[CheckState, ...]
    run: ActionRun
    code: str | None = None
    capability_id: str | None = None
    why: str | None = None
    request_id: str | None = None
    results: tuple[Any, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it ran to its end."""
        return self.status is ActionStatus.DONE

    def to_json(self) -> dict[str, Json]:
        """The outcome as it is told, without what the commands answered."""
        return {
            "status": self.status.value,
            "states": [each.value for each in self.states],
            "actionRunId": self.run.action_run_id,
            "moduleId": self.run.module.module_id,
            "actionId": self.run.action_id,
            "code": self.code,
            "capabilityId": self.capability_id,
            "why": self.why,
            "requestId": self.request_id,
        }


@dataclass(frozen=True, slots=True)
class ActionWish:
    """What a caller wants: which action, from where, with what, and whom to ask.

    `asks` says whether a question may be put at all; `waits` whether the call waits for its answer.
    """

    module_id: str
    action_id: str
    origin: Origin = Origin.INTERACTIVE
    arguments: Json = None
    role: Role = Role.OWNER
    target: ExportTarget | None = None
    asker: Asker | None = None
    asks: bool = True
    waits: bool = False
    resumes: ApprovalRequest | None = field(default=None)


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
        lanes: CommandLanes | None = None,
    ) -> None:
        self._host = host
        self._handlers = handlers
        self._modules = modules
        self._gate = gate
        self._desk = desk
        self._powers_of = powers_of
        self._lanes = lanes or CommandLanes()

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
            return _waiting(wanted, result, request_id)
        rejection = result.rejection or self._broken_rule(wish, action, wanted)
        if rejection is not None:
            return self._refused(wanted, result, rejection)
        refused = self._role_refused(wish, action, wanted, result)
        if refused is not None:
            return refused
        approval = self._approved(wish, action, wanted, result)
        if isinstance(approval, ActionOutcome):
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
        return Wanted(run, needed, said(module.package.display_name), said(action.label))

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
        if WRITES in wanted.needed:
            return Rejection(RejectCode.POLICY_VIOLATION, WRITES, NO_TRANSACTIONS)
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
                return _not_done(wanted, result, Code.COMMAND_REFUSED.value, why)
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
        if rule is None:
            return None
        request = self._approval(wish, rule, wanted)
        if request is None:
            why = "the command needs approval, and nobody is to be asked"
            return _not_done(wanted, result, Code.APPROVAL_PENDING.value, why)
        answer = request.answer
        if answer is None:
            return _waiting(wanted, result, request.request_id)
        if answer.outcome is not Outcome.APPROVED:
            code = _ENDINGS[answer.outcome].value
            return _not_done(wanted, result, code, request.ending, request.request_id)
        # Once more, on whatever way the answer came.
        ActionAsk.of(request).require_takes(answer)
        if answer.lasts is Lasts.SESSION:
            return None
        now = self._desk.journal.clock.now()
        return spent_approval(request.request_id, wanted.run, now)

    def _approval(
        self, wish: ActionWish, rule: ApprovalRule, wanted: Wanted
    ) -> ApprovalRequest | None:
        """The question about this call as it stands: resumed, remembered, waiting, or put now."""
        if wish.resumes is not None:
            return self._desk.look(wish.resumes.request_id)
        session_id = self._desk.journal.context.session_id
        ask = ActionAsk(
            wanted.run,
            wanted.display_name,
            rule,
            session_id,
            wanted.label,
            wish.arguments,
        )
        request = self._remembered(ask)
        if request is None and wish.origin.is_automation:
            waiting = self._waiting_already(ask)
            if waiting is not None:
                return waiting
        if request is None:
            if not wish.asks:
                return None
            request = self._desk.ask(ask.question(), Waits.PROMPT)
        if request.is_pending and (wish.waits or wish.asker is not None):
            request = self._desk.wait(request, wish.asker)
        return request

    def _remembered(self, ask: ActionAsk) -> ApprovalRequest | None:
        """Of a soft rule, the yes for the session if that was the last word, or the same call that waits.

        A call with other arguments is another question: who answers sees what they say yes to.
        """
        if not ask.is_rememberable:
            return None
        for each in self._desk.requests.latest_about(ask.digest, _MOST_LOOKED_AT):
            earlier = self._desk.look(each.request_id)
            if earlier.answer is None:
                if ActionAsk.of(earlier).arguments == ask.arguments:
                    return earlier
            elif earlier.answer.outcome not in BY_SYSTEM:
                return earlier if earlier.answer.lasts is Lasts.SESSION else None
        return None

    def _waiting_already(self, ask: ActionAsk) -> ApprovalRequest | None:
        """A question about the same call that nobody answered yet; what runs by itself may not pile them up."""
        subject = ask.question().subject
        for each in self._desk.requests.pending():
            if each.question.kind is RequestKind.ACTION and each.question.subject == subject:
                other = ActionAsk.of(each)
                same = replace(other.run, action_run_id=ask.run.action_run_id) == ask.run
                if same and (other.arguments, other.session_id) == (ask.arguments, ask.session_id):
                    return each
        return None

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
                answer = self._called(call, wish, module, run, powers)
                results.append(answer)
        except CapabilityRejected as refused:
            self._gate.reject(wanted, refused.rejection)
            self._gate.end(run, "rejected", refused.rejection.code.value)
            return _not_done(
                wanted,
                begun,
                refused.rejection.code.value,
                refused.rejection.why,
                capability_id=refused.rejection.capability_id,
            )
        except ConsentryError as refused:
            self._gate.end(run, "failed", refused.code.value)
            return _not_done(wanted, begun, refused.code.value, refused.message)
        except BaseException:
            self._gate.end(run, "failed")
            raise
        self._gate.end(run, "done")
        return ActionOutcome(ActionStatus.DONE, begun.states, run, results=tuple(results))

    def _called(
        self,
        command_id: str,
        wish: ActionWish,
        module: LoadedModule,
        run: ActionRun,
        powers: Powers,
    ) -> Any:
        command, handler = self._host.command(command_id), self._handlers.get(command_id)
        if command is None or handler is None:
            message = f"the host has no handler for `{command_id}` in this process"
            raise UsageProblem(Code.MODULE_UNKNOWN, message)
        binding = _binding_of(module, run.action_id, command_id)
        with ExitStack() as held:
            held.enter_context(self._lanes.entered(command_id, command.queue, wait=_USUAL_WAIT))
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
        return _not_done(
            wanted,
            result,
            rejection.code.value,
            rejection.why,
            capability_id=rejection.capability_id,
        )


def _binding_of(
    module: LoadedModule, action_id: str | None, command_id: str
) -> CommandBinding | None:
    """The binding that an action stands for, or else the first of the module to this command."""
    of_command = [each for each in module.package.bindings if each.command_id == command_id]
    own = [each for each in of_command if action_key(each.binding_id) == action_id]
    return next(iter(own or of_command), None)


def _waiting(wanted: Wanted, result: CheckResult, request_id: str) -> ActionOutcome:
    return ActionOutcome(ActionStatus.WAITING, result.states, wanted.run, request_id=request_id)


def _not_done(
    wanted: Wanted,
    result: CheckResult,
    code: str,
    why: str,
    request_id: str | None = None,
    capability_id: str | None = None,
) -> ActionOutcome:
    return ActionOutcome(
        ActionStatus.REJECTED,
        result.states,
        wanted.run,
        code=code,
        capability_id=capability_id,
        why=why,
        request_id=request_id,
    )

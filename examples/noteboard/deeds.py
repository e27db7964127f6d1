"""What the buttons of the page do, and what came of the last one.

The rules are the host's (`consentry.modules`); this file only carries a person's choice to it. A call that
waits for an answer is kept, with the file that was chosen for it, and is made again when the answer was
yes. Whoever holds a `Deeds` speaks for the person at the board, so only the server has one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from consentry.base.errors import ConsentryError
from consentry.modules import (
    ActionOutcome,
    ActionStatus,
    CheckState,
    ExportTarget,
    LoadedModule,
    ModuleHost,
    Origin,
    RejectCode,
    RequestKind,
)
from examples.noteboard.board import Board
from examples.noteboard.changes import Changes
from examples.noteboard.notes import BoardProblem
from examples.noteboard.told import Told

EXPORTS = "export.user.file"
DECISIONS = {
    "session": "approve_session",
    "persistent": "approve_persistent",
    "once": "approve_once",
    "deny": "deny",
    "cancel": "deny",
}
_DECIDED = (
    CheckState.STARTED,
    CheckState.REQUIRED,
    CheckState.DECISION,
    CheckState.RESULT,
)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an action, as a person made it."""

    module_id: str
    action_id: str
    target: ExportTarget | None = None
    arguments: Mapping[str, str | None] = field(default_factory=dict)


class Deeds:
    """One person's clicks on one board."""

    def __init__(self, board: Board, host: ModuleHost) -> None:
        self.board = board
        self.host = host
        self.changes = Changes(host)
        self.last: Told | None = None
        self.results: dict[tuple[str, str], str] = {}
        self._waiting: dict[str, Call] = {}

    def do(self, deed: Callable[[], Told | None]) -> None:
        """Does it, and keeps what came of it; a refusal is told and nothing else."""
        try:
            self.last = deed()
        except BoardProblem as problem:
            self.last = Told("rejected", "The board says no", why=str(problem))
        except ConsentryError as problem:
            self.last = Told("rejected", "Refused", problem.code.value, problem.message)

    def import_module(self, package: bytes, graph: bytes | None) -> Told:
        """Imports a package with the envelope that the host answers."""
        answer = self.host.import_module(package, graph)
        if answer["ok"] is not True:
            where = f"at {answer['path']}: {answer['message']}"
            return Told("rejected", "The package was not imported", str(answer["code"]), where)
        named = f"{answer['moduleId']} {answer['moduleVersion']}"
        how = "replaces the version that was here" if answer["replaced"] else "is new here"
        return Told("done", f"Imported {named}", str(answer["code"]), f"it {how}")

    def remove(self, module_id: str) -> Told:
        """Removes a module with its grants and what it stored."""
        removed = self.host.remove(module_id)
        self.results = {key: each for key, each in self.results.items() if key[0] != module_id}
        why = f"{removed.grants} grants and {removed.stored_keys} stored keys went with it"
        return Told("done", f"Removed {module_id}", why=why)

    def ask(self, module_id: str, capability_id: str) -> Told:
        """Puts the question for one capability, ahead of any action."""
        outcome = self.host.request(module_id, [capability_id])
        return self._told(outcome, f"{module_id} asks for {capability_id}")

    def act(self, module_id: str, action_id: str, target: ExportTarget | None = None) -> Told:
        """Calls an action of a module, as a person who clicked it."""
        selected = self.board.notes().selected
        return self._call(Call(module_id, action_id, target, {"selected": selected}))

    def export(self, module_id: str, action_id: str, name: str, *, overwrite: bool) -> Told:
        """Calls an action with the file that the person chose for this one export."""
        target = ExportTarget(self.board.exports, name, overwrite=overwrite)
        return self.act(module_id, action_id, target)

    def answer(self, request_id: str, decision: str) -> Told:
        """Records what the person decided, and goes on with what waited for it."""
        if decision not in DECISIONS:
            raise BoardProblem("that is not one of the answers")
        if self.changes.is_about_one(request_id):
            if decision not in ("once", "deny"):
                raise BoardProblem("a change is approved as it is shown, once, or it is rejected")
            return self.changes.answer(request_id, is_yes=decision == "once")
        is_cancel = decision == "cancel"
        request = self.host.answer(request_id, DECISIONS[decision], cancelled=is_cancel)
        call = self._waiting.pop(request_id, None)
        is_capability = request.question.kind is RequestKind.CAPABILITY
        if decision in ("deny", "cancel"):
            code = RejectCode.ESCALATION_DENIED.value if is_capability else "approval-denied"
            return Told(
                "rejected",
                "You closed the question" if is_cancel else "You said no",
                code,
                "nothing was done",
                _DECIDED if is_capability else (),
            )
        if call is None:
            return Told("done", "You said yes", states=_DECIDED if is_capability else ())
        if is_capability:
            told = self._call(call)
            is_passed = told.states[-1:] == (CheckState.PASSED,)
            return replace(told, states=_DECIDED) if is_passed else told
        outcome = self.host.resume(request_id, target=call.target)
        return self._told(outcome, f"{call.module_id}: {call.action_id}")

    def automate(self) -> Told:
        """What a timer would do: calls each action that a graph offers to automation, once."""
        lines = tuple(f"{name}: {told.code or told.status}" for name, told in self.tick())
        if not lines:
            return Told("done", "Automation ran", why="no module offers an action to it")
        return Told("done", "Automation ran", results=lines)

    def tick(self) -> list[tuple[str, Told]]:
        """Every call of one round of automation, with what came of it."""
        offered = [
            (module.identity.module_id, action.id)
            for module in self.host.modules()
            if isinstance(module, LoadedModule)
            for action in module.graph.actions
            if "automation" in action.surface
        ]
        return [(" ".join(each), self._automated(*each)) for each in offered]

    def _automated(self, module_id: str, action_id: str) -> Told:
        try:
            outcome = self.host.invoke(module_id, action_id, origin=Origin.AUTOMATION)
        except ConsentryError as problem:
            return Told("rejected", "Refused", problem.code.value, problem.message)
        return self._told(outcome, action_id)

    def _call(self, call: Call) -> Told:
        outcome = self.host.invoke(
            call.module_id, call.action_id, arguments=dict(call.arguments), target=call.target
        )
        is_asked = outcome.status is ActionStatus.WAITING and outcome.transaction_id is None
        if is_asked and outcome.request_id is not None:
            self._waiting[outcome.request_id] = call
        return self._told(outcome, f"{call.module_id}: {call.action_id}")

    def _told(self, outcome: ActionOutcome, title: str) -> Told:
        results = tuple(str(each) for each in outcome.results)
        if results and outcome.status is ActionStatus.DONE:
            named = (outcome.run.module.module_id, str(outcome.run.action_id))
            self.results[named] = " · ".join(results)
        return Told(
            outcome.status.value,
            title,
            outcome.code,
            _why(outcome),
            tuple(each.value for each in outcome.states),
            results,
        )


def _why(outcome: ActionOutcome) -> str | None:
    """What there is to say besides the code."""
    if outcome.transaction_id is None:
        is_waiting = outcome.status is ActionStatus.WAITING
        return "it waits for your answer" if is_waiting else outcome.why
    if outcome.status is ActionStatus.DONE:
        return "its change is applied; you can roll it back below"
    if outcome.status is ActionStatus.REJECTED:
        return outcome.why
    if outcome.request_id is not None:
        return "nothing is changed yet: look at what it wants to change, and decide"
    return outcome.why or "its change is under way"

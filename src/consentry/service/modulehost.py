"""`ModuleHost`: how an application lets its users import modules that it did not write (MODULES).

    host = consentry.ModuleHost("note-board", "1.0.0", commands=[…], state=…)
    host.import_module(package)          {"ok": True, "code": "imported", …}
    host.render(Slot.LEFT_PANEL)         the entries that may be shown, as data
    host.invoke("word-count", "count")   done, rejected with one code, or waiting for a person
    host.answer(request_id, "approve_session")

The object is one session: it begins when the object is made and ends with `close`, and what was granted
for the session ends with it. Every module is data; all code that runs is the host's own. Nothing that a
module asks for happens without a grant that a person gave, and every request, answer, use and refusal is
in the ledger before it takes effect.

Whoever holds the object speaks for the person at the host: `answer` proves nobody's presence. Where an
approval passphrase is set, an answer needs it here as at a terminal.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Self

from consentry.base.canonical import Json
from consentry.base.clock import Clock, SystemClock
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.base.values import dataclass
from consentry.decide.actionask import ActionAsk
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilityask import CapabilityDecision
from consentry.decide.capabilitycheck import CheckResult, Origin
from consentry.decide.documentstore import DocumentStore, as_document
from consentry.decide.identity import Identity, Role
from consentry.decide.moduleregistration import ACTION_PREFIX, ActionRun, Removed, said
from consentry.decide.question import CANCELLED, Answer, Channel, RequestKind
from consentry.decide.statechange import read_operations
from consentry.decide.transactionask import TransactionAsk
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import TxOrigin
from consentry.declare.actiongraph import ActionGraph
from consentry.declare.hostdescription import CommandDeclaration, HostDescription
from consentry.declare.hostfile import check_host
from consentry.declare.modulevalues import Slot
from consentry.enforce.broker import Powers
from consentry.enforce.moduleexport import ExportReceipt, ExportTarget
from consentry.service.actionchange import ActionChanges
from consentry.service.actionoutcome import ActionOutcome, ActionStatus, ActionWish
from consentry.service.approvals import Asker, Desk
from consentry.service.fixtures import FixtureCase
from consentry.service.moduleactions import ActionRunner, Handler
from consentry.service.moduleanswers import ModuleAnswers, decided
from consentry.service.modulegate import ModuleGate, Wanted
from consentry.service.moduleimport import GraphFile, import_module
from consentry.service.moduleloading import LoadedModule, LoadedModules, Unfit
from consentry.service.modulepowers import KeptStorage, export_of
from consentry.service.moduleslots import RENDERS, ModuleSlots, Rendering
from consentry.service.ownsettings import own_settings
from consentry.service.sessions import end_session_of, journal_of_library, sessions_of
from consentry.service.surroundings import Surroundings, look_around
from consentry.service.transactionplace import USUAL_TERMS, TxPlace, TxTerms
from consentry.service.transactions import Transactions
from consentry.service.transactionwatch import ModuleWatch
from consentry.store.documents import StoredDocument
from consentry.store.modulechecks import ModuleChecks
from consentry.store.modules import StoredModules


@dataclass(frozen=True, slots=True)
class HostCommand:
    """A command of the host: what it declares, and the code that does it."""

    declaration: CommandDeclaration
    handler: Handler


class ModuleHost:
    """One application and the modules that were imported into it; a context manager that ends its session."""

    def __init__(
        self,
        environ: Mapping[str, str],
        host_id: str,
        version: str,
        commands: Sequence[HostCommand] = (),
        *,
        state: Callable[[], object] | None = None,
        writable_paths: Sequence[str] = (),
        document: DocumentStore | str | None = None,
        terms: TxTerms = USUAL_TERMS,
        clock: Clock | None = None,
        fixture: FixtureCase | None = None,
    ) -> None:
        declared = tuple(each.declaration for each in commands)
        self.description = HostDescription(host_id, version, declared, tuple(writable_paths))
        check_host(self.description)
        self._around: Surroundings = look_around(environ)
        now = clock or SystemClock()
        settings = own_settings(self._around).approvals
        self._journal = journal = journal_of_library(self._around, now, Uuid7Ids(now), fixture)
        self.document = self._kept(document or host_id)
        self._state = state or self.state
        self._modules = StoredModules(self._journal)
        try:
            self._begin()
        except BaseException:
            self.close()
            raise
        self._desk = Desk(self._journal, settings)
        self._answers = ModuleAnswers(host_id, self._around, self._desk)
        checks = ModuleChecks(self._journal, host_id)
        self._gate = ModuleGate(checks, self._desk)
        watch = ModuleWatch(self.description, self._gate, checks, journal)
        place = TxPlace(journal, self.document, watch, terms)
        self.transactions = Transactions(place, self._desk)
        self._changes = ActionChanges(self.description, self.transactions, self._desk)
        self._loaded = LoadedModules(self._modules, self.description)
        self._slots = ModuleSlots(self._loaded, self._gate, self._journal.ids)
        self._runner = ActionRunner(
            self.description,
            {each.declaration.command_id: each.handler for each in commands},
            self._loaded,
            self._gate,
            self._desk,
            self._powers,
            self._changes,
        )

    def _kept(self, document: DocumentStore | str) -> DocumentStore:
        """The document: the host's own store, or the built-in one of that name."""
        if not isinstance(document, str):
            return document
        journal = self._journal
        return StoredDocument(journal.database, journal.clock, journal.ids, document)

    def _begin(self) -> None:
        """Ends the sessions of hosts that were killed, with what was granted for them; and registers."""
        journal = self._journal
        sessions_of(self._around, journal.ledger, journal.clock, journal.ids).open()
        self._modules.register_host(self.description)

    @property
    def session_id(self) -> str:
        """The session that lasts as long as this object."""
        return str(self._journal.context.session_id)

    @property
    def user(self) -> Identity:
        """On whose behalf the host runs."""
        return Identity(self._journal.context.actor)

    def import_module(
        self, package: bytes | str | Mapping[str, object], graph: bytes | None = None
    ) -> dict[str, Json]:
        """Imports a package: the envelope, `{"ok": True, …}` or `{"ok": False, "code", "path", …}`.

        Raises:
            BadDocument: the action graph that came with it is wrong.
        """
        given = None if graph is None else GraphFile(graph, "graph.json")
        return import_module(self._journal, self.description, package, self.user, given)

    def modules(self) -> list[LoadedModule | Unfit]:
        """Every module that is registered here, also those that do not fit the host any more."""
        return self._loaded.all()

    def graph(self, module_id: str) -> ActionGraph:
        """What a module can do, as its own graph says or as follows from its bindings."""
        return self._module(module_id).graph

    def remove(self, module_id: str) -> Removed:
        """Removes a module with its grants and all that it stored."""
        removed = self._modules.remove(self.description.host_id, module_id, self.user)
        if removed is None:
            raise UsageProblem(Code.MODULE_UNKNOWN, f"no module `{module_id}` is registered here")
        return removed

    def check(self, module_id: str, capabilities: Sequence[str]) -> CheckResult:
        """What the policy says to these in this moment; nobody is asked and nothing is recorded."""
        return self._gate.check(self._wish_for(self._module(module_id), tuple(capabilities), None))

    def render(self, slot: Slot) -> Rendering:
        """The entries that modules declared for a slot and may show, as data."""
        return self._slots.rendered(slot)

    def request(
        self,
        module_id: str,
        capabilities: Sequence[str],
        *,
        asker: Asker | None = None,
        wait: bool = False,
    ) -> ActionOutcome:
        """Asks for capabilities that a module lacks, before an action needs them."""
        module = self._module(module_id)
        wanted = self._wish_for(module, tuple(sorted(set(capabilities))), None)
        result = self._gate.check(wanted)
        if result.is_passed:
            return ActionOutcome(ActionStatus.DONE, result.states, wanted.run)
        if result.missing:
            escalated = self._gate.escalate(wanted, result, asker, waits=wait)
            result = escalated.result
            if escalated.request.is_pending:
                request_id = escalated.request.request_id
                return ActionOutcome(
                    ActionStatus.WAITING, result.states, wanted.run, request_id=request_id
                )
        rejection = result.rejection
        if rejection is None:
            return ActionOutcome(ActionStatus.DONE, result.states, wanted.run)
        self._gate.reject(wanted, rejection)
        return ActionOutcome(
            ActionStatus.REJECTED,
            result.states,
            wanted.run,
            code=rejection.code.value,
            capability_id=rejection.capability_id,
            why=rejection.why,
        )

    def invoke(
        self,
        module_id: str,
        action_id: str,
        *,
        arguments: Json = None,
        origin: Origin | str = Origin.INTERACTIVE,
        role: Role | str = Role.OWNER,
        target: ExportTarget | None = None,
        asker: Asker | None = None,
        ask: bool = True,
        wait: bool = False,
    ) -> ActionOutcome:
        """Calls an action of a module.

        Args:
            module_id: the module.
            action_id: the action: of its graph, or the id of a binding where it has no graph of its own.
            arguments: what the person gave it, JSON-safe.
            origin: from where it is called; the policy is the same, automation needs a capability more.
            role: what the person is on whose behalf it runs.
            target: the file that the user chose for this export.
            asker: somebody to ask here; without one the question is stored for whoever answers it.
            ask: whether a question may be put at all.
            wait: whether to wait for the answer; otherwise the outcome is `waiting`.
        """
        wish = ActionWish(
            module_id=module_id,
            action_id=action_id,
            origin=Origin(origin),
            arguments=arguments,
            role=Role(role),
            target=target,
            asker=asker,
            asks=ask,
            waits=wait,
        )
        return self._runner.run(wish)

    def state(self) -> dict[str, Json]:
        """The document as it is: entities by type and id."""
        return as_document(self.document.read())

    def change(self, operations: Json, label: str) -> Attempt:
        """Changes the document as the person at the host asked, who saw what they did.

        The attempt is `APPLIED`, or says what stood against it. Where others change the document at the same
        time it is previewed again, as long as its operations fit. For the change of a module, see `invoke`.
        """
        origin = TxOrigin(
            host_id=self.description.host_id,
            proposed_by=self.user,
            label=said(label),
            session_id=self.session_id,
        )
        return self.transactions.change(origin, read_operations(operations))

    def pending(self) -> list[ApprovalRequest]:
        """What modules of this host wait for an answer to."""
        return self._answers.pending()

    def answer(
        self,
        request_id: str,
        decision: CapabilityDecision | str,
        *,
        by: Identity | None = None,
        role: Role | str = Role.OWNER,
        reason: str | None = None,
        cancelled: bool = False,
        passphrase: str | None = None,
    ) -> ApprovalRequest:
        """Records what a person of the host decided; the first answer counts.

        For a capability the decisions are `approve_session`, `approve_persistent` and `deny`; a command
        that needs approval takes `approve_session` where that may be remembered, `approve_once`, `deny`.
        A prompt that was closed is a deny with `cancelled`.
        """
        # A prompt that was closed is no yes, whatever stood in it.
        outcome, lasts = decided(CapabilityDecision.DENY if cancelled else decision)
        answer = Answer(
            outcome,
            by or self.user,
            Role(role),
            Channel.LIBRARY,
            CANCELLED if cancelled else reason,
            lasts,
        )
        return self._answers.give(request_id, answer, passphrase)

    def decision(self, request_id: str) -> CheckResult:
        """What became of a question about capabilities, for a call that did not wait for it.

        Rejected with `capability-escalation-denied` or `capability-escalation-timeout`, passed after a
        yes; while it waits, as it was when it was put.
        """
        return self._gate.decided(self._answers.found(request_id))

    def resume(self, request_id: str, *, target: ExportTarget | None = None) -> ActionOutcome:
        """Carries out the call that waited for an approval, of a command or of its change, once."""
        request = self._answers.found(request_id)
        if request.question.kind is RequestKind.TRANSACTION:
            return self._changes.resumed(TransactionAsk.of(request).tx_id)
        ask = ActionAsk.of(request)
        if ask.session_id != self.session_id:
            message = f"`{request.request_id}` was asked in another session"
            raise Refused(Code.ANSWER_REFUSED, message)
        wish = ActionWish(
            module_id=ask.run.module.module_id,
            action_id=str(ask.run.action_id),
            origin=ask.run.origin,
            arguments=ask.arguments,
            target=target,
            resumes=request,
        )
        return self._runner.run(wish)

    def close(self) -> None:
        """Ends the session, and with it what was granted for it."""
        end_session_of(self._journal)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _module(self, module_id: str) -> LoadedModule:
        return self._loaded.of(self._gate.standing(module_id))

    def _wish_for(
        self, module: LoadedModule, needed: tuple[str, ...], action_id: str | None
    ) -> Wanted:
        """What is checked besides actions: showing entries, and asking ahead."""
        run = ActionRun(
            self._journal.ids.new(ACTION_PREFIX), module.identity, action_id, Origin.INTERACTIVE
        )
        return Wanted(run, needed, said(module.package.display_name), acts=needed != (RENDERS,))

    def _powers(self, run: ActionRun) -> Powers:
        storage = KeptStorage(self._journal, self._gate, run)

        def export(target: ExportTarget, content: bytes) -> ExportReceipt:
            return export_of(self._around, self._gate, run, target, content)

        return Powers(self._state, storage, export)

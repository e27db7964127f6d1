"""Processes of one host on one store, in this process: each with its own connection, session and catalog.

A `Program` is a `ModuleHost` on a ledger that tells its steps, so that another one can act in the middle of
an operation, or it can be ended there. An ended one is dead: whatever it tries to write from then on ends it
again, as nothing runs after `kill -9`.

A program of another version is one with another catalog: what the product reads from its own files is put in
its place while that program acts.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from consentry.base.clock import Clock
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.base.values import replace
from consentry.decide.identity import Identity, Role
from consentry.decide.modulemode import ModuleMode
from consentry.decide.question import CANCELLED, Answer, Channel, Outcome
from consentry.decide.session import SessionKind
from consentry.record.envelope import Context
from consentry.service import moduleimport
from consentry.service.actionchange import ActionChanges
from consentry.service.actionoutcome import ActionOutcome
from consentry.service.approvals import Desk
from consentry.service.moduleactions import ActionRunner, Handler
from consentry.service.moduleanswers import ModuleAnswers, decided
from consentry.service.modulegate import ModuleGate
from consentry.service.modulehost import ModuleHost
from consentry.service.moduleloading import LoadedModules
from consentry.service.surroundings import look_around
from consentry.service.transactionplace import TxPlace
from consentry.service.transactions import Transactions
from consentry.service.transactionwatch import ModuleWatch
from consentry.store import capabilityescalations, grants, modulechecks, modules
from consentry.store.database import Database
from consentry.store.documents import StoredDocument
from consentry.store.grants import StoredGrants
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.modulechecks import ModuleChecks
from consentry.store.modules import StoredModules
from consentry.store.sessions import StoredSessions
from consentry.store.steps import Step
from consentry.surface.catalog import capability_catalog
from tests.decide.samples import APPROVER, OWNER
from tests.service.desks import Said
from tests.service.moduleboard import BAD, HANDLERS, HOST, HOST_ID, PACKAGES, graph_of

READERS: Final = (capabilityescalations, grants, modulechecks, modules, moduleimport)
NOWHERE: Final = {"HOME": "/nowhere", "CONSENTRY_STATE": "/nowhere/state"}
"""Where no approval passphrase is set."""
ROLES: Final = {OWNER: Role.OWNER, APPROVER: Role.APPROVER}


class Killed(BaseException):
    """The end of a program."""


class Kill:
    """Ends a program at a step of its so-manieth append, for good."""

    def __init__(self, step: Step, passes: int) -> None:
        self.fell = False
        self._step = step
        self._passes = passes

    def __call__(self, step: Step) -> None:
        """Told of every step."""
        if step is Step.QUEUED:
            self._passes -= 1
        if step is self._step and self._passes == -1:
            self.fell = True
        if self.fell:
            raise Killed


class Meanwhile:
    """Has somebody else act when a program is about to begin its so-manieth append."""

    def __init__(self, passes: int, act: Callable[[], None]) -> None:
        self.fell = False
        self._passes = passes
        self._act = act

    def __call__(self, step: Step) -> None:
        """Told of every step."""
        if step is not Step.QUEUED or self.fell:
            return
        self._passes -= 1
        if self._passes < 0:
            self.fell = True
            self._act()


class Program(ModuleHost):
    """One process of the host."""

    def __init__(
        self,
        database: Database,
        writer: str,
        clock: Clock,
        catalog: str,
        checks: type[ModuleChecks] = ModuleChecks,
        handlers: Mapping[str, Handler] = HANDLERS,
    ) -> None:
        self.catalog = replace(capability_catalog(), version=catalog)
        self.reached: Callable[[Step], None] | None = None
        self.description = HOST
        self._state = dict
        ledger = Ledger(database, writer, self._tell)
        parts = (ledger, Uuid7Ids(clock), clock)
        self.sessions = StoredSessions(*parts, Context(OWNER, writer), lambda _: True)
        session = self.sessions.start(OWNER, SessionKind.LIBRARY)
        self._journal = Journal(*parts, Context(OWNER, writer, session.session_id))
        self._modules = StoredModules(self._journal, self.catalog)
        self._desk = Desk(self._journal, pause=lambda _: None)
        self._answers = ModuleAnswers(HOST_ID, look_around(NOWHERE), self._desk)
        looks = checks(self._journal, HOST_ID, self.catalog)
        self._gate = ModuleGate(looks, self._desk)
        self._loaded = LoadedModules(self._modules, HOST)
        self._told = set()
        self.document = StoredDocument(database, clock, self._journal.ids, HOST_ID)
        watch = ModuleWatch(HOST, self._gate, looks, self._journal)
        place = TxPlace(self._journal, self.document, watch)
        self.transactions = Transactions(place, self._desk)
        self._changes = ActionChanges(HOST, self.transactions, self._desk)
        self._runner = ActionRunner(
            HOST, handlers, self._loaded, self._gate, self._desk, self._powers, self._changes
        )

    def _tell(self, step: Step) -> None:
        if self.reached is not None:
            self.reached(step)

    @contextmanager
    def acting(self) -> Iterator[None]:
        """This program's own catalog is the product's, for the block."""
        before = {reader: reader.capability_catalog for reader in READERS}  # type: ignore[attr-defined]
        try:
            for reader in READERS:
                reader.capability_catalog = lambda: self.catalog  # type: ignore[attr-defined]
            yield
        finally:
            for reader, catalog in before.items():
                reader.capability_catalog = catalog  # type: ignore[attr-defined]

    def do(self, operation: Callable[["Program"], tuple[Any, ...]]) -> tuple[Any, ...]:
        """What comes of it, in the model's words."""
        with self.acting():
            try:
                return operation(self)
            except ConsentryError as refused:
                return ("raised", refused.code.value)

    def import_good(self, module: str, version: str, content: str) -> tuple[Any, ...]:
        """Imports one of the packages, with its graph."""
        package = PACKAGES[module, version, content]
        said = self.import_module(package, graph_of(module))
        assert (said["ok"], said["moduleId"], said["moduleVersion"]) == (True, module, version)
        return (said["code"], said["replaced"])

    def import_bad(self, code: str) -> tuple[Any, ...]:
        """Tries one that is refused."""
        said = self.import_module(BAD[code])
        assert said["ok"] is False
        return ("refused", said["code"])

    def drop(self, module: str) -> tuple[Any, ...]:
        """Removes a module."""
        self.remove(module)
        return ("removed",)

    def set_mode(self, mode: str) -> tuple[Any, ...]:
        """The operator's switch."""
        self._modules.set_mode(ModuleMode(mode), OWNER)
        return ("mode",)

    def revoke(self, grant_id: str) -> tuple[Any, ...]:
        """Takes a grant back."""
        journal = self._journal
        parts = (journal.ledger, journal.ids, journal.clock, journal.context)
        StoredGrants(*parts, self.catalog).revoke(grant_id, OWNER)
        return ("revoked",)

    def granted(self, module: str) -> list[str]:
        """The grants that a module ever had."""
        journal = self._journal
        parts = (journal.ledger, journal.ids, journal.clock, journal.context)
        return [each.grant_id for each in StoredGrants(*parts).of_module(HOST_ID, module)]

    def expire(self) -> tuple[Any, ...]:
        """Looks at what waits."""
        self.pending()
        return ("expired",)

    def end(self, session_id: str) -> tuple[Any, ...]:
        """Ends a session, which may be another program's."""
        self.sessions.end(session_id)
        return ("ended",)

    def ask_for(self, module: str, wanted: tuple[str, ...]) -> tuple[Any, ...]:
        """Asks ahead."""
        return _told(self.request(module, wanted))

    def act(
        self, module: str, action: str, origin: str, decision: str | None, by: str, value: int
    ) -> tuple[Any, ...]:
        """Calls an action; somebody answers where there is a decision."""
        asker = None if decision is None else Said(_answer(decision, Identity(by)))
        done = self.invoke(module, action, arguments=value, origin=origin, asker=asker)
        return _told(done)

    def decide(self, request_id: str, decision: str, by: str) -> tuple[Any, ...]:
        """Answers a question."""
        given = _answer(decision, Identity(by))
        request = self.answer(
            request_id,
            "deny" if decision == "cancel" else decision,
            by=given.by,
            role=given.role,
            cancelled=decision == "cancel",
        )
        return ("answered", request.status)


def _answer(decision: str, by: Identity) -> Answer:
    is_cancelled = decision == "cancel"
    outcome, lasts = decided("deny" if is_cancelled else decision)
    reason = CANCELLED if is_cancelled and outcome is Outcome.DENIED else None
    return Answer(outcome, by, ROLES[by], Channel.LIBRARY, reason, lasts)


def _told(outcome: ActionOutcome) -> tuple[Any, ...]:
    states = tuple(each.value for each in outcome.states)
    return (outcome.status.value, states, outcome.code, outcome.capability_id)


@contextmanager
def planted(faults: Mapping[tuple[object, str], object]) -> Iterator[None]:
    """The product with something else in these places, for tests that show what a test finds."""
    before = {(owner, name): getattr(owner, name) for owner, name in faults}
    try:
        for (owner, name), value in faults.items():
            setattr(owner, name, value)
        yield
    finally:
        for (owner, name), value in before.items():
            setattr(owner, name, value)

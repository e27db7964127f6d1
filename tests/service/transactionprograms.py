"""Programs of a host whose document changes, in this process: each with its own connections and session.

A program is what `ModuleHost` makes of the parts, on a ledger and a document store that tell their stroke what
they are about to do (`transactionstrokes`). Where several of them are one process of the system, which of them
live is known by numbers of our own.
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, Final

from consentry.base.clock import Clock
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.base.values import dataclass, field
from consentry.decide.capabilitycheck import ModuleIdentity
from consentry.decide.documentstore import (
    BeforeWrite,
    Commit,
    CommitRecord,
    DocumentStore,
    Snapshot,
)
from consentry.decide.grant import GrantScope, GrantTerms
from consentry.decide.identity import Identity, Role
from consentry.decide.modulemode import ModuleMode
from consentry.decide.question import Answer, Channel, Outcome
from consentry.decide.session import Leader, SessionKind
from consentry.decide.statechange import EntityName, read_operations
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import TxOrigin, Worker
from consentry.record.envelope import Context
from consentry.service.approvals import Desk
from consentry.service.modulegate import ModuleGate
from consentry.service.moduleimport import import_module
from consentry.service.transactionplace import TxPlace, TxTerms
from consentry.service.transactions import Transactions
from consentry.service.transactionwatch import ModuleWatch
from consentry.store.database import Database
from consentry.store.documents import StoredDocument
from consentry.store.grants import StoredGrants
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.modulechecks import ModuleChecks
from consentry.store.modules import StoredModules
from consentry.store.sessions import StoredSessions
from consentry.store.steps import Step
from tests.decide.samples import OWNER
from tests.service.transactionboard import (
    COMMAND,
    DIGESTS,
    DOCUMENT,
    HOST,
    HOST_ID,
    MODULE,
    PACKAGES,
    RULE,
    SETTINGS,
    TERMS,
)
from tests.service.transactionstrokes import Stroke

_numbers = count(1)
NOTHING: Final = Stroke()


@dataclass(frozen=True, slots=True)
class Place(TxPlace):
    """As the product's, but that processes are told apart by numbers of ours."""

    process: Leader = Leader(1, 0, "here")
    living: set[Leader] = field(default_factory=set)

    def worker(self) -> Worker:
        """This program."""
        until = self.now().plus(self.terms.lease)
        return Worker(self.journal.machine_id, self.process, until)

    def is_working(self, worker: Worker | None) -> bool:
        """Whether that program lives; of another machine it is believed."""
        if worker is None or self.now() >= worker.until:
            return False
        return worker.machine_id != self.journal.machine_id or worker.process in self.living


class ToldDocument:
    """A document store that tells what it is about to do."""

    def __init__(self, inner: DocumentStore, program: "Program") -> None:
        self._inner = inner
        self._program = program

    @property
    def document_id(self) -> str:
        """Its name."""
        return self._inner.document_id

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """As it is."""
        return self._inner.read(names)

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Whatever befalls it."""
        done: CommitRecord = self._program.stroke.at_document(
            commit, lambda asked: self._inner.commit(commit, asked), check
        )
        return done

    def settle(self, commit: Commit) -> CommitRecord | None:
        """Whatever befalls it."""
        found: CommitRecord | None = self._program.stroke.at_document(
            commit, lambda _: self._inner.settle(commit), None
        )
        return found


class Program:
    """One process of the host."""

    def __init__(
        self,
        database: Database,
        documents: Database,
        writer: str,
        clock: Clock,
        living: set[Leader] | None = None,
        *,
        terms: TxTerms = TERMS,
        document: DocumentStore | str = DOCUMENT,
    ) -> None:
        self.stroke: Stroke = NOTHING
        self.process = Leader(next(_numbers), 0, "here")
        ledger, ids = Ledger(database, writer, self._tell), Uuid7Ids(clock)
        parts = (ledger, ids, clock)
        sessions = StoredSessions(*parts, Context(OWNER, writer), lambda _: True)
        session = sessions.start(OWNER, SessionKind.LIBRARY)
        self.journal = journal = Journal(*parts, Context(OWNER, writer, session.session_id))
        self.modules = StoredModules(journal)
        self.modules.register_host(HOST)
        self.desk = Desk(journal, SETTINGS, pause=lambda _: None)
        checks = ModuleChecks(journal, HOST_ID)
        watch = ModuleWatch(HOST, ModuleGate(checks, self.desk), checks, journal)
        if isinstance(document, str):
            document = StoredDocument(documents, clock, ids, document)
        place = TxPlace(journal, ToldDocument(document, self), watch, terms)
        if living is not None:
            living.add(self.process)
            place = Place(
                journal, place.document, watch, terms, process=self.process, living=living
            )
        self.transactions = Transactions(place, self.desk)

    def _tell(self, step: Step) -> None:
        self.stroke.at_step(step)

    def do(self, operation: Callable[["Program"], tuple[Any, ...]]) -> tuple[Any, ...]:
        """What comes of it, in the model's words."""
        try:
            return operation(self)
        except ConsentryError as refused:
            return ("raised", refused.code.value)

    def propose(
        self,
        version: str | None,
        is_ruled: bool,  # noqa: FBT001 - drawn as it is
        operations: list[dict[str, Any]],
    ) -> Attempt:
        """For the module in that version, or for the person at the host."""
        module = None
        if version is not None:
            module = ModuleIdentity(HOST_ID, MODULE, version, DIGESTS[version])
        origin = TxOrigin(
            host_id=HOST_ID,
            proposed_by=OWNER,
            label="a change",
            module=module,
            action_id=None if module is None else "write",
            action_run_id=None if module is None else self.journal.ids.new("action"),
            commands=() if module is None else (COMMAND,),
            needed=() if module is None else ("state.write.tx",),
            session_id=self.journal.context.session_id,
            rule=RULE if is_ruled else None,
        )
        return self.transactions.propose(origin, read_operations(operations))

    def answer(
        self,
        tx_id: str,
        is_yes: bool,  # noqa: FBT001 - drawn as it is
        by: Identity = OWNER,
    ) -> tuple[Any, ...]:
        """Answers the question of a transaction as a person."""
        attempt = self.transactions.place.stored.required(tx_id)
        outcome = Outcome.APPROVED if is_yes else Outcome.DENIED
        answer = Answer(outcome, by, Role.OWNER, Channel.LIBRARY)
        request = self.desk.answer(str(attempt.request_id), answer)
        return ("answered", request.status)

    def import_version(self, version: str) -> tuple[Any, ...]:
        """Imports the module."""
        said = import_module(self.journal, HOST, PACKAGES[version], OWNER)
        assert said["ok"], said
        return ("imported",)

    def remove(self) -> tuple[Any, ...]:
        """Removes the module."""
        return ("removed", self.modules.remove(HOST_ID, MODULE, OWNER) is not None)

    def set_mode(self, mode: str) -> tuple[Any, ...]:
        """The operator's switch."""
        self.modules.set_mode(ModuleMode(mode), OWNER)
        return ("mode",)

    def grant(self, version: str) -> tuple[Any, ...]:
        """Gives the module what it asks for, in that version."""
        terms = GrantTerms(
            host_id=HOST_ID,
            module_id=MODULE,
            module_version=version,
            package_digest=DIGESTS[version],
            capability_id="state.write.tx",
            scope=GrantScope.PERSISTENT,
            given_by=OWNER,
            given_role=Role.OWNER,
            request_id=self.journal.ids.new("request"),
        )
        self._grants.give(terms)
        return ("granted",)

    def revoke(self) -> tuple[Any, ...]:
        """Takes back what stands."""
        standing = [
            each.grant_id
            for each in self._grants.of_module(HOST_ID, MODULE)
            if each.revoked_at is None
        ]
        for each in standing:
            self._grants.revoke(each, OWNER)
        return ("revoked", len(standing))

    @property
    def _grants(self) -> StoredGrants:
        journal = self.journal
        return StoredGrants(journal.ledger, journal.ids, journal.clock, journal.context)

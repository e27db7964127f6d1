"""What carrying out a transaction needs: where attempts are kept, the document, and who watches its writes."""

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Protocol

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.units import Duration
from consentry.base.values import dataclass, field
from consentry.decide.documentstore import Commit, CommitRecord, DocumentStore, Snapshot
from consentry.decide.identity import SYSTEM, Identity, Role
from consentry.decide.previewredaction import Redaction
from consentry.decide.session import Leader
from consentry.decide.statechange import ABSENT, EntityWrite, Operation, is_same, there
from consentry.decide.txattempt import Attempt, Violation
from consentry.decide.txparts import USUAL_TTL, TxOrigin, Worker, check_ttl
from consentry.decide.txstep import Caller
from consentry.enforce.broker import CapabilityRejected
from consentry.service.leader import is_alive, this_process
from consentry.store.journal import Journal
from consentry.store.modulechecks import Recording
from consentry.store.transactions import StoredTransactions

CALL_PREFIX: Final = "call"
NOTHING: Final = Recording((), lambda _: None)
"""What is recorded beside a step where nobody watches."""


@dataclass(frozen=True, slots=True)
class TxTerms:
    """How long an approval counts, a worker is believed, and an unknown commit is looked into."""

    ttl_seconds: int = USUAL_TTL
    lease: Duration = Duration(60_000)
    recovery: Duration = Duration(15 * 60_000)
    redactions: Sequence[Redaction] = ()

    def __post_init__(self) -> None:
        check_ttl(self.ttl_seconds)


USUAL_TERMS: Final = TxTerms()


class Watch(Protocol):
    """Who may write what: asked for a preview, before anything is written, and while it is.

    Raises `CapabilityRejected` where the answer is no.
    """

    def check(self, origin: TxOrigin, operations: Sequence[Operation]) -> None:
        """Whether this origin may make these changes."""
        ...

    def begin(self, attempt: Attempt, /) -> Recording:
        """What is recorded together with the step to `APPLYING`, which holds what it rests on."""
        ...

    def require(self, attempt: Attempt) -> None:
        """Whether it may still go on; asked while writes are under way."""
        ...

    def refused(
        self, attempt: Attempt, /, refused: CapabilityRejected, *, after_writes: bool
    ) -> Recording:
        """What is recorded together with the step that a refusal leads to."""
        ...

    def is_final(self, origin: TxOrigin) -> bool:
        """Whether a refusal ends the transaction, so that no later preview brings it back."""
        ...

    def undone(self, attempt: Attempt, /, broken: Violation, *, failed: bool) -> Recording:
        """What is recorded when the end of a roll-back is known that a violation forced."""
        ...


class Unwatched:
    """The application's own changes, on behalf of its person: nobody has to be asked besides."""

    def check(self, origin: TxOrigin, operations: Sequence[Operation]) -> None:
        """Nothing stands against it."""

    def begin(self, _: Attempt) -> Recording:
        """Nothing besides."""
        return NOTHING

    def require(self, attempt: Attempt) -> None:
        """It may."""

    def refused(self, _: Attempt, refused: CapabilityRejected, *, after_writes: bool) -> Recording:  # noqa: ARG002 - the protocol's
        """Nothing besides."""
        return NOTHING

    def is_final(self, origin: TxOrigin) -> bool:  # noqa: ARG002 - as above
        """Nobody refuses anything here."""
        return False

    def undone(self, _: Attempt, broken: Violation, *, failed: bool) -> Recording:  # noqa: ARG002 - as above
        """Nothing besides."""
        return NOTHING


@dataclass(frozen=True, slots=True)
class TxPlace:
    """One document and its transactions, as one program carries them out."""

    journal: Journal
    document: DocumentStore
    watch: Watch = field(default_factory=Unwatched)
    terms: TxTerms = USUAL_TERMS

    @property
    def stored(self) -> StoredTransactions:
        """Where attempts are kept."""
        return StoredTransactions(self.journal)

    def required(self, tx_id: str) -> Attempt:
        """The latest attempt of a transaction of this document; another document's are none here.

        Whoever applied those here would write into the wrong document, or ask the wrong log about them.
        """
        found = self.stored.required(tx_id)
        if found.document_id != self.document.document_id:
            message = f"`{tx_id}` is about `{found.document_id}`, not `{self.document.document_id}`"
            raise UsageProblem(Code.TX_UNKNOWN, message)
        return found

    def now(self) -> Instant:
        """The time."""
        return self.journal.clock.now()

    def caller(self, actor: Identity | None = None, role: Role = Role.OWNER) -> Caller:
        """Who takes the steps of one call."""
        who = actor or Identity(self.journal.context.actor)
        return Caller(
            who, Role.SYSTEM if who == SYSTEM else role, self.journal.ids.new(CALL_PREFIX)
        )

    def worker(self) -> Worker:
        """This process, for as long as it is believed."""
        until = self.now().plus(self.terms.lease)
        return Worker(self.journal.machine_id, _own_process(os.getpid()), until)

    def is_working(self, worker: Worker | None) -> bool:
        """Whether somebody still carries the attempt out."""
        if worker is None or self.now() >= worker.until:
            return False
        return worker.machine_id != self.journal.machine_id or is_alive(worker.process)


@lru_cache(maxsize=1)
def _own_process(_: int) -> Leader:
    """This process as others see it; a child of it is another one."""
    return this_process()


def commit_of(attempt: Attempt, writes: Sequence[EntityWrite], base: str, revision: str) -> Commit:
    """The commit that an attempt is about to make, or may have made."""
    return Commit(
        attempt.commit_key,
        attempt.uncertain_kind,
        attempt.tx_id,
        attempt.attempt_no,
        base,
        revision,
        writes,
    )


def apply_commit(attempt: Attempt, writes: Sequence[EntityWrite]) -> Commit:
    """The commit that applies an attempt."""
    base, revision = attempt.base_revision, attempt.candidate_revision
    return commit_of(attempt, writes, str(base), str(revision))


def has_taken_effect(document: DocumentStore, commit: Commit, record: CommitRecord) -> bool:
    """Whether the document is what the commit said; or its log says so, where others have moved it on since.

    A store is not taken at its word: what it says it wrote is read back.
    """
    if record.kind is not commit.kind or record.revision != commit.revision:
        return False
    found = document.read([each.name for each in commit.writes])
    if found.revision != commit.revision:
        return found.revision != commit.base_revision and document.settle(commit) == record
    return _first_other(found, commit.writes) is None


def differs(document: DocumentStore, writes: Sequence[EntityWrite]) -> EntityWrite | None:
    """The first entity that is not any more what these writes left."""
    return _first_other(document.read([each.name for each in writes]), writes)


def _first_other(found: Snapshot, writes: Sequence[EntityWrite]) -> EntityWrite | None:
    """The first entity that is not what these writes left; looked for only where there is one."""
    entities = found.entities
    ours = [there(each.after) for each in writes]
    theirs = [there(entities.get(each.name, ABSENT)) for each in writes]
    if json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True):
        return None
    others = (each for each in writes if not is_same(entities.get(each.name, ABSENT), each.after))
    return next(others, None)

"""What every run leaves in the ledger: the decision and the spent permit before, the record after.

Whatever is run, a program or a snippet, the order is the same: nothing starts before its decision and
permit are durable, and what was started is recorded whatever happened.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from consentry.base.canonical import Digest, Json
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, LedgerProblem
from consentry.base.values import dataclass, replace
from consentry.decide.permit import Permit, PermitOrder
from consentry.enforce.engine import Outcome
from consentry.enforce.hashcache import HashCache
from consentry.enforce.native.notbuilt import LostSight
from consentry.record.auditfields import ConsentMethod, ExecutionStatus
from consentry.record.events import EventType
from consentry.service.binding import BoundWish
from consentry.service.readhashes import ReadHashes
from consentry.service.rundecision import RunDecision
from consentry.service.runrecord import AUDIT_PREFIX, RunFacts, audit_entry
from consentry.store.consents import ConsentUse, StoredConsents
from consentry.store.journal import About, Journal
from consentry.store.permits import StoredPermits
from consentry.surface.wire import surface_to_json

if TYPE_CHECKING:
    from consentry.store.tokens import RecordedUse

HASHES: Final = "hashes"


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is over and recorded."""

    audit_id: str
    facts: RunFacts
    outcome: Outcome
    entry: dict[str, Json]

    @property
    def status(self) -> ExecutionStatus:
        """How it ended, in the words of the audit entry."""
        return self.facts.status


@dataclass(frozen=True, slots=True)
class RunLedger:
    """The events of runs, through one journal; the digests of programs are remembered."""

    journal: Journal
    programs: HashCache

    @classmethod
    def of(cls, journal: Journal, state: Path) -> "RunLedger":
        """With what is remembered in this state directory."""
        return cls(journal, HashCache(state / HASHES))

    def permitted(
        self,
        bound: BoundWish,
        decision: RunDecision,
        digests: Mapping[str, Digest],
        before: Callable[[str], None] = lambda _: None,
    ) -> Permit:
        """The decision, the permit and its spending, all durable before anything starts.

        `before` is called with the id of the decision just before it is recorded.

        A stored consent that decided it is held again, and used up where it was for one run, in the
        same transaction, and so is a token that it is done with; where one does not hold any more,
        nothing of all this is recorded.
        """
        journal, confinement = self.journal, bound.confinement
        words, subject = confinement.program.line, decision.subject
        decided = journal.draft(
            EventType.RUN_DECIDED,
            About(subject, policy_hash=decision.policy_hash),
            {
                "subject": subject,
                "decision": "allowed",
                "consentMethod": decision.method.value,
                "profile": bound.profile,
                "arguments": list(words),
                "surface": surface_to_json(confinement.surface),
                "consent": decision.to_json(),
            },
            journal.clock.now(),
        )
        order = PermitOrder(subject, digests, words, confinement.surface, decided.event_id)
        permits = StoredPermits(journal.ledger, journal.ids, journal.clock, journal.context)
        use = self._use_of(decision)
        before(decided.event_id)
        return permits.make_and_spend(
            order, journal.context.actor, decided, *use.drafts, change=use.change
        )

    def _use_of(self, decision: RunDecision) -> "ConsentUse | RecordedUse":
        if decision.token is not None:
            return decision.token.use()
        if decision.consent_id is None:
            return ConsentUse()
        journal = self.journal
        consents = StoredConsents(journal.ledger, journal.ids, journal.clock, journal.context)
        is_remembered = decision.method is ConsentMethod.REMEMBERED
        return consents.use_of(decision.consent_id, is_remembered=is_remembered)

    @contextmanager
    def failures_recorded(self, begun: Sequence[RunFacts]) -> Iterator[None]:
        """Records what was permitted when this ends with an error; `begun` may be filled in here."""
        clock = self.journal.clock
        try:
            yield
        except ConsentryError as problem:
            said = (problem.code.value, problem.message)
            for facts in begun:
                may_have_begun = isinstance(problem, LostSight)
                times = (facts.started_at, clock.now()) if may_have_begun else (None, None)
                self.record(replace(facts, started_at=times[0], ended_at=times[1], problem=said))
            raise
        except BaseException as problem:
            # The box is gone, but it may have been there: what it did is not known.
            said = (Code.INTERRUPTED.value, f"ended by {type(problem).__name__}")
            for facts in begun:
                self.record(replace(facts, ended_at=clock.now(), problem=said))
            raise

    def recorded(self, facts: RunFacts, outcome: Outcome) -> Run:
        """The run that is over, with its entry; raises what says that it ran, where there is none."""
        try:
            audit_id, entry = self.record(facts)
        except Exception as problem:  # whatever it was, the person must know that it ran
            raise _unrecorded(facts, problem) from problem
        return Run(audit_id, facts, outcome, entry)

    def record(self, facts: RunFacts) -> tuple[str, dict[str, Json]]:
        """The audit entry, durable when it returns, and its id."""
        journal = self.journal
        now = journal.clock.now()
        audit_id = journal.ids.new(AUDIT_PREFIX)
        entry = audit_entry(
            audit_id, facts, journal.context, now, ReadHashes(programs=self.programs)
        )
        about = About(facts.decision.subject, policy_hash=facts.decision.policy_hash)
        journal.ledger.append(journal.draft(EventType.TOOL_AUDIT, about, entry, now))
        return audit_id, entry


def _unrecorded(facts: RunFacts, problem: Exception) -> LedgerProblem:
    """For a run that is over and not on record: the person must know that it ran."""
    name = facts.bound.confinement.program.path.name
    return LedgerProblem(
        Code.RUN_UNRECORDED,
        f"`{name}` was run ({facts.status}), but the run could not be recorded: {problem}",
    )

"""What every run leaves in the ledger: the decision and the spent permit before, the record after.

Whatever is run, a program or a snippet, the order is the same: nothing starts before its decision and
permit are durable, and what was started is recorded whatever happened.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from consentry.base.canonical import Digest, Json
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.decide.permit import Permit, PermitOrder
from consentry.enforce.hashcache import HashCache
from consentry.record.auditfields import ConsentMethod
from consentry.record.events import EventType
from consentry.service.commandline import BoundWish
from consentry.service.readhashes import ReadHashes
from consentry.service.runrecord import AUDIT_PREFIX, RunFacts, audit_entry
from consentry.store.journal import About, Journal
from consentry.store.permits import StoredPermits
from consentry.surface.wire import surface_to_json


@dataclass(frozen=True, slots=True)
class RunLedger:
    """The events of runs, through one journal."""

    journal: Journal
    programs: HashCache | None = None

    def permitted(self, bound: BoundWish, subject: str, digests: Mapping[str, Digest]) -> Permit:
        """The decision, the permit and its spending, all durable before anything starts."""
        journal, confinement = self.journal, bound.confinement
        words = confinement.program.words
        decided = journal.draft(
            EventType.RUN_DECIDED,
            About(subject),
            {
                "subject": subject,
                "decision": "allowed",
                "consentMethod": ConsentMethod.COMMAND_LINE.value,
                "profile": bound.profile,
                "arguments": list(words),
                "surface": surface_to_json(confinement.surface),
            },
            journal.clock.now(),
        )
        order = PermitOrder(subject, digests, words, confinement.surface, decided.event_id)
        permits = StoredPermits(journal.ledger, journal.ids, journal.clock, journal.context)
        return permits.make_and_spend(order, journal.context.actor, decided)

    def record(self, facts: RunFacts) -> tuple[str, dict[str, Json]]:
        """The audit entry, durable when it returns, and its id."""
        journal = self.journal
        now = journal.clock.now()
        audit_id = journal.ids.new(AUDIT_PREFIX)
        entry = audit_entry(
            audit_id, facts, journal.context, now, ReadHashes(programs=self.programs)
        )
        about = About(facts.permit.order.subject)
        journal.ledger.append(journal.draft(EventType.TOOL_AUDIT, about, entry, now))
        return audit_id, entry


def unrecorded(facts: RunFacts, problem: Exception) -> LedgerProblem:
    """For a run that is over and not on record: the person must know that it ran."""
    name = facts.bound.confinement.program.path.name
    return LedgerProblem(
        Code.RUN_UNRECORDED,
        f"`{name}` was run ({facts.status}), but the run could not be recorded: {problem}",
    )

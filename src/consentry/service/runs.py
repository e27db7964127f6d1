"""Carries out one run: decided, permitted, confined, committed, recorded.

The order is the product's promise. The decision and the permit are durable before anything starts;
the run's record is written whatever happened, and says what was committed. If the ledger cannot be
written, nothing runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.decide.permit import Permit, PermitOrder
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.native import Io, NativeEngine, NativePlan
from consentry.enforce.hashcache import HashCache
from consentry.enforce.sealing import SealedFile, seal
from consentry.record.auditfields import ConsentMethod
from consentry.record.events import EventType
from consentry.service.commandline import BoundWish
from consentry.store.journal import About, Journal
from consentry.store.permits import StoredPermits
from consentry.surface.wire import surface_to_json

HASHES: Final = "hashes"


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is over, as it will be recorded."""

    permit: Permit
    confinement: Confinement
    profile: str
    outcome: Outcome
    started_at: Instant
    ended_at: Instant
    digests: dict[str, Digest]


class Runner:
    """Runs what was decided, with one engine and one journal."""

    def __init__(self, engine: NativeEngine, journal: Journal, state: Path) -> None:
        self._engine = engine
        self._journal = journal
        self._hashes = HashCache(state / HASHES)

    def run(self, bound: BoundWish, io: Io) -> Run:
        """One run of a command line; raises when it could not be started."""
        plan = self._engine.compile(bound.confinement)
        sealed: list[SealedFile] = []
        try:
            for path in bound.confinement.program.copies:
                sealed.append(seal(path))  # noqa: PERF401 - each is closed if a later one fails
            digests = self._digests(bound.confinement, sealed)
            permit = self._permitted(bound, digests)
            return self._carried_out(bound, plan, permit, sealed, io, digests)
        finally:
            for each in sealed:
                each.close()

    def _digests(self, confinement: Confinement, sealed: Sequence[SealedFile]) -> dict[str, Digest]:
        digests = {str(each.path): each.digest for each in sealed}
        for path in confinement.program.startable:
            digests[str(path)] = self._hashes.digest_of(path)
        return digests

    def _permitted(self, bound: BoundWish, digests: dict[str, Digest]) -> Permit:
        """The decision, the permit and its spending, all durable before anything starts."""
        journal, confinement = self._journal, bound.confinement
        subject = subject_of(confinement)
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
        return permits.spend(permits.make(order, decided).permit_id, journal.context.actor)

    def _carried_out(
        self,
        bound: BoundWish,
        plan: NativePlan,
        permit: Permit,
        sealed: Sequence[SealedFile],
        io: Io,
        digests: dict[str, Digest],
    ) -> Run:
        started = self._journal.clock.now()
        outcome = self._engine.launch(plan, permit, sealed, io)
        ended = self._journal.clock.now()
        return Run(permit, bound.confinement, bound.profile, outcome, started, ended, digests)


def subject_of(confinement: Confinement) -> str:
    """What a command line runs, by the program's name."""
    return f"program:{confinement.program.path.name}"

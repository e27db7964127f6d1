"""Carries out one run: decided, permitted, confined, committed, recorded.

The order is the product's promise. The decision and the permit are durable before anything starts;
the run's record is written whatever happened, and says what was committed. If the ledger cannot be
written, nothing runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from consentry.base.canonical import Digest
from consentry.decide.permit import Permit
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.interface import Compiled, Engine
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.native.disklayer import let_go_of
from consentry.enforce.native.streamends import Io
from consentry.enforce.sealing import SealedFile, seal
from consentry.record.auditfields import Trigger
from consentry.service.binding import BoundWish
from consentry.service.directimpact import written_at_once
from consentry.service.runledger import Run, RunLedger
from consentry.service.runrecord import Impact, RunFacts
from consentry.service.takeover import AT_ITS_END, Takeover, TakeoverTerms
from consentry.store.journal import Journal


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs what was decided, with one engine and one journal."""

    engine: Engine
    journal: Journal
    state: Path
    home: Path | None

    def run(
        self,
        bound: BoundWish,
        plan: Compiled,
        io: Io,
        *,
        terms: TakeoverTerms = AT_ITS_END,
        trigger: Trigger = Trigger.USER_COMMAND,
    ) -> Run:
        """One run of a command line; raises when it could not be started.

        What it wrote is dealt with as `terms` say. Who interrupts it meanwhile ends it; a moment
        later, what became of it is recorded first.
        """
        with Uninterrupted() as interrupts:
            return self._run(bound, plan, io, interrupts, trigger, terms)

    def _run(
        self,
        bound: BoundWish,
        plan: Compiled,
        io: Io,
        interrupts: Uninterrupted,
        trigger: Trigger,
        terms: TakeoverTerms,
    ) -> Run:
        ledger = RunLedger.of(self.journal, self.state)
        takeover = Takeover.prepared(bound, plan.plan, self.home)
        sealed: list[SealedFile] = []
        try:
            for path in bound.confinement.program.copies:
                sealed.append(seal(path))  # noqa: PERF401 - each is closed if a later one fails
            digests = {str(each.path): each.digest for each in sealed}
            with interrupts.let_through():
                for path in bound.confinement.program.startable:
                    digests[str(path)] = ledger.programs.digest_of(path)
            facts, outcome = self._launched(ledger, bound, digests, trigger, plan, sealed, io)
        finally:
            for each in sealed:
                each.close()
        impact = self._taken_over(facts, outcome, takeover, terms)
        return ledger.recorded(replace(facts, impact=impact), outcome)

    def _launched(
        self,
        ledger: RunLedger,
        bound: BoundWish,
        digests: dict[str, Digest],
        trigger: Trigger,
        plan: Compiled,
        sealed: Sequence[SealedFile],
        io: Io,
    ) -> tuple[RunFacts, Outcome]:
        clock = self.journal.clock
        begun: list[RunFacts] = []

        def permitted() -> Permit:
            with Uninterrupted():  # or it would be decided, and nobody would say what became of it
                permit = ledger.permitted(bound, subject_of(bound.confinement), digests)
                begun.append(
                    RunFacts(
                        bound,
                        permit,
                        digests,
                        trigger,
                        started_at=clock.now(),
                        engine=self.engine.name,
                    )
                )
            return permit

        with ledger.failures_recorded(begun):
            outcome = self.engine.launch(plan, permitted, sealed, io, self.state)
        return replace(begun[0], ended_at=clock.now(), outcome=outcome), outcome

    def _taken_over(
        self, facts: RunFacts, outcome: Outcome, takeover: Takeover, terms: TakeoverTerms
    ) -> Impact:
        if outcome.direct is not None:
            if outcome.layer is not None:
                let_go_of(outcome.layer)
            return written_at_once(outcome, facts.bound.confinement.workspace)
        run = facts.permit.permit_id
        return takeover.after(outcome, run, self.state, terms)


def subject_of(confinement: Confinement) -> str:
    """What a command line runs, by the program's name."""
    return f"program:{confinement.program.path.name}"

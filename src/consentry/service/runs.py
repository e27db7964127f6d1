"""Carries out one run: decided, permitted, confined, committed, recorded.

The order is the product's promise. The decision and the permit are durable before anything starts;
the run's record is written whatever happened, and says what was committed. If the ledger cannot be
written, nothing runs. What was decided about a tool at certain bytes starts those bytes or nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass, replace
from consentry.decide.permit import Permit
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.interface import Compiled, Engine
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.native.disklayer import let_go_of
from consentry.enforce.native.streamends import Io
from consentry.enforce.sealing import SealedFile, seal, seal_content
from consentry.record.auditfields import Trigger
from consentry.service.binding import BoundWish
from consentry.service.directimpact import written_at_once
from consentry.service.manifestkeys import as_manifest_keys
from consentry.service.refusals import Asked, record_refusal
from consentry.service.rundecision import RunDecision, by_command_line
from consentry.service.runledger import Run, RunLedger
from consentry.service.runningruns import RunningRuns, RunNote
from consentry.service.runrecord import Impact, RunFacts, named_path
from consentry.service.takeover import AT_ITS_END, Takeover, TakeoverTerms
from consentry.store.journal import Journal

_NOTHING_GIVEN: Final[Mapping[Path, bytes]] = MappingProxyType({})


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
        decision: RunDecision | None = None,
        terms: TakeoverTerms = AT_ITS_END,
        trigger: Trigger = Trigger.USER_COMMAND,
        given: Mapping[Path, bytes] = _NOTHING_GIVEN,
    ) -> Run:
        """One run; raises when it could not be started, and has recorded that then.

        Without a `decision` the line itself is one. What it wrote is dealt with as `terms` say. Who
        interrupts it meanwhile ends it; a moment later, what became of it is recorded first. Of the
        program's copies, those that are `given` lie in no file of the host.
        """
        decided = decision or by_command_line(bound.confinement)
        with Uninterrupted() as interrupts:
            return self._run(bound, decided, plan, io, interrupts, trigger, terms, given)

    def _run(
        self,
        bound: BoundWish,
        decision: RunDecision,
        plan: Compiled,
        io: Io,
        interrupts: Uninterrupted,
        trigger: Trigger,
        terms: TakeoverTerms,
        given: Mapping[Path, bytes],
    ) -> Run:
        ledger = RunLedger.of(self.journal, self.state)
        takeover = Takeover.prepared(bound, plan.plan, self.home)
        sealed: list[SealedFile] = []
        begun: list[RunFacts] = []
        with ExitStack() as noted:
            try:
                with self._refusal_recorded(bound, decision, trigger, begun):
                    for path in bound.confinement.program.copies:
                        content = given.get(path)
                        sealed.append(
                            seal(path) if content is None else seal_content(path, content)
                        )
                    with interrupts.let_through():
                        programs = _programs(ledger, bound.confinement, decision)
                    note = self._noting(bound.confinement, decision, trigger, io, noted)
                    permitted = self._permitting(
                        ledger, bound, decision, sealed, programs, trigger, begun, note
                    )
                    with ledger.failures_recorded(begun):
                        outcome = self.engine.launch(plan, permitted, sealed, io)
            finally:
                for each in sealed:
                    each.close()
            ended = replace(begun[0], ended_at=self.journal.clock.now(), outcome=outcome)
            impact = self._taken_over(ended, outcome, takeover, terms)
            return ledger.recorded(replace(ended, impact=impact), outcome)

    @contextmanager
    def _refusal_recorded(
        self,
        bound: BoundWish,
        decision: RunDecision,
        trigger: Trigger,
        begun: Sequence[RunFacts],
    ) -> Iterator[None]:
        """Writes an audit entry for what ends in here before there was a permit."""
        try:
            yield
        except ConsentryError as problem:
            if not begun:
                words = bound.confinement.program.line
                asked = Asked(words, bound.profile, trigger, tool=decision.tool, decision=decision)
                # What could not be recorded did not run, and is told to whoever asked.
                with suppress(ConsentryError, OSError):
                    record_refusal(asked, problem, self.journal)
            raise

    def _permitting(
        self,
        ledger: RunLedger,
        bound: BoundWish,
        decision: RunDecision,
        sealed: Sequence[SealedFile],
        programs: dict[str, Digest],
        trigger: Trigger,
        begun: list[RunFacts],
        note: Callable[[str], None],
    ) -> Callable[[], Permit]:
        """Makes the permit while the engine builds a box that waits for it, and notes that it was."""

        def permitted() -> Permit:
            digests = {str(each.path): each.digest for each in sealed} | programs
            decision.require_unchanged(digests)
            with Uninterrupted():  # or it would be decided, and nobody would say what became of it
                permit = ledger.permitted(bound, decision, digests, note)
                now, engine = self.journal.clock.now(), self.engine.name
                begun.append(
                    RunFacts(
                        bound, decision, permit, digests, trigger, started_at=now, engine=engine
                    )
                )
            return permit

        return permitted

    def _noting(
        self,
        wanted: Confinement,
        decision: RunDecision,
        trigger: Trigger,
        io: Io,
        noted: ExitStack,
    ) -> Callable[[str], None]:
        """Notes a run just before its decision is recorded, until it is on record itself.

        So revoking its consent finds it, and so does the next start if this process is killed.
        """
        told: list[Callable[[], bool]] = []
        if decision.consent_id is not None:
            io.ends = lambda: any(is_told() for is_told in told)
        note = RunNote(
            decision.consent_id,
            trigger.value,
            named_path(str(wanted.workspace)),
            named_path(str(wanted.program.folder)),
        )

        def noting(decision_id: str) -> None:
            if io.begins is not None:
                io.begins(decision_id)
            told.append(noted.enter_context(RunningRuns(self.state).noted(decision_id, note)))

        return noting

    def _taken_over(
        self, facts: RunFacts, outcome: Outcome, takeover: Takeover, terms: TakeoverTerms
    ) -> Impact:
        if outcome.direct is not None:
            if outcome.layer is not None:
                let_go_of(outcome.layer)
            return written_at_once(outcome, facts.bound.confinement.workspace)
        tool, wanted = facts.decision.tool, facts.bound.confinement
        if tool is not None:
            terms = replace(terms, said_as=lambda found: as_manifest_keys(found, tool, wanted))
        return takeover.after(outcome, facts.permit.permit_id, self.state, terms)


def _programs(ledger: RunLedger, wanted: Confinement, decision: RunDecision) -> dict[str, Digest]:
    """The digests of what may be started where it lies."""
    program = wanted.program
    # A script of root's is read where it lies, and is one of the tool's files too.
    names = (*map(str, program.startable), *decision.files)
    programs = {
        name: ledger.programs.digest_of(Path(name))
        for name in names
        if Path(name) not in program.copies
    }
    if program.image is not None:
        # Nobody hashes a program of an image: the digest of the whole stands for it.
        programs[str(program.path)] = program.image.digest
    return programs

"""Carries out one run: decided, permitted, confined, committed, recorded.

The order is the product's promise. The decision and the permit are durable before anything starts;
the run's record is written whatever happened, and says what was committed. If the ledger cannot be
written, nothing runs.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from consentry.base.canonical import Digest, Json
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.decide.permit import Permit
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.native import Io, NativeEngine, NativePlan
from consentry.enforce.hashcache import HashCache
from consentry.enforce.native.notbuilt import LostSight
from consentry.enforce.sealing import SealedFile, seal
from consentry.record.auditfields import ExecutionStatus, Trigger
from consentry.service.commandline import BoundWish
from consentry.service.directimpact import written_at_once
from consentry.service.runledger import RunLedger, unrecorded
from consentry.service.runrecord import RunFacts
from consentry.service.takeover import Takeover
from consentry.store.journal import Journal

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


class Runner:
    """Runs what was decided, with one engine and one journal."""

    def __init__(
        self, engine: NativeEngine, journal: Journal, state: Path, home: Path | None
    ) -> None:
        self._engine = engine
        self._journal = journal
        self._hashes = HashCache(state / HASHES)
        self._ledger = RunLedger(journal, self._hashes)
        self._state = state
        self._home = home

    def run(
        self,
        bound: BoundWish,
        plan: NativePlan,
        io: Io,
        *,
        keep_partial: bool = False,
        trigger: Trigger = Trigger.USER_COMMAND,
    ) -> Run:
        """One run of a command line; raises when it could not be started.

        What it wrote is taken over when it has ended by itself, or always with `keep_partial`.
        """
        takeover = Takeover.prepared(bound, plan.plan, self._home)
        sealed: list[SealedFile] = []
        try:
            for path in bound.confinement.program.copies:
                sealed.append(seal(path))  # noqa: PERF401 - each is closed if a later one fails
            digests = self._digests(bound.confinement, sealed)
            facts = self._launched(bound, digests, trigger, plan, sealed, io)
        finally:
            for each in sealed:
                each.close()
        return self._recorded(self._taken_over(facts, takeover, keep_partial=keep_partial))

    def _digests(self, confinement: Confinement, sealed: Sequence[SealedFile]) -> dict[str, Digest]:
        digests = {str(each.path): each.digest for each in sealed}
        for path in confinement.program.startable:
            digests[str(path)] = self._hashes.digest_of(path)
        return digests

    def _permitted(self, bound: BoundWish, digests: dict[str, Digest]) -> Permit:
        """The decision, the permit and its spending, all durable before anything starts."""
        return self._ledger.permitted(bound, subject_of(bound.confinement), digests)

    def _launched(
        self,
        bound: BoundWish,
        digests: dict[str, Digest],
        trigger: Trigger,
        plan: NativePlan,
        sealed: Sequence[SealedFile],
        io: Io,
    ) -> RunFacts:
        clock = self._journal.clock
        begun: list[RunFacts] = []

        def permitted() -> Permit:
            permit = self._permitted(bound, digests)
            begun.append(RunFacts(bound, permit, digests, trigger, started_at=clock.now()))
            return permit

        try:
            outcome = self._engine.launch(plan, permitted, sealed, io)
        except ConsentryError as problem:
            said = (problem.code.value, problem.message)
            for facts in begun:
                may_have_begun = isinstance(problem, LostSight)
                times = (facts.started_at, clock.now()) if may_have_begun else (None, None)
                self._record(replace(facts, started_at=times[0], ended_at=times[1], problem=said))
            raise
        except BaseException as problem:
            # The box is gone, but it may have been there: what it did is not known.
            said = (Code.INTERRUPTED.value, f"ended by {type(problem).__name__}")
            for facts in begun:
                self._record(replace(facts, ended_at=clock.now(), problem=said))
            raise
        return replace(begun[0], ended_at=clock.now(), outcome=outcome)

    def _taken_over(self, facts: RunFacts, takeover: Takeover, *, keep_partial: bool) -> RunFacts:
        outcome = facts.outcome
        if outcome is None:
            return facts
        if outcome.direct is not None:
            if outcome.layer is not None:
                os.close(outcome.layer)
            workspace = facts.bound.confinement.workspace
            return replace(facts, impact=written_at_once(outcome, workspace))
        run = facts.permit.permit_id
        impact = takeover.after(outcome, run, self._state, keep_partial=keep_partial)
        return replace(facts, impact=impact)

    def _recorded(self, facts: RunFacts) -> Run:
        if facts.outcome is None:
            raise RuntimeError("a run without an outcome was taken for one that is over")
        try:
            audit_id, entry = self._record(facts)
        except Exception as problem:  # whatever it was, the person must know that it ran
            raise unrecorded(facts, problem) from problem
        return Run(audit_id, facts, facts.outcome, entry)

    def _record(self, facts: RunFacts) -> tuple[str, dict[str, Json]]:
        return self._ledger.record(facts)


def subject_of(confinement: Confinement) -> str:
    """What a command line runs, by the program's name."""
    return f"program:{confinement.program.path.name}"

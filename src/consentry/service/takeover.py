"""Takes what a run wrote from its layer to the host, as far as it may, and says what became of it.

Prepared before the run, when the tree is what the person saw. Afterwards the layer is read, every
change is held against the grants, and what may leave is committed as a whole or not at all.
"""

import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.base.values import dataclass, replace
from consentry.enforce.commit import CommitOutcome, CommitResult, CommitTerms, commit
from consentry.enforce.commitrecover import PLAIN, Tidying
from consentry.enforce.engine import Ending, HeldAs, Outcome
from consentry.enforce.held import opened_in_layer
from consentry.enforce.keptshelf import Keeping
from consentry.enforce.layer import (
    Change,
    ChangeKind,
    LayerRoot,
    file_clock_ns,
    inside_of,
    path_text,
)
from consentry.enforce.layerscan import scan
from consentry.enforce.native.disklayer import let_go_of
from consentry.enforce.native.planner import Plan
from consentry.enforce.native.planparts import Layered, made_folders
from consentry.enforce.native.readgrants import ReadGrants
from consentry.enforce.rehearsal import keep
from consentry.enforce.violations import PermissionDenied
from consentry.enforce.writerules import WriteRules
from consentry.enforce.writeverdicts import Verdicts, judge
from consentry.service.binding import BoundWish
from consentry.service.runrecord import Impact, Rehearsal
from consentry.surface.modes import Writes

_MOST_CONFLICTS = 3


def _always(_: Outcome) -> bool:
    return True


class Arrival(StrEnum):
    """When what a run wrote reaches the host."""

    AT_ITS_END = "at its end"
    WHEN_COMMITTED = "when committed"
    """A rehearsal: it is kept, and `consentry commit` takes it over."""
    WHEN_APPROVED = "when approved"
    """As a rehearsal, but the commit is asked for: the second yes of a strict run."""


@dataclass(frozen=True, slots=True)
class TakeoverTerms:
    """What is wanted of what a run wrote, and what goes with it."""

    keep_partial: bool = False
    arrival: Arrival = Arrival.AT_ITS_END
    tidying: Tidying = PLAIN
    said_as: Callable[[Sequence[PermissionDenied]], tuple[PermissionDenied, ...]] = tuple
    """How denials are told of: what would allow each depends on what was run."""

    only_on_success: bool = False
    """What a failed run wrote is discarded, as that of saved capabilities and code tasks is."""
    has_result: Callable[[Outcome], bool] = _always
    """Whether what ended well gave back what it was run for; asked with `only_on_success`."""


AT_ITS_END = TakeoverTerms()


def require_rehearsable(arrival: Arrival, bound: BoundWish, keeping: Keeping) -> None:
    """Raises where what a run writes could not be held back, or kept."""
    if arrival is Arrival.AT_ITS_END:
        return
    if bound.confinement.writes is Writes.DIRECT:
        message = (
            "with `writes: direct` what is written is there at once, so it cannot be rehearsed"
        )
        raise Refused(Code.NOT_ENFORCEABLE, message)
    if keeping.is_off:
        message = "CONSENTRY_KEEP or CONSENTRY_KEEP_SIZE is nothing, so no rehearsal can be kept"
        raise UsageProblem(Code.SETTING_VALUE, message)


@dataclass(frozen=True, slots=True)
class Takeover:
    """The writable roots and the rules as they were before the run."""

    roots: tuple[LayerRoot, ...]
    rules: WriteRules
    workspace: Path
    started_ns: int
    grants: ReadGrants

    @classmethod
    def prepared(cls, bound: BoundWish, plan: Plan, home: Path | None) -> "Takeover":
        """To be called just before the run."""
        confinement = bound.confinement
        rules = WriteRules.bound(
            confinement.surface.fs_write_roots,
            workspace=confinement.workspace,
            home=home,
            named=bound.written,
            denied=plan.denied,
        )
        roots = tuple(map(_layer_root, plan.layered))
        return cls(roots, rules, confinement.workspace, file_clock_ns(), plan.grants)

    def after(
        self, outcome: Outcome, run: str, state: Path, terms: TakeoverTerms = AT_ITS_END
    ) -> Impact:
        """What is left of a run that is over, whose layer goes with this.

        It is taken over when the run has ended by itself, or always with `keep_partial`; or kept
        until somebody commits it.
        """
        if outcome.layer is None:
            return Impact()
        try:
            return self._carried_out(outcome, outcome.layer, run, state, terms)
        finally:
            let_go_of(outcome.layer)

    def _carried_out(
        self, outcome: Outcome, layer: int, run: str, state: Path, terms: TakeoverTerms
    ) -> Impact:
        try:
            rules = self.rules.with_opened(opened_in_layer(outcome.held_operations))
            judged = judge(scan(layer, self.roots, started_ns=self.started_ns), rules)
            verdicts = replace(judged, violations=terms.said_as(judged.violations))
        except ConsentryError as problem:
            return Impact(discarded=problem.message, is_complete=False)
        impact = Impact(
            written=tuple(map(self._written, verdicts.written)),
            deleted=tuple(map(self._deleted, verdicts.deleted)),
            violations=verdicts.violations,
            is_complete=verdicts.violations_left_out == 0 and verdicts.changes.is_complete,
        )
        if not terms.keep_partial and outcome.ending not in (Ending.SUCCESS, Ending.FAILURE):
            return impact
        if terms.only_on_success and outcome.ending is not Ending.SUCCESS:
            return impact
        if terms.only_on_success and not terms.has_result(outcome):
            return replace(impact, discarded="it ended without a result")
        try:
            if terms.arrival is not Arrival.AT_ITS_END:
                return self._kept(layer, verdicts, run, state, terms, impact)
            commit_terms = CommitTerms(terms.tidying)
            done = commit(layer, verdicts, run=run, state=state, terms=commit_terms)
        except ConsentryError as problem:
            return replace(impact, discarded=problem.message)
        return replace(
            impact,
            committed=done.result is CommitResult.COMMITTED,
            discarded=_conflicts_said(done),
            undo=done.undo if done.result is CommitResult.COMMITTED else None,
            effect=done.effect,
        )

    def _kept(
        self,
        layer: int,
        verdicts: Verdicts,
        run: str,
        state: Path,
        terms: TakeoverTerms,
        impact: Impact,
    ) -> Impact:
        """As a rehearsal: the host is as it was, and what would change is kept."""
        kept = keep(layer, verdicts, run=run, state=state, keeping=terms.tidying.keeping)
        rehearsal = Rehearsal(
            kept_until=kept.item.until,
            needs_approval=terms.arrival is Arrival.WHEN_APPROVED,
            counts=_counts(verdicts.accepted),
            dropped=len(verdicts.violations) + verdicts.violations_left_out,
        )
        return replace(impact, rehearsal=rehearsal, effect=kept.digest)

    def _written(self, change: Change) -> dict[str, Json]:
        return {
            "path": self._shown(change),
            "hash": _digest(change.sha256),
            "size": change.size,
            "change": change.kind.value,
            "held": self._held(change).value,
        }

    def _deleted(self, change: Change) -> dict[str, Json]:
        was = None if change.was is None else change.was.sha256
        return {"path": self._shown(change), "hash": _digest(was)}

    def _held(self, change: Change) -> HeldAs:
        """How the grant is held that lets it leave; without one of its own, it made a folder for one."""
        place = os.fsdecode(inside_of(change.root, change.path))
        return self.grants.held_as(place) or HeldAs.EXACT

    def _shown(self, change: Change) -> str:
        """Relative to the workspace where it lies in it, else absolute."""
        inside = path_text(inside_of(change.root, change.path))
        return inside.removeprefix(str(self.workspace).rstrip("/") + "/")


def _conflicts_said(outcome: CommitOutcome) -> str | None:
    if outcome.result is not CommitResult.CONFLICT:
        return None
    shown = [f"`{each.path}`: {each.why}" for each in outcome.conflicts[:_MOST_CONFLICTS]]
    more = len(outcome.conflicts) - len(shown)
    said = "; ".join([*shown, *([f"and {more} more"] if more else [])])
    return f"somebody else changed the same files: {said}"


def _counts(accepted: Sequence[Change]) -> dict[str, int]:
    counts = dict.fromkeys((kind.value for kind in ChangeKind), 0)
    for each in accepted:
        counts[each.kind.value] += 1
    return counts


def _layer_root(layered: Layered) -> LayerRoot:
    return LayerRoot.over(layered.number, layered.root.path, made=made_folders(layered))


def _digest(found: str | None) -> str | None:
    return None if found is None else f"sha256:{found.removeprefix('sha256:')}"

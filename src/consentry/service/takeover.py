"""Takes what a run wrote from its layer to the host, as far as it may, and says what became of it.

Prepared before the run, when the tree is what the person saw. Afterwards the layer is read, every
change is held against the grants, and what may leave is committed as a whole or not at all.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from consentry.base.canonical import Json
from consentry.base.errors import ConsentryError
from consentry.enforce.commit import CommitResult, commit
from consentry.enforce.engine import Ending, HeldAs, Outcome
from consentry.enforce.layer import Change, LayerRoot, file_clock_ns, inside_of, path_text
from consentry.enforce.layerscan import scan
from consentry.enforce.native.disklayer import let_go_of
from consentry.enforce.native.planner import Plan
from consentry.enforce.native.planparts import Layered, made_folders
from consentry.enforce.native.readgrants import ReadGrants
from consentry.enforce.writerules import WriteRules
from consentry.enforce.writeverdicts import Verdicts, judge
from consentry.service.binding import BoundWish
from consentry.service.runrecord import Impact

_MOST_CONFLICTS = 3


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
        self, outcome: Outcome, run: str, state: Path, *, keep_partial: bool = False
    ) -> Impact:
        """What is left of a run that is over, whose layer goes with this.

        It is taken over when the run has ended by itself, or always with `keep_partial`.
        """
        if outcome.layer is None:
            return Impact()
        commits = keep_partial or outcome.ending in (Ending.SUCCESS, Ending.FAILURE)
        try:
            return self.carried_out(outcome.layer, run, state, commits=commits)
        finally:
            let_go_of(outcome.layer)

    def carried_out(self, layer: int, run: str, state: Path, *, commits: bool) -> Impact:
        """What the run changed; taken over where `commits` says so and nothing stands in the way."""
        try:
            verdicts = judge(scan(layer, self.roots, started_ns=self.started_ns), self.rules)
        except ConsentryError as problem:
            return Impact(discarded=problem.message, is_complete=False)
        try:
            result, why = self._commit(layer, verdicts, run, state) if commits else (None, None)
        except ConsentryError as problem:
            result, why = None, problem.message
        return Impact(
            written=tuple(map(self._written, verdicts.written)),
            deleted=tuple(map(self._deleted, verdicts.deleted)),
            committed=result is CommitResult.COMMITTED,
            discarded=why,
            violations=verdicts.violations,
            is_complete=verdicts.violations_left_out == 0 and verdicts.changes.is_complete,
        )

    def _commit(
        self, layer: int, verdicts: Verdicts, run: str, state: Path
    ) -> tuple[CommitResult, str | None]:
        outcome = commit(layer, verdicts, run=run, state=state)
        if outcome.result is not CommitResult.CONFLICT:
            return outcome.result, None
        shown = [f"`{each.path}`: {each.why}" for each in outcome.conflicts[:_MOST_CONFLICTS]]
        more = len(outcome.conflicts) - len(shown)
        said = "; ".join([*shown, *([f"and {more} more"] if more else [])])
        return outcome.result, f"somebody else changed the same files: {said}"

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


def _layer_root(layered: Layered) -> LayerRoot:
    return LayerRoot.over(layered.number, layered.root.path, made=made_folders(layered))


def _digest(found: str | None) -> str | None:
    return None if found is None else f"sha256:{found.removeprefix('sha256:')}"

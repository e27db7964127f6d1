"""Kills the commit of a rehearsal, or an undoing, at every step it reaches, and tells what is there.

Run as a program of its own, `python -m tests.enforce.effectcrashes PLACE WAY STATE [EVERY]`, as
`commitcrashes` is. WAY is `rehearsed`, `undo`, `undo-two-renames`, `undo-meddled` (somebody changes a
file after the check) or `undo-recovery`. Every `EVERY`th step is the end, 1 by default.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from consentry.enforce import commitapply
from consentry.enforce.commit import CommitTerms, commit
from consentry.enforce.effect import effect_digest
from consentry.enforce.keptshelf import REHEARSED, UNDO, Keeping, Shelf
from consentry.enforce.layer import LayerRoot, file_clock_ns
from consentry.enforce.layerscan import scan
from consentry.enforce.rehearsal import keep, opened
from consentry.enforce.undo import undo
from consentry.enforce.writerules import WriteRules
from consentry.enforce.writeverdicts import Verdicts, judge
from consentry.surface.patterns import PatternScope
from tests.enforce.commitcrashes import THEIRS, Crashes, killing, refuse
from tests.enforce.treesight import Sight, sight_of

RUN = "run-1"


class RehearsedCrashes(Crashes):
    """The commit of what was kept; it is kept anew for every fresh tree."""

    def _fresh(self) -> None:
        super()._fresh()
        for name in (REHEARSED, UNDO):
            shutil.rmtree(self._state / name, ignore_errors=True)
        assert self._in_child(self._keep, None) == 0

    def _judged(self, layer: int) -> Verdicts:
        root = LayerRoot.over(0, self._host)
        rules = WriteRules.bound(PatternScope.parse(["./"]), workspace=self._host)
        return judge(scan(layer, [root], started_ns=file_clock_ns()), rules)

    def _keep(self, _: int | None) -> None:
        layer = os.open(self._layer, os.O_RDONLY | os.O_DIRECTORY)
        keep(layer, self._judged(layer), run=RUN, state=self._state, keeping=Keeping())

    def _commit(self, kill_at: int | None) -> None:
        if self._way == "two-renames":
            commitapply.exchange = refuse  # type: ignore[assignment]
        shelf = Shelf(self._state, REHEARSED)
        item = shelf.found(RUN)
        assert item is not None
        with shelf.taken(item) as tree:
            assert tree is not None
            digest = effect_digest((shelf.folder / item.name / "effect").read_bytes())
            with opened(tree, digest) as (effect, layer):
                commit(
                    layer,
                    effect.verdicts(),
                    run=RUN,
                    state=self._state,
                    reached=killing(kill_at, lambda _: None),
                    terms=CommitTerms(effect=effect),
                )


class UndoCrashes(RehearsedCrashes):
    """Undoing it: the old tree is the committed one here, and the new one that from before."""

    def __init__(self, place: Path, way: str, state: Path, layer: Path) -> None:
        super().__init__(place, way.removeprefix("undo-"), state, layer)
        self.before = self._old
        self._fresh()
        self._old = sight_of(self._host)

    def _fresh(self) -> None:
        super()._fresh()
        assert self._in_child(super()._commit, None) == 0

    def _commit(self, kill_at: int | None) -> None:
        reached = killing(kill_at, self._meddle if kill_at is not None else lambda _: None)
        if self._way == "two-renames":
            commitapply.exchange = refuse  # type: ignore[assignment]
        found = undo(self._state, RUN, reached=reached)
        assert found == () or self._way == "meddled", found

    def _tree(self, new: dict[str, Sight]) -> str:
        """Somebody else's file counts in neither tree."""
        if self._way != "meddled":
            return super()._tree(new)
        found = _without_theirs(sight_of(self._host))
        trees = {"old": _without_theirs(self._old), "new": _without_theirs(new)}
        return next((name for name, tree in trees.items() if tree == found), repr(found))


def _without_theirs(sight: dict[str, Sight]) -> dict[str, Sight]:
    return {path: each for path, each in sight.items() if path != THEIRS}


if __name__ == "__main__":
    place, way, state, layer = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    every = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    kind = UndoCrashes if way.startswith("undo") else RehearsedCrashes
    crashes = kind(place, way, state, layer)
    for line in crashes.told(every):
        sys.stdout.write(json.dumps(line) + "\n")
    crashes.clear()

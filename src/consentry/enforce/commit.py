"""Takes the accepted changes of a run to the host: all of them, or none.

    stage     copies of the new files are made on the root's own file system, and synced, once
    check     what changed on the host since the run began is a conflict: nothing is committed
    journal   written, synced, renamed, synced: from here on the commit will be finished or undone
    apply     deletions and replacements first, then what is new, each one rename; then modes
    settle    synced again, the journal is done with, and what was replaced is put away for undo

After a crash `commitrecover.recover` drops what had no journal yet, and finishes what had one. Others
may see a part of a commit while it goes on; after it, or after recovery, it is whole. One commit at a
time changes files for one state directory; users with state directories of their own are kept apart
by nothing but the check.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, replace
from consentry.enforce.commitapply import LateConflict
from consentry.enforce.commitcheck import Conflict, closed_folders, conflicts_of
from consentry.enforce.commitdesk import DONE, JOURNAL, Desk, Reached, turn, unwatched
from consentry.enforce.commitjournal import Direction, Journal, ModeChange, Move
from consentry.enforce.commitplaces import Place, made_places
from consentry.enforce.commitplan import Action, Step, seal_of_old, steps_of
from consentry.enforce.commitrecover import (
    PLAIN,
    Finished,
    Tidying,
    drop,
    finish,
    put_away_or_drop,
    require_finished,
    said,
)
from consentry.enforce.commitstage import Staged, Stager
from consentry.enforce.effect import EFFECT, Effect, effect_digest
from consentry.enforce.foldertree import by_place
from consentry.enforce.layer import FileType, LayerRoot, RootReplaced, inside_of, path_text
from consentry.enforce.layerfiles import Upper
from consentry.enforce.undoshelf import Shelved
from consentry.enforce.writeverdicts import Verdicts

_SET_ID: Final = 0o6000
_OWNER_ALL: Final = 0o700


class CommitResult(StrEnum):
    """How a commit ended."""

    COMMITTED = "committed"
    CONFLICT = "conflict"
    """Somebody else changed what the run had changed; the host is as it was."""
    NOTHING = "nothing"
    """There was nothing to commit."""


@dataclass(frozen=True, slots=True)
class CommitOutcome:
    """The end of a commit; with a conflict, what is in conflict; else whether it can be undone."""

    result: CommitResult
    conflicts: tuple[Conflict, ...] = ()
    undo: Shelved = Shelved()
    effect: Digest | None = None


@dataclass(frozen=True, slots=True)
class CommitTerms:
    """What goes with a commit.

    `tidying` says what is kept for undo, and who is told of others that were found unfinished;
    `settled` is told of this one, before its last trace in the making goes. `effect` is what was
    recorded as its effect before, where that was.
    """

    tidying: Tidying = PLAIN
    settled: Callable[[], None] = lambda: None
    effect: Effect | None = None


USUAL: Final = CommitTerms()


def commit(
    layer: int,
    verdicts: Verdicts,
    *,
    run: str,
    state: Path,
    reached: Reached = unwatched,
    terms: CommitTerms = USUAL,
) -> CommitOutcome:
    """Takes the accepted changes to the host.

    Args:
        layer: the folder that was scanned.
        verdicts: what may be committed.
        run: the id of the run, which names its journal.
        state: the state directory of the product.
        reached: told of every step, for tests that stop there.
        terms: what goes with it.

    Raises:
        Refused: `commit-refused` with the host as it was; `commit-unfinished` where a commit, this
            one or an earlier one, could be neither finished nor undone yet.
    """
    if not verdicts.changes.is_complete:
        raise Refused(
            Code.COMMIT_REFUSED, "the run changed more files than can be looked at in one commit"
        )
    if not verdicts.accepted:
        return CommitOutcome(CommitResult.NOTHING)
    try:
        desk = Desk.made(state, run)
    except OSError as problem:
        raise Refused(Code.STATE_UNUSABLE, said(problem)) from problem
    try:
        return _Commit(layer, verdicts, desk, state, reached, terms).carried_out()
    finally:
        desk.close()


class _Commit:
    """One commit, from its steps to its end."""

    def __init__(
        self,
        layer: int,
        verdicts: Verdicts,
        desk: Desk,
        state: Path,
        reached: Reached,
        terms: CommitTerms,
    ) -> None:
        self._layer = layer
        self._steps = steps_of(verdicts.accepted)
        self._effect = terms.effect or Effect.of(desk.run, verdicts, verdicts.accepted)
        self._terms = terms
        self._journal: Journal | None = None
        self._digest: Digest | None = None
        self._started_ns = verdicts.changes.started_ns
        self._desk = desk
        self._state = state
        self._reached = reached

    def carried_out(self) -> CommitOutcome:
        """Through all stages; what was staged is dropped unless a journal speaks for it."""
        places: dict[LayerRoot, Place] = {}
        try:
            with made_places(self._desk, self._steps, places):
                self._reached("places made")
                outcome = self._checked(places)
        except RootReplaced as problem:
            self._drop(places)
            raise Refused(
                Code.FILESYSTEM_RACE, f"another folder stands at `{problem}` since the run began"
            ) from None
        except OSError as problem:
            if any(self._desk.kept(name) is not None for name in (JOURNAL, DONE)):
                raise Refused(
                    Code.COMMIT_UNFINISHED, f"the commit could not be finished: {said(problem)}"
                ) from problem
            self._drop(places)
            raise Refused(Code.COMMIT_REFUSED, said(problem)) from problem
        except Refused:
            self._drop(places)
            raise
        if outcome.result is CommitResult.COMMITTED and self._journal is not None:
            self._terms.settled()
            self._reached("told")
            keeping = self._terms.tidying.keeping
            shelved = put_away_or_drop(self._desk, self._journal, self._state, keeping)
            outcome = replace(outcome, undo=shelved, effect=self._digest)
        else:
            self._drop(places)
        self._reached("dropped")
        return outcome

    def _drop(self, places: Mapping[LayerRoot, Place]) -> None:
        drop(self._desk, [place.site for place in places.values()])

    def _checked(self, places: Mapping[LayerRoot, Place]) -> CommitOutcome:
        conflicts = conflicts_of(self._steps, places, self._started_ns)
        if conflicts:
            return CommitOutcome(CommitResult.CONFLICT, conflicts)
        staged = self._staged(places)
        if not self._terms.tidying.keeping.is_off:
            # Synced with the files; by itself only where those lie on another file system.
            is_apart = all(place.site.is_in_root for place in places.values())
            content = self._effect.to_bytes()
            self._digest = effect_digest(content)
            self._desk.jot(EFFECT, content, is_synced=is_apart)
        for place in places.values():
            place.sync()
        self._reached("synced")
        with turn(self._state):
            hosts = [place.site.host for place in places.values()]
            require_finished(self._state, hosts, self._reached, self._terms.tidying)
            conflicts = conflicts_of(self._steps, places, self._started_ns)
            if conflicts:
                return CommitOutcome(CommitResult.CONFLICT, conflicts)
            journal = self._journal = self._planned(places, staged)
            self._desk.keep(JOURNAL, journal.to_bytes(), self._reached)
            finished = finish(self._desk, journal, tuple(places.values()), self._reached)
        return self._outcome(finished, tuple(places))

    def _outcome(self, finished: Finished, roots: Sequence[LayerRoot]) -> CommitOutcome:
        problem = finished.problem
        if isinstance(problem, LateConflict):
            path = path_text(inside_of(roots[problem.site], problem.path))
            conflict = Conflict(path, "it was changed while its new content was taken over")
            return CommitOutcome(CommitResult.CONFLICT, (conflict,))
        if problem is not None:
            raise Refused(Code.COMMIT_REFUSED, said(problem)) from problem
        return CommitOutcome(CommitResult.COMMITTED)

    def _staged(self, places: Mapping[LayerRoot, Place]) -> dict[int, Staged]:
        staged: dict[int, Staged] = {}
        with ExitStack() as held:
            stagers = {
                root: Stager(place, held.enter_context(Upper(self._layer, root.number)))
                for root, place in places.items()
            }
            for step in self._steps:
                if step.action in (Action.PUT, Action.SWAP):
                    staged[step.number] = stagers[step.root].stage(step)
                    self._reached(f"staged {step.number}")
        return staged

    def _planned(self, places: Mapping[LayerRoot, Place], staged: Mapping[int, Staged]) -> Journal:
        sites = {root: index for index, root in enumerate(places)}
        moves = [
            Move(
                site=sites[step.root],
                number=step.number,
                action=step.action,
                path=step.path,
                new=staged[step.number].seal if step.number in staged else None,
                old=seal_of_old(step),
            )
            for step in self._steps
            if step.action is not Action.MODE
        ]
        return Journal(
            run=self._desk.run,
            direction=Direction.FORWARD,
            sites=tuple(place.site for place in places.values()),
            moves=tuple(moves),
            modes=_modes(self._steps, places, staged, sites),
            old_bytes=self._effect.replaced_bytes,
        )


def _modes(
    steps: Sequence[Step],
    places: Mapping[LayerRoot, Place],
    staged: Mapping[int, Staged],
    sites: Mapping[LayerRoot, int],
) -> tuple[ModeChange, ...]:
    """The modes that the run asked for, and those that must be lifted while files are moved."""
    modes: dict[tuple[LayerRoot, bytes], ModeChange] = {}
    moved = {(step.root, step.path) for step in steps if step.action is not Action.MODE}
    for step in steps:
        change, was = step.change, step.change.was
        if step.action is Action.MODE and was is not None:
            kept_bits = was.mode & _SET_ID if was.type is FileType.FOLDER else 0
            modes[step.root, step.path] = ModeChange(
                site=sites[step.root],
                path=step.path,
                inode=was.inode,
                during=None,
                after=change.mode | kept_bits,
                undone=was.mode,
                is_wanted=True,
            )
    for root, path, found in closed_folders(steps, places):
        mode = found.st_mode & 0o7777
        own = ModeChange(
            site=sites[root],
            path=path,
            inode=found.st_ino,
            during=None,
            after=None if (root, path) in moved else mode,
            undone=mode,
            is_wanted=False,
        )
        modes[root, path] = replace(modes.get((root, path), own), during=mode | _OWNER_ALL)
    for step in steps:
        final = staged[step.number].final_mode if step.number in staged else None
        if final is not None:
            modes[step.root, step.path] = ModeChange(
                site=sites[step.root],
                path=step.path,
                inode=staged[step.number].seal.inode,
                during=final | _OWNER_ALL,
                after=final,
                undone=None,
                is_wanted=False,
            )
    return tuple(sorted(modes.values(), key=lambda each: (each.site, by_place(each.path))))

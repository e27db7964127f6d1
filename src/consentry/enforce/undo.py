"""Takes a finished commit back, as a whole, if the files are still as it left them.

    take      the commit leaves its shelf, and is one in progress again
    check     what somebody changed since is a conflict: nothing is undone
    journal   from here on it is undone, or stays as a whole, also after a crash
    apply     what was put in place goes away, what was replaced comes back, each by a rename
    settle    the commit is over, and what it had put in place is dropped

A file counts as changed when its bytes, its mode, its size, its time of change of content or its
number are not those that the commit gave it. What changed only in its extended attributes does not.
"""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.commitapply import LateConflict
from consentry.enforce.commitcheck import MOST_CONFLICTS, Conflict
from consentry.enforce.commitdesk import DONE, JOURNAL, Desk, Reached, turn, unwatched
from consentry.enforce.commitjournal import Journal
from consentry.enforce.commitplaces import reopened_places
from consentry.enforce.commitrecover import (
    PLAIN,
    Tidying,
    drop,
    finish,
    put_away_or_drop,
    require_finished,
    said,
)
from consentry.enforce.effect import Effect
from consentry.enforce.keptshelf import UNDO, Shelf
from consentry.enforce.layer import RootReplaced, inside_of, path_text
from consentry.enforce.rehearsal import read_effect
from consentry.enforce.undocheck import changed_since
from consentry.enforce.undoshelf import lay_out


@dataclass(frozen=True, slots=True)
class UndoTerms:
    """What goes with an undoing; `settled` is told when it is done, before its last trace goes.

    With a `digest`, the effect that was kept must have it.
    """

    tidying: Tidying = PLAIN
    settled: Callable[[], None] = lambda: None
    digest: Digest | None = None


def undo(
    state: Path,
    run: str,
    *,
    reached: Reached = unwatched,
    terms: UndoTerms = UndoTerms(),  # noqa: B008 - frozen
) -> tuple[Conflict, ...] | None:
    """Takes the commit of a run back; returns what stands in the way, None where nothing is kept.

    Raises:
        Refused: the files are as they were; or `commit-unfinished`, and the next start tries again.
    """
    shelf = Shelf(state, UNDO)
    item = shelf.found(run)
    if item is None:
        return None
    try:
        with turn(state):
            desk = Desk.taken(state, run, shelf.folder / item.name)
            if desk is None:
                return None
            reached("taken")
            try:
                return _Undo(desk, state, item.until, reached, terms).carried_out()
            finally:
                desk.close()
    except OSError as problem:
        raise Refused(Code.COMMIT_REFUSED, said(problem)) from problem


class _Undo:
    def __init__(
        self, desk: Desk, state: Path, until: Instant, reached: Reached, terms: UndoTerms
    ) -> None:
        self._desk = desk
        self._until = until
        self._state = state
        self._reached = reached
        self._terms = terms

    def carried_out(self) -> tuple[Conflict, ...]:
        try:
            journal = Journal.from_bytes(self._desk.kept(DONE) or b"")
        except ValueError as problem:
            raise Refused(Code.EFFECT_TAMPERED, f"its journal cannot be read: {problem}") from None
        try:
            effect = read_effect(self._desk.tree, self._terms.digest)
            conflicts = self._undone(journal, effect)
        except RootReplaced as problem:
            self._put_back(journal)
            message = f"another folder stands at `{problem}` since the run was committed"
            raise Refused(Code.FILESYSTEM_RACE, message) from None
        except Refused:
            self._put_back(journal)
            raise
        except OSError as problem:
            if self._desk.kept(JOURNAL) is not None:
                message = f"the commit could not be taken back yet: {said(problem)}"
                raise Refused(Code.COMMIT_UNFINISHED, message) from problem
            self._put_back(journal)
            raise Refused(Code.COMMIT_REFUSED, said(problem)) from problem
        if conflicts:
            self._put_back(journal)
            return conflicts
        self._terms.settled()
        self._reached("told")
        drop(self._desk, journal.sites)
        self._reached("dropped")
        return ()

    def _undone(self, journal: Journal, effect: Effect) -> tuple[Conflict, ...]:
        hosts = [site.host for site in journal.sites]
        require_finished(self._state, hosts, self._reached, self._terms.tidying)
        lay_out(self._desk, journal)
        self._reached("laid out")
        with reopened_places(self._desk, journal.sites) as places:
            conflicts = tuple(islice(changed_since(journal, effect, places), MOST_CONFLICTS))
            if conflicts:
                return conflicts
            back = journal.to_be_undone()
            self._desk.keep(JOURNAL, back.to_bytes(), self._reached)
            finished = finish(self._desk, back, places, self._reached)
        if finished.problem is None:
            return ()
        if isinstance(finished.problem, LateConflict):
            path = _shown(effect, journal, finished.problem)
            return (Conflict(path, "it was changed while it was being taken back"),)
        raise Refused(Code.COMMIT_REFUSED, said(finished.problem)) from finished.problem

    def _put_back(self, journal: Journal) -> None:
        keeping = self._terms.tidying.keeping
        put_away_or_drop(self._desk, journal, self._state, keeping, self._until)


def _shown(effect: Effect, journal: Journal, late: LateConflict) -> str:
    host = journal.sites[late.site].host
    root = next(each for each in effect.roots if each.host == host)
    return path_text(inside_of(root, late.path))

"""Finishes what a commit began, also for a process that is gone.

Without a journal nothing on the host was changed, and what was staged is dropped. With one, the
commit is carried out; where that is not possible any more, because somebody changed a file
meanwhile or the disk is full, it is undone as a whole. What can be neither (a root that is not
mounted, say) is left as it is and tried again the next time: nothing that was renamed away is lost.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.commitapply import Application, LateConflict
from consentry.enforce.commitdesk import (
    DONE,
    INTENT,
    JOURNAL,
    Desk,
    Reached,
    has_commits,
    turn,
    unwatched,
)
from consentry.enforce.commitjournal import Direction, Journal, Site, intent_from_bytes
from consentry.enforce.commitplaces import Place, remove_staging, reopened_places
from consentry.enforce.keptshelf import Keeping
from consentry.enforce.layer import RootReplaced, path_text
from consentry.enforce.undoshelf import Shelved, put_away


class Recovery(StrEnum):
    """What became of a commit whose process was gone."""

    DROPPED = "dropped"
    """Nothing had been changed; what was staged, or left to be thrown away, is gone."""
    FINISHED = "finished"
    UNDONE = "undone"
    STUCK = "stuck"
    """Neither finished nor undone yet."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """One commit that was found: whose, what became of it, and what stands in the way if stuck.

    With `is_undo` it was being undone on request.
    """

    run: str
    recovery: Recovery
    hosts: tuple[bytes, ...] = ()
    why: str = ""
    is_undo: bool = False


Told: TypeAlias = Callable[[Recovered], None]
"""Told of what was finished or undone, before its last trace goes; it may be told twice."""


def untold(_: Recovered) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Tidying:
    """What goes with a recovery: how what can be undone is kept, and who is told."""

    keeping: Keeping = Keeping()
    told: Told = untold


PLAIN = Tidying()


@dataclass(frozen=True, slots=True)
class Finished:
    """How a journal was carried out; `problem` is why it was undone."""

    is_committed: bool
    problem: LateConflict | OSError | None = None


def recover(
    state: Path, *, reached: Reached = unwatched, tidying: Tidying = PLAIN
) -> tuple[Recovered, ...]:
    """Deals with every commit that was left behind; to be called when a process starts."""
    if not has_commits(state):
        return ()
    with turn(state):
        return tuple(recovered(state, reached, tidying))


def require_finished(
    state: Path, hosts: Sequence[bytes], reached: Reached, tidying: Tidying = PLAIN
) -> None:
    """As `recover`, for whoever has the turn; raises if something stuck is in these folders."""
    for each in tuple(recovered(state, reached, tidying)):
        is_near = not each.hosts or any(_overlap(mine, its) for mine in hosts for its in each.hosts)
        if each.recovery is Recovery.STUCK and is_near:
            raise Refused(
                Code.COMMIT_UNFINISHED,
                f"the commit of `{each.run}` is to be finished first, but {each.why}",
            )


def recovered(state: Path, reached: Reached, tidying: Tidying = PLAIN) -> Iterator[Recovered]:
    """Deals with one commit after the other; the caller has the turn."""
    for desk in Desk.abandoned(state):
        try:
            yield _recovered(desk, state, reached, tidying)
        finally:
            desk.close()


def finish(desk: Desk, journal: Journal, places: Sequence[Place], reached: Reached) -> Finished:
    """Carries out a journal that is kept, and settles it; raises `OSError` where it is stuck."""
    problem: LateConflict | OSError | None = None
    try:
        _carry_out(journal, places, reached)
    except (LateConflict, OSError) as caught:
        if journal.direction is Direction.BACK and not journal.is_undo:
            raise
        problem = caught
        is_back = journal.direction is Direction.BACK
        journal = journal.turned_forward() if is_back else journal.turned_back()
        desk.keep(JOURNAL, journal.to_bytes(), reached)
        Application(journal, places, reached).carry_out()
    reached("applied")
    desk.settle()
    reached("settled")
    return Finished(journal.direction is Direction.FORWARD, problem)


def _carry_out(journal: Journal, places: Sequence[Place], reached: Reached) -> None:
    """What is undone on request is undone as a whole: then a file that was changed stops it."""
    application = Application(journal, places, reached)
    application.carry_out()
    if journal.is_undo and journal.direction is Direction.BACK and application.kept:
        raise LateConflict(*application.kept[0])


def put_away_or_drop(
    desk: Desk, journal: Journal, state: Path, keeping: Keeping, until: Instant | None = None
) -> Shelved:
    """The end of a commit that is done: kept so that it can be undone, or thrown away."""
    try:
        shelved = put_away(desk, journal, state, keeping, until)
    except (OSError, RootReplaced) as problem:
        shelved = Shelved(why=said(problem) if isinstance(problem, OSError) else str(problem))
    if shelved.until is None:
        drop(desk, journal.sites)
    return shelved


def drop(desk: Desk, sites: Sequence[Site]) -> None:
    """Throws away what was staged or replaced; what will not go is swept the next time."""
    try:
        remove_staging(sites)
        desk.drop()
    except OSError:
        return


def _recovered(desk: Desk, state: Path, reached: Reached, tidying: Tidying) -> Recovered:
    hosts: tuple[bytes, ...] = ()
    try:
        kept, done = desk.kept(JOURNAL), desk.kept(DONE)
        if kept is None and done is None:
            intent = desk.kept(INTENT)
            drop(desk, intent_from_bytes(intent) if intent is not None else ())
            return Recovered(desk.run, Recovery.DROPPED)
        journal = Journal.from_bytes(kept or done or b"")
        hosts = tuple(site.host for site in journal.sites)
        if kept is None:
            is_committed = journal.direction is Direction.FORWARD
        else:
            with reopened_places(desk, journal.sites) as places:
                is_committed = finish(desk, journal, places, reached).is_committed
        recovery = Recovery.FINISHED if is_committed else Recovery.UNDONE
        found = Recovered(desk.run, recovery, hosts, is_undo=journal.is_undo)
        tidying.told(found)
        reached("told")
        if is_committed:
            put_away_or_drop(desk, journal.turned_forward(), state, tidying.keeping)
        else:
            drop(desk, journal.sites)
    except RootReplaced as problem:
        why = f"another folder stands at `{problem}`"
        return Recovered(desk.run, Recovery.STUCK, hosts, why)
    except OSError as problem:
        return Recovered(desk.run, Recovery.STUCK, hosts, said(problem))
    except ValueError as problem:
        why = f"its journal cannot be read: {problem}"
        return Recovered(desk.run, Recovery.STUCK, hosts, why)
    return found


def said(problem: OSError) -> str:
    """What the system said, and about which file."""
    reason = (problem.strerror or str(problem)).lower()
    name = problem.filename
    if name is None:
        return reason
    return f"`{path_text(os.fsencode(name))}`: {reason}"


def _overlap(one: bytes, other: bytes) -> bool:
    pair = sorted((one.rstrip(b"/") + b"/", other.rstrip(b"/") + b"/"))
    return pair[1].startswith(pair[0])

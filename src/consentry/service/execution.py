"""Runs one command line from beginning to end: find, bind, compile, and only then open the ledger.

What is wrong with the line, the workspace or the host is said before anything is decided.
"""

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.enforce.commitrecover import recover
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.record.auditfields import Trigger
from consentry.service.commandline import BoundWish, RunWish, bind_wish
from consentry.service.ledgers import ledger_place
from consentry.service.places import find_workspace
from consentry.service.refusals import (
    Asked,
    journal_of_terminal,
    profile_word,
    refusals_recorded,
)
from consentry.service.runs import Run, Runner
from consentry.service.sessions import journal_here
from consentry.service.statedir import find_state
from consentry.service.surroundings import Surroundings, own_home


def bound_here(wish: RunWish, around: Surroundings, workspace: str | None) -> BoundWish:
    """The wish bound to the workspace that is named or found; nothing is recorded or started."""
    found = find_workspace(around, workspace)
    find_state(around, found)
    return bind_wish(wish, found.path, around)


def asked_for(wish: RunWish, trigger: Trigger) -> Asked:
    """The wish, as a refusal of it is recorded."""
    named = None if wish.profile is None else wish.profile.profile.name
    return Asked(wish.words, profile_word(wish.permission_set, named), trigger)


def carry_out(
    wish: RunWish,
    around: Surroundings,
    io: Io,
    *,
    workspace: str | None = None,
    keep_partial: bool = False,
    trigger: Trigger = Trigger.USER_COMMAND,
) -> Run:
    """The run, over and recorded; raises when it could not be started or recorded.

    Args:
        wish: what is asked for.
        around: who asks, and where.
        io: where the program's streams lead.
        workspace: the folder it works on, where one is named.
        keep_partial: takes over what was written even if a limit or a signal ended it.
        trigger: what set it off.
    """
    asked = asked_for(wish, trigger)
    with refusals_recorded(asked, lambda: journal_of_terminal(around)):
        bound = bound_here(wish, around, workspace)
    home = own_home(around).path
    engine = NativeEngine(home, bound.protected)
    try:
        with refusals_recorded(asked, lambda: journal_of_terminal(around)):
            plan = engine.compile(bound.confinement)
        clock = SystemClock()
        journal = journal_here(around, clock, Uuid7Ids(clock))
        try:
            state = ledger_place(around).folder
            recover(state)
            runner = Runner(engine, journal, state, home)
            return runner.run(bound, plan, io, keep_partial=keep_partial, trigger=trigger)
        finally:
            journal.ledger.close()
    finally:
        engine.close()

"""The session of this terminal, and the context under which commands record events.

A terminal has one session for each user and login session leader. It is found or started by the
first command that records something, and ended when its leader is gone, after twelve hours, or by
`consentry session end`. Sessions that are over are ended by whoever looks first.
"""

from consentry.base.clock import Clock
from consentry.base.ids import IdSource
from consentry.base.values import replace
from consentry.decide.identity import Identity
from consentry.decide.session import Session, SessionKind
from consentry.record.envelope import Context
from consentry.service.fixtures import FixtureCase
from consentry.service.identity import local_user
from consentry.service.leader import is_alive, leader_here, this_process
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.sessions import StoredSessions


def sessions_of(
    around: Surroundings, ledger: Ledger, clock: Clock, ids: IdSource
) -> StoredSessions:
    """The sessions in this ledger, looked at by the person at this terminal."""
    user = local_user(around, ledger.writer)
    return StoredSessions(ledger, ids, clock, Context(user, ledger.writer), is_alive)


def session_here(around: Surroundings, ledger: Ledger, clock: Clock, ids: IdSource) -> Session:
    """The session of this terminal, started if there is none; those that are over are ended."""
    sessions = sessions_of(around, ledger, clock, ids)
    user = local_user(around, ledger.writer)
    return open_session(sessions, user, ledger.writer) or sessions.for_leader(user, leader_here())


def open_session(sessions: StoredSessions, user: Identity, machine_id: str) -> Session | None:
    """The session of this terminal if one goes on; none is started."""
    here = (SessionKind.TERMINAL, user, machine_id, leader_here())
    for each in sessions.open():
        if (each.kind, each.user, each.machine_id, each.leader) == here:
            return each
    return None


def context_of(around: Surroundings, ledger: Ledger, clock: Clock, ids: IdSource) -> Context:
    """Who acts, where and in which session, for the events of one command."""
    session = session_here(around, ledger, clock, ids)
    return Context(session.user, ledger.writer, session.session_id)


def journal_here(around: Surroundings, clock: Clock, ids: IdSource) -> Journal:
    """The ledger opened for writing, with the context of this terminal."""
    ledger = ledger_for_writing(around, clock)
    try:
        return Journal(ledger, ids, clock, context_of(around, ledger, clock, ids))
    except BaseException:
        ledger.close()
        raise


def journal_of_library(
    around: Surroundings, clock: Clock, ids: IdSource, fixture: FixtureCase | None = None
) -> Journal:
    """The ledger opened for writing, with a fresh session that no other process shares.

    What is recorded there, the session's own beginning and end included, is marked as the fixture's
    where it belongs to one.
    """
    ledger = ledger_for_writing(around, clock)
    try:
        user = local_user(around, ledger.writer)
        context = Context(user, ledger.writer)
        if fixture is not None:
            context = fixture.marked(context)
        sessions = StoredSessions(ledger, ids, clock, context, is_alive)
        session = sessions.start(user, SessionKind.LIBRARY, this_process())
        return Journal(ledger, ids, clock, replace(context, session_id=session.session_id))
    except BaseException:
        ledger.close()
        raise


def end_session_of(journal: Journal) -> None:
    """Ends the session that a journal of the library has, and closes its ledger."""
    try:
        sessions = StoredSessions(
            journal.ledger, journal.ids, journal.clock, journal.context, is_alive
        )
        if journal.context.session_id is not None:
            sessions.end(journal.context.session_id)
    finally:
        journal.ledger.close()

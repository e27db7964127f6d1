"""What a person asks about sessions: which ones go on, and that one of them be over.

Looking is a change: a session that is found to be over is ended by whoever looks. Where nothing was
ever recorded there is no session, and nothing is made to say so.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from consentry.base.clock import Clock
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.ids import IdSource
from consentry.base.values import dataclass
from consentry.decide.session import Session
from consentry.service.identity import local_user
from consentry.service.ledgers import ledger_for_reading, ledger_for_writing
from consentry.service.sessions import open_session, sessions_of
from consentry.service.surroundings import Surroundings
from consentry.store.sessions import StoredSessions


@dataclass(frozen=True, slots=True)
class SessionList:
    """Sessions, oldest first; `here` is the id of this terminal's, if one goes on."""

    sessions: tuple[Session, ...]
    here: str | None


@dataclass(frozen=True, slots=True)
class Ending:
    """A session that is over, or None where there was none; `was_over` when it was over before."""

    session: Session | None
    was_over: bool


@dataclass(frozen=True, slots=True)
class _Terminal:
    """The sessions as seen from this terminal."""

    stored: StoredSessions
    here: Session | None


def list_sessions(
    around: Surroundings, clock: Clock, ids: IdSource, *, ended_too: bool
) -> SessionList:
    """Those that go on, or all that are still kept."""
    with _looking(around, clock, ids) as terminal:
        if terminal is None:
            return SessionList((), None)
        found = terminal.stored.history() if ended_too else terminal.stored.open()
        here = None if terminal.here is None else terminal.here.session_id
        return SessionList(tuple(found), here)


def end_session(
    around: Surroundings, clock: Clock, ids: IdSource, session_id: str | None
) -> Ending:
    """Ends the session with this id, or the one of this terminal."""
    with _looking(around, clock, ids) as terminal:
        if session_id is None:
            here = None if terminal is None else terminal.here
            if terminal is None or here is None:
                return Ending(None, was_over=True)
            return Ending(terminal.stored.end(here.session_id), was_over=False)
        found = None if terminal is None else terminal.stored.find(session_id)
        if terminal is None or found is None:
            raise UsageProblem(Code.ID_UNKNOWN, f"no session has the id `{session_id}`")
        return Ending(terminal.stored.end(session_id), was_over=not found.is_open)


@contextmanager
def _looking(around: Surroundings, clock: Clock, ids: IdSource) -> Iterator[_Terminal | None]:
    """The sessions in the ledger, or None where there is no ledger; closed when the block ends."""
    history = ledger_for_reading(around)
    if history is None:
        yield None
        return
    history.database.close()
    ledger = ledger_for_writing(around, clock)
    try:
        stored = sessions_of(around, ledger, clock, ids)
        user = local_user(around, ledger.writer)
        yield _Terminal(stored, open_session(stored, user, ledger.writer))
    finally:
        ledger.close()

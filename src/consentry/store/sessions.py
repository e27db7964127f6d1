"""Sessions in the store: one for each terminal's leader, ended by whoever sees that it is over.

What was granted to a module for a session ends with it: the module's revision counts up in the transaction
that ends the session, so that nobody, in whichever session, goes on with what was loaded before.
"""

from collections.abc import Sequence
from contextlib import suppress

from consentry.base.canonical import canonical_json
from consentry.base.clock import Clock
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.ids import IdSource
from consentry.decide.fields import problem
from consentry.decide.identity import Identity
from consentry.decide.session import (
    FIELDS,
    PREFIX,
    EndedWhy,
    IsAlive,
    Leader,
    Session,
    SessionKind,
)
from consentry.record.envelope import Context
from consentry.record.events import EventType
from consentry.store.database import Database, Transaction
from consentry.store.journal import About, Journal, picked
from consentry.store.ledger import Ledger
from consentry.store.rows import Overtaken, Table

_TABLE = Table("session", FIELDS, frozenset({"leader"}), Session.from_json)
_GOES_ON = "ended_at IS NULL"
_OLDEST_FIRST = "ORDER BY started_at, session_id"
_COUNT_UP = (
    "UPDATE module SET revision = revision + 1 WHERE (host_id, module_id) IN "
    "(SELECT host_id, module_id FROM capability_grant WHERE session_id = ? AND scope = 'session')"
)


class StoredSessions:
    """The sessions of one store; `is_alive` is asked about processes of this machine only."""

    def __init__(
        self, ledger: Ledger, ids: IdSource, clock: Clock, context: Context, is_alive: IsAlive
    ) -> None:
        self._journal = Journal(ledger, ids, clock, context)
        self._is_alive = is_alive

    def start(self, user: Identity, kind: SessionKind, leader: Leader | None = None) -> Session:
        """A fresh session on this machine; a terminal's is found or started with `for_leader`."""
        if kind is SessionKind.TERMINAL:
            raise problem("kind", "a terminal has one session, which is found by its leader")
        return self._started(user, kind, leader)

    def for_leader(self, user: Identity, leader: Leader) -> Session:
        """The session of this user on this terminal, started if there is none that goes on."""
        while True:
            session = self._of_terminal(user, leader)
            if session is not None:
                return session
            with suppress(Overtaken):
                return self._started(user, SessionKind.TERMINAL, leader)

    def find(self, session_id: str) -> Session | None:
        """The session as it is now: ended here if it is over and nobody had noticed."""
        session = _TABLE.find(self._journal.database, session_id)
        return None if session is None else self._looked_at(session)

    def open(self) -> Sequence[Session]:
        """Those that go on, oldest first; the ones found to be over are ended."""
        found = _TABLE.select(self._journal.database, _GOES_ON, (), _OLDEST_FIRST)
        return [session for session in map(self._looked_at, found) if session.is_open]

    def history(self) -> Sequence[Session]:
        """All that were ever started, oldest first; the ones found to be over are ended."""
        found = _TABLE.select(self._journal.database, "1 = 1", (), _OLDEST_FIRST)
        return [self._looked_at(session) for session in found]

    def end(self, session_id: str, why: EndedWhy = EndedWhy.ENDED) -> Session:
        """Ends it; one that was over before stays as it was."""
        session = self.find(session_id)
        if session is None:
            raise UsageProblem(Code.ID_UNKNOWN, f"no session has the id `{session_id}`")
        return self._ended(session, why) if session.is_open else session

    def _of_terminal(self, user: Identity, leader: Leader) -> Session | None:
        where = (
            f"kind = 'terminal' AND machine_id = ? AND leader = ? AND \"user\" = ? AND {_GOES_ON}"
        )
        leader_text = canonical_json(leader.to_json()).decode()
        values = (self._journal.machine_id, leader_text, user)
        found = _TABLE.select(self._journal.database, where, values, _OLDEST_FIRST)
        looked_at = [self._looked_at(session) for session in found]
        return next((session for session in looked_at if session.is_open), None)

    def _started(self, user: Identity, kind: SessionKind, leader: Leader | None) -> Session:
        journal, now = self._journal, self._journal.clock.now()
        session = Session(journal.ids.new(PREFIX), user, journal.machine_id, kind, leader, now)
        draft = journal.draft(EventType.SESSION_STARTED, _about(session), session.to_json(), now)
        journal.record(draft, change=lambda transaction: _TABLE.insert(transaction, session))
        return session

    def _looked_at(self, session: Session) -> Session:
        if not session.is_open:
            return session
        journal = self._journal
        why = session.why_over(journal.clock.now(), journal.machine_id, self._is_alive)
        return session if why is None else self._ended(session, why)

    def _ended(self, session: Session, why: EndedWhy) -> Session:
        journal, now = self._journal, self._journal.clock.now()
        ended = session.ended(now, why)
        names = ("endedAt", "endedWhy")
        payload = picked(ended.to_json(), "sessionId", *names)
        draft = journal.draft(EventType.SESSION_ENDED, _about(ended), payload, now)

        def change(transaction: Transaction) -> None:
            _TABLE.update(transaction, ended, names, _GOES_ON)
            transaction.run(_COUNT_UP, (session.session_id,))

        try:
            journal.record(draft, change=change)
        except Overtaken:
            return _TABLE.find(journal.database, session.session_id) or ended
        return ended


def _about(session: Session) -> About:
    return About(session.session_id, session_id=session.session_id)


def sessions_not_ended(database: Database) -> list[Session]:
    """Those that nobody has ended yet, oldest first, as they stand: looking changes nothing here."""
    return _TABLE.select(database, _GOES_ON, (), _OLDEST_FIRST)

"""Consents in the store: given, used once or revoked.

A consent that comes from an approval request is given only while that request stands approved by
the same person, and once for each tool, so that of processes that carry out one approval one wins.
"""

from collections.abc import Sequence
from contextlib import suppress

from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.ids import IdSource
from consentry.base.values import dataclass
from consentry.decide.consent import FIELDS, PREFIX, Consent, ConsentTerms
from consentry.decide.identity import Identity
from consentry.decide.lasting import Lasts
from consentry.record.auditfields import ConsentMethod
from consentry.record.envelope import Context, Draft
from consentry.record.events import EventType
from consentry.store.database import Transaction, Value
from consentry.store.journal import About, Journal, picked
from consentry.store.ledger import Change, Ledger
from consentry.store.rows import Overtaken, Table, exists

_TABLE = Table("consent", FIELDS, frozenset({"surface", "arguments"}), Consent.from_json)
_OPEN = "revoked_at IS NULL AND used_at IS NULL"
SESSION_GOES_ON = (
    "(lasts <> 'session' OR EXISTS (SELECT 1 FROM session "
    "WHERE session.session_id = consent.session_id AND session.ended_at IS NULL))"
)
# Each part has an index that leads to what may hold, past all that was: see `schema.lookups`.
THAT_MAY_HOLD = f"""
consent_id IN (
    SELECT consent_id FROM consent
    WHERE tool = ? AND {_OPEN} AND lasts <> 'session' AND expires_at IS NULL
    UNION ALL SELECT consent_id FROM consent
    WHERE tool = ? AND {_OPEN} AND lasts <> 'session' AND expires_at >= ?
    UNION ALL SELECT consent_id FROM session CROSS JOIN consent
    WHERE session.ended_at IS NULL AND consent.session_id = session.session_id
        AND tool = ? AND {_OPEN} AND lasts = 'session'
        AND (expires_at IS NULL OR expires_at >= ?)
)
"""  # noqa: S608 - no value in it
_HOLDS = f"{_OPEN} AND {SESSION_GOES_ON} AND (expires_at IS NULL OR expires_at >= ?)"

# An event's body is canonical JSON, in which a quotation mark of somebody else's text is escaped.
_RAN = (
    "SELECT 1 FROM ledger_event WHERE type = ? AND subject = ? AND body LIKE ? AND body NOT LIKE ?"
)
_AS_REMEMBERED = f'%"consentMethod":"{ConsentMethod.REMEMBERED}"%'


@dataclass(frozen=True, slots=True)
class ConsentUse:
    """What a run that a consent decided adds to the transaction of its permit; without one, nothing."""

    drafts: tuple[Draft, ...] = ()
    change: Change | None = None


class StoredConsents:
    """The consents of one store."""

    def __init__(self, ledger: Ledger, ids: IdSource, clock: Clock, context: Context) -> None:
        self._journal = Journal(ledger, ids, clock, context)

    def give(self, terms: ConsentTerms) -> Consent:
        """Records the yes; a request gives one consent for each of its tools, once."""
        journal, now = self._journal, self._journal.clock.now()
        consent = Consent(journal.ids.new(PREFIX), terms, now)

        def change(transaction: Transaction) -> None:
            _require_approved(transaction, terms)
            _require_session(transaction, terms)
            try:
                _TABLE.insert(transaction, consent)
            except Overtaken:
                message = f"`{terms.request_id}` gave its consent to `{terms.tool}` before"
                raise Refused(Code.CONSENT_CLOSED, message) from None

        event = EventType.CONSENT_GIVEN
        draft = journal.draft(event, _about(consent, terms.given_by), consent.to_json(), now)
        journal.record(draft, change=change)
        return consent

    def use(self, consent_id: str) -> Consent:
        """Uses up a consent for once; refused to all but the first. Another stays as it is."""
        consent = self._required(consent_id)
        if consent.terms.lasts is not Lasts.ONCE or not _is_open(consent):
            return _require_open(consent)
        journal, now = self._journal, self._journal.clock.now()
        used = consent.used(now)
        payload = picked(used.to_json(), "consentId", "usedAt")
        draft = journal.draft(EventType.CONSENT_USED, _about(used), payload, now)
        try:
            journal.record(
                draft,
                change=lambda transaction: _TABLE.update(transaction, used, ("usedAt",), _OPEN),
            )
        except Overtaken:
            return _require_open(self._required(consent_id))
        return used

    def use_of(self, consent_id: str, *, is_remembered: bool = True) -> ConsentUse:
        """To be made part of a permit: the consent must hold still, and one for once is used up.

        The change raises where it was used, revoked or has expired meanwhile, or its session is over.
        A run that is not `is_remembered` is the one that was asked for: there is one, however long the
        yes is remembered.
        """
        consent = _require_open(self._required(consent_id))
        journal, now = self._journal, self._journal.clock.now()
        is_for_once = consent.terms.lasts is Lasts.ONCE
        # Of a consent that stays as it is the update changes nothing, and holds its row.
        kept, names = (consent.used(now), ("usedAt",)) if is_for_once else (consent, ("revokedAt",))

        def change(transaction: Transaction) -> None:
            try:
                _TABLE.update(transaction, kept, names, _HOLDS, (str(now),))
            except Overtaken:
                raise _does_not_hold(consent, now) from None
            is_the_one = not is_remembered and consent.terms.request_id is not None
            if is_the_one and not is_for_once:
                _require_first(transaction, consent)

        if not is_for_once:
            return ConsentUse(change=change)
        payload = picked(kept.to_json(), "consentId", "usedAt")
        draft = journal.draft(EventType.CONSENT_USED, _about(kept), payload, now)
        return ConsentUse((draft,), change)

    def revoke(self, consent_id: str, by: Identity) -> Consent:
        """Takes it back; one that was revoked before stays as it was."""
        consent = self._required(consent_id)
        if consent.revoked_at is not None:
            return consent
        journal, now = self._journal, self._journal.clock.now()
        revoked = consent.revoked(by, now)
        names = ("revokedBy", "revokedAt")
        payload = picked(revoked.to_json(), "consentId", *names)
        draft = journal.draft(EventType.CONSENT_REVOKED, _about(revoked, by), payload, now)
        with suppress(Overtaken):
            journal.record(
                draft,
                change=lambda transaction: _TABLE.update(
                    transaction, revoked, names, "revoked_at IS NULL"
                ),
            )
        return self._required(consent_id)

    def find(self, consent_id: str) -> Consent | None:
        """The consent with this id."""
        return _TABLE.find(self._journal.database, consent_id)

    def beginning(self, prefix: str) -> Sequence[Consent]:
        """Those whose id begins so, whatever became of them, the oldest first."""
        return _TABLE.select(
            self._journal.database,
            "consent_id >= ? AND consent_id < ?",
            (prefix, f"{prefix}~"),  # behind every letter that an id is made of
            "ORDER BY consent_id",
        )

    def of_request(self, request_id: str) -> Sequence[Consent]:
        """What that request gave, whatever became of it."""
        return _TABLE.select(
            self._journal.database, "request_id = ?", (request_id,), "ORDER BY consent_id"
        )

    def open(self, tool: str) -> Sequence[Consent]:
        """The tool's consents that may hold, newest first.

        Those that were not used or revoked, have not expired, and are of no session that is over.
        """
        now = str(self._journal.clock.now())
        return _TABLE.select(
            self._journal.database,
            THAT_MAY_HOLD,
            (tool, tool, now, tool, now),
            "ORDER BY given_at DESC, consent_id DESC",
        )

    def recent(self, tool: str, most: int) -> Sequence[Consent]:
        """The tool's last consents, newest first, whatever became of them."""
        return _TABLE.select(
            self._journal.database,
            "tool = ?",
            (tool,),
            f"ORDER BY given_at DESC, consent_id DESC LIMIT {int(most)}",
        )

    def history(
        self, *, session_id: str | None = None, tool: str | None = None
    ) -> Sequence[Consent]:
        """All that were ever given, oldest first, of that session and tool where named."""
        wanted = {"session_id = ?": session_id, "tool = ?": tool}
        named = {clause: value for clause, value in wanted.items() if value is not None}
        values: list[Value] = list(named.values())
        return _TABLE.select(
            self._journal.database,
            " AND ".join(named) or "1 = 1",
            values,
            "ORDER BY given_at, consent_id",
        )

    def _required(self, consent_id: str) -> Consent:
        consent = self.find(consent_id)
        if consent is None:
            raise UsageProblem(Code.ID_UNKNOWN, f"no consent has the id `{consent_id}`")
        return consent


def _is_open(consent: Consent) -> bool:
    return consent.revoked_at is None and consent.used_at is None


def _require_open(consent: Consent) -> Consent:
    if consent.revoked_at is not None:
        message = f"`{consent.consent_id}` was revoked by `{consent.revoked_by}`"
        raise Refused(Code.CONSENT_CLOSED, f"{message} at {consent.revoked_at.shown()}")
    if consent.used_at is not None:
        message = (
            f"`{consent.consent_id}` was for one run and was used at {consent.used_at.shown()}"
        )
        raise Refused(Code.CONSENT_CLOSED, message)
    return consent


def _does_not_hold(consent: Consent, now: Instant) -> Refused:
    expires = consent.terms.expires_at
    if expires is not None and now > expires:
        why = f"expired at {expires.shown()}"
    else:
        why = "was used or revoked meanwhile, or its session is over"
    return Refused(Code.CONSENT_CLOSED, f"`{consent.consent_id}` {why}, so nothing was started")


def _require_first(transaction: Transaction, consent: Consent) -> None:
    """Raises where the run was decided before that this consent was asked for; its row is held."""
    named = f'%"consentId":"{consent.consent_id}"%'
    values = (EventType.RUN_DECIDED.value, f"tool:{consent.terms.tool}", named, _AS_REMEMBERED)
    if exists(transaction, _RAN, values):
        message = f"`{consent.terms.request_id}` was dispatched before"
        raise Refused(
            Code.CONSENT_CLOSED,
            message,
            help_line=f"while its yes is remembered, `consentry run {consent.terms.tool}` runs it again",
        )


def _require_approved(transaction: Transaction, terms: ConsentTerms) -> None:
    if terms.request_id is None:
        return
    query = (
        "SELECT 1 FROM approval_request "
        "WHERE request_id = ? AND status = 'approved' AND answered_by = ?"
    )
    if not exists(transaction, query, (terms.request_id, terms.given_by)):
        message = f"`{terms.request_id}` does not stand approved by `{terms.given_by}`"
        raise Refused(Code.CONSENT_CLOSED, message)


def _require_session(transaction: Transaction, terms: ConsentTerms) -> None:
    if terms.lasts is not Lasts.SESSION:
        return
    query = "SELECT 1 FROM session WHERE session_id = ? AND ended_at IS NULL"
    if not exists(transaction, query, (terms.session_id,)):
        raise Refused(Code.CONSENT_CLOSED, f"`{terms.session_id}` is not a session that goes on")


def _about(consent: Consent, actor: str | None = None) -> About:
    terms = consent.terms
    return About(
        f"tool:{terms.tool}",
        actor=actor,
        session_id=terms.session_id,
        policy_hash=terms.policy_hash,
    )

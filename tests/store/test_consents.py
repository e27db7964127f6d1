"""Consents in a real store: given by a person, used once, taken back."""

from typing import Any

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import BadInput, ConsentryError
from consentry.base.units import Duration
from consentry.decide.consent import Consent, ConsentTerms
from consentry.decide.consentcheck import ConsentNeed, Lack, holding, why_not
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Outcome
from consentry.decide.session import SessionKind
from consentry.record.auditfields import ConsentMethod
from consentry.record.envelope import Context
from consentry.record.events import EventType
from consentry.store.consents import THAT_MAY_HOLD
from consentry.store.database import Dialect
from consentry.store.journal import About, Journal
from consentry.store.ledger import Ledger
from consentry.surface.wire import surface_to_json
from tests.decide.samples import (
    APPROVER,
    DIGEST,
    MINUTE,
    NOW,
    OWNER,
    SURFACE,
    answer,
    question,
    sample_id,
    terms,
)
from tests.store.conftest import Store
from tests.store.keepers import Keepers, events, pass_time, types


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def refused(keepers: Keepers, wanted: ConsentTerms) -> str:
    """The code with which the terms are refused; nothing is recorded."""
    before = types(keepers.ledger)
    with pytest.raises(ConsentryError) as caught:
        keepers.consents.give(wanted)
    assert types(keepers.ledger) == before
    return str(caught.value.code)


@pytest.mark.parametrize("lasts", [Lasts.ONCE, Lasts.UNTIL, Lasts.PERMANENT])
def test_a_consent_is_kept_and_recorded_whole(keepers: Keepers, store: Store, lasts: Lasts) -> None:
    """Another opening of the store finds it; the event is the whole of it."""
    given = keepers.consents.give(terms(lasts))
    again = Keepers(Ledger(store.open(), keepers.machine_id), keepers.clock)
    assert again.consents.find(given.consent_id) == given
    assert list(again.consents.open("build")) == [given]
    [event] = events(keepers.ledger)
    assert event["payload"] == given.to_json()
    assert (event["type"], event["subject"], event["actor"]) == (
        "consent.given",
        "tool:build",
        OWNER,
    )


def test_a_consent_for_once_is_used_once(keepers: Keepers) -> None:
    """The second use is refused, and only the first recorded."""
    given = keepers.consents.give(terms(Lasts.ONCE))
    used = keepers.consents.use(given.consent_id)
    assert used.used_at is not None
    assert keepers.consents.find(given.consent_id) == used
    with pytest.raises(ConsentryError) as caught:
        keepers.consents.use(given.consent_id)
    assert caught.value.code == "consent-closed"
    assert list(keepers.consents.open("build")) == []
    assert types(keepers.ledger) == ["consent.given", "consent.used"]


def test_a_remembered_consent_is_not_used_up(keepers: Keepers) -> None:
    """Using it changes and records nothing; revoked it is refused."""
    given = keepers.consents.give(terms())
    assert keepers.consents.use(given.consent_id) == given
    keepers.consents.revoke(given.consent_id, OWNER)
    with pytest.raises(ConsentryError) as caught:
        keepers.consents.use(given.consent_id)
    assert caught.value.code == "consent-closed"
    assert types(keepers.ledger) == ["consent.given", "consent.revoked"]


@pytest.mark.parametrize("lasts", [Lasts.ONCE, Lasts.PERMANENT])
def test_a_revoked_consent_is_closed_at_once(keepers: Keepers, lasts: Lasts) -> None:
    """Revoking it again leaves who did it first."""
    given = keepers.consents.give(terms(lasts))
    revoked = keepers.consents.revoke(given.consent_id, APPROVER)
    assert revoked.revoked_by == APPROVER
    assert keepers.consents.revoke(given.consent_id, OWNER) == revoked
    assert list(keepers.consents.open("build")) == []
    with pytest.raises(ConsentryError) as caught:
        keepers.consents.use(given.consent_id)
    assert caught.value.code == "consent-closed"
    event = events(keepers.ledger)[-1]
    assert (event["type"], event["actor"]) == ("consent.revoked", APPROVER)


def test_a_consent_for_the_session_ends_with_it(keepers: Keepers) -> None:
    """Not listed any more; and none is given for a session that is over or unknown."""
    session = keepers.sessions.start(OWNER, SessionKind.LIBRARY)
    for_session = terms(Lasts.SESSION, session_id=session.session_id)
    given = keepers.consents.give(for_session)
    assert list(keepers.consents.open("build")) == [given]
    keepers.sessions.end(session.session_id)
    assert list(keepers.consents.open("build")) == []
    assert refused(keepers, for_session) == "consent-closed"
    unknown = terms(Lasts.SESSION, session_id=sample_id("session", 99))
    assert refused(keepers, unknown) == "consent-closed"


def test_the_check_holds_over_what_the_store_lists(keepers: Keepers) -> None:
    """From giving to expiring, with the reason that a person is told."""
    expires_at = keepers.clock.now().plus(MINUTE)
    given = keepers.consents.give(terms(Lasts.UNTIL, expires_at=expires_at))
    need = ConsentNeed(
        "build", "1.0.0", DIGEST, SURFACE, (), keepers.machines.register("host"), session=None
    )
    assert holding(keepers.consents.open("build"), need, keepers.clock.now()) == given
    pass_time(keepers, Duration(60_001))
    assert holding(keepers.consents.open("build"), need, keepers.clock.now()) is None
    history = keepers.consents.history(tool="build")
    assert why_not(history, need, keepers.clock.now()) is Lack.EXPIRED


def test_the_history_has_all_of_them_by_session_and_tool(keepers: Keepers) -> None:
    """Used and revoked ones too, oldest first."""
    session = keepers.sessions.start(OWNER, SessionKind.MCP).session_id
    first = keepers.consents.give(terms(Lasts.ONCE, session_id=session))
    second = keepers.consents.give(terms(tool="lint", session_id=session))
    third = keepers.consents.give(terms())
    used = keepers.consents.use(first.consent_id)
    assert list(keepers.consents.history(session_id=session)) == [used, second]
    assert list(keepers.consents.history(tool="build")) == [used, third]
    assert list(keepers.consents.history(session_id=session, tool="lint")) == [second]
    assert list(keepers.consents.history()) == [used, second, third]
    assert list(keepers.consents.history(tool="nothing")) == []


def test_open_consents_come_newest_first(keepers: Keepers) -> None:
    """The last word is looked at first."""
    first = keepers.consents.give(terms())
    pass_time(keepers, MINUTE)
    second = keepers.consents.give(terms(version="2"))
    assert list(keepers.consents.open("build")) == [second, first]


def test_an_approval_gives_one_consent_for_each_tool(keepers: Keepers) -> None:
    """Whoever carries it out second is refused; a batch has one for each of its tools."""
    asked = keepers.requests.ask(question(), MINUTE).request_id
    wanted = terms(Lasts.ONCE, request_id=asked)
    assert refused(keepers, wanted) == "consent-closed"
    keepers.requests.answer(asked, answer())
    keepers.consents.give(wanted)
    assert refused(keepers, wanted) == "consent-closed"
    keepers.consents.give(terms(Lasts.ONCE, request_id=asked, tool="lint"))


def test_only_the_person_who_approved_gives_the_consent(keepers: Keepers) -> None:
    """A denied request gives none, and somebody else's name is refused."""
    denied = keepers.requests.ask(question(), MINUTE).request_id
    keepers.requests.answer(denied, answer(Outcome.DENIED))
    assert refused(keepers, terms(request_id=denied)) == "consent-closed"
    approved = keepers.requests.ask(question(), MINUTE).request_id
    keepers.requests.answer(approved, answer(by=APPROVER, role=Role.APPROVER))
    assert refused(keepers, terms(request_id=approved, given_by=OWNER)) == "consent-closed"
    keepers.consents.give(terms(request_id=approved, given_by=APPROVER))


def test_unknown_and_impossible_consents_are_one_clear_error(keepers: Keepers) -> None:
    """Nothing is recorded of them."""
    for act in (keepers.consents.use, lambda each: keepers.consents.revoke(each, OWNER)):
        with pytest.raises(ConsentryError) as caught:
            act(sample_id("consent", 99))
        assert caught.value.code == "id-unknown"
    assert keepers.consents.find("") is None
    past = keepers.clock.now()
    pass_time(keepers, MINUTE)
    with pytest.raises(BadInput, match="expiresAt"):
        keepers.consents.give(terms(Lasts.UNTIL, expires_at=past))
    assert types(keepers.ledger) == []


def test_the_last_consents_come_first_whatever_became_of_them(keepers: Keepers) -> None:
    """Who is asked again is told why the last yes does not hold, be it used or revoked."""
    given = []
    for _ in range(3):
        given.append(keepers.consents.give(terms(Lasts.ONCE)))
        pass_time(keepers, MINUTE)
    keepers.consents.use(given[2].consent_id)
    keepers.consents.revoke(given[1].consent_id, OWNER)
    recent = keepers.consents.recent("build", 2)
    assert [each.consent_id for each in recent] == [given[2].consent_id, given[1].consent_id]
    assert recent[0].used_at is not None
    assert recent[1].revoked_at is not None
    assert list(keepers.consents.recent("other", 2)) == []


def test_what_has_expired_is_not_looked_through(keepers: Keepers) -> None:
    """Up to its last moment it may hold; from then on it is history."""
    until = keepers.clock.now().plus(MINUTE)
    given = keepers.consents.give(terms(Lasts.UNTIL, expires_at=until))
    lasting = keepers.consents.give(terms(Lasts.PERMANENT))
    assert set(keepers.consents.open("build")) == {given, lasting}
    pass_time(keepers, MINUTE)
    assert set(keepers.consents.open("build")) == {given, lasting}
    pass_time(keepers, MINUTE)
    assert list(keepers.consents.open("build")) == [lasting]
    assert given in keepers.consents.recent("build", 2)


def test_what_may_hold_is_found_by_indexes_alone(keepers: Keepers) -> None:
    """Ten thousand earlier ones cost a run nothing; told by SQLite's own plan, where that is the store."""
    database = keepers.ledger.database
    if database.dialect is not Dialect.SQLITE:
        pytest.skip(
            "the other database plans by what it has counted, which is next to nothing here"
        )
    said: list[str] = []
    for query, count in (
        (THAT_MAY_HOLD, 5),
        ("tool = ? ORDER BY given_at DESC, consent_id DESC", 1),
    ):
        with database.reading() as view:
            explained = f"EXPLAIN QUERY PLAN SELECT * FROM consent WHERE {query}"  # noqa: S608 - ours
            plan = view.rows(explained, ["x"] * count)
            said += [str(row[3]) for row in plan]
    assert [line for line in said if line.startswith("SCAN")] == [
        "SCAN session USING INDEX session_open"
    ]
    assert [line for line in said if "consent_lasting (tool=? AND expires_at" in line] != []
    assert any("consent_of_session (session_id=? AND tool=?)" in line for line in said)
    assert any("consent_latest (tool=?)" in line for line in said)


def test_the_run_that_was_asked_for_is_one_however_long_the_yes_is_remembered(
    keepers: Keepers,
) -> None:
    """CONTRACTS §8-bind: decided once as asked for, and as often as wanted as remembered."""
    asked = keepers.requests.ask(question(), MINUTE).request_id
    keepers.requests.answer(asked, answer())
    given = keepers.consents.give(terms(request_id=asked))
    method = ConsentMethod.EXPLICIT_APPROVAL
    decide(keepers, given, ConsentMethod.REMEMBERED)
    decide(keepers, given, method)
    before = types(keepers.ledger)
    with pytest.raises(ConsentryError) as caught:
        decide(keepers, given, method)
    assert (caught.value.code, types(keepers.ledger)) == ("consent-closed", before)
    decide(keepers, given, ConsentMethod.REMEMBERED)


def decide(keepers: Keepers, consent: Consent, method: ConsentMethod) -> None:
    """Records that a run was decided by it, as the transaction of a permit does."""
    context = Context(OWNER, keepers.machine_id)
    journal = Journal(keepers.ledger, keepers.ids, keepers.clock, context)
    is_remembered = method is ConsentMethod.REMEMBERED
    use = keepers.consents.use_of(consent.consent_id, is_remembered=is_remembered)
    payload: dict[str, Any] = {
        "subject": "tool:build",
        "decision": "allowed",
        "consentMethod": method.value,
        "profile": "tool:build",
        "arguments": ["build", '"consentMethod":"remembered"'],
        "surface": surface_to_json(SURFACE),
        "consent": {"consentId": consent.consent_id},
    }
    draft = journal.draft(EventType.RUN_DECIDED, About("tool:build"), payload, keepers.clock.now())
    journal.record(draft, *use.drafts, change=use.change)

"""What is removed has had no effect for long; what decides anything, and every event, stays."""

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.errors import ConsentryError
from consentry.base.units import Duration
from consentry.decide.grant import GrantScope
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.permit import PermitOrder
from consentry.decide.question import Outcome
from consentry.decide.session import SessionKind
from consentry.decide.statechange import read_operations
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import TxOrigin
from consentry.record.transactionstates import TransactionState
from consentry.service.approvals import Desk
from consentry.service.transactionplace import TxPlace
from consentry.service.transactions import Transactions
from consentry.store.documents import StoredDocument
from consentry.store.journal import Journal
from consentry.store.keeping import close_for_good, count_without_effect, remove_without_effect
from consentry.store.ledger import Ledger
from tests.decide.samples import (
    DIGEST,
    MINUTE,
    NOW,
    OWNER,
    answer,
    grant_terms,
    order,
    question,
    terms,
)
from tests.store.conftest import Store
from tests.store.escalating import ask_of, asked, saved
from tests.store.keepers import Keepers, all_rows, events, pass_time

DAY = Duration.parse("1d")
KEPT = (
    "approval_request",
    "consent",
    "capability_grant",
    "acceptance",
    "permit",
    "session",
    "transaction_attempt",
    "transaction_content",
    "transaction_key",
)
TABLES = (*KEPT, "machine")
NONE = dict.fromkeys(KEPT, 0)


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def removed(keepers: Keepers, before: Instant) -> dict[str, int]:
    """Removes, and says how many; the count told the same before, and no event went."""
    recorded = events(keepers.ledger)
    database = keepers.ledger.database
    expected = count_without_effect(database, before)
    assert count_without_effect(database, before) == expected, "counting changes nothing"
    with database.writing() as transaction:
        found = remove_without_effect(transaction, before)
    assert found == expected
    assert events(keepers.ledger) == recorded
    return found


def permit_order(keepers: Keepers) -> PermitOrder:
    """An order for a permit that names a decision of this ledger."""
    return order(decision_event_id=events(keepers.ledger)[0]["eventId"])


def test_what_still_decides_something_stays_however_old(keepers: Keepers) -> None:
    """An unanswered request, remembered consents, standing grants, an open session, a machine."""
    session = keepers.sessions.start(OWNER, SessionKind.LIBRARY)
    keepers.requests.ask(question(session_id=session.session_id), Duration.parse("100d"))
    keepers.consents.give(terms(Lasts.PERMANENT))
    keepers.consents.give(terms(Lasts.ONCE))
    keepers.consents.give(terms(Lasts.SESSION, session_id=session.session_id))
    keepers.consents.give(terms(Lasts.UNTIL, expires_at=NOW.plus(Duration.parse("50d"))))
    keepers.grants.give(grant_terms())
    keepers.grants.give(grant_terms(GrantScope.SESSION, session_id=session.session_id))
    keepers.acceptances.accept("/place", {"a.yaml": DIGEST}, OWNER)
    keepers.machines.register("host")
    before = all_rows(keepers.ledger.database, *TABLES)
    assert removed(keepers, NOW.plus(Duration.parse("40d"))) == NONE
    assert all_rows(keepers.ledger.database, *TABLES) == before


def test_what_was_settled_goes_once_it_is_old_enough(keepers: Keepers) -> None:
    """One of each: not a millisecond before the moment that is named."""
    answered = keepers.requests.ask(question(session_id=None), MINUTE)
    keepers.requests.answer(answered.request_id, answer(Outcome.DENIED))
    used = keepers.consents.give(terms(Lasts.ONCE))
    keepers.consents.use(used.consent_id)
    revoked = keepers.consents.give(terms())
    keepers.consents.revoke(revoked.consent_id, OWNER)
    grant = keepers.grants.give(grant_terms())
    keepers.grants.revoke(grant.grant_id, OWNER)
    keepers.acceptances.accept("/place", {"a.yaml": DIGEST}, OWNER)
    keepers.acceptances.withdraw("/place", OWNER)
    permit = keepers.permits.make(permit_order(keepers))
    keepers.permits.spend(permit.permit_id, "run")
    ended = keepers.sessions.start(OWNER, SessionKind.LIBRARY)
    keepers.sessions.end(ended.session_id)
    assert removed(keepers, NOW) == NONE
    assert removed(keepers, Instant(NOW.unix_ms + 1)) == {
        **NONE,
        "approval_request": 1,
        "consent": 2,
        "capability_grant": 1,
        "acceptance": 1,
        "permit": 1,
        "session": 1,
    }
    assert removed(keepers, Instant(NOW.unix_ms + 1)) == NONE


def test_what_ran_out_by_itself_goes_too(keepers: Keepers) -> None:
    """A consent past its time, a permit that nobody spent, what was given for an ended session."""
    session = keepers.sessions.start(OWNER, SessionKind.LIBRARY)
    keepers.consents.give(terms(Lasts.UNTIL))
    keepers.consents.give(terms(Lasts.SESSION, session_id=session.session_id))
    keepers.grants.give(grant_terms(GrantScope.SESSION, session_id=session.session_id))
    keepers.permits.make(permit_order(keepers))
    pass_time(keepers, DAY)
    keepers.sessions.end(session.session_id)
    after = keepers.clock.now().plus(MINUTE)
    assert removed(keepers, after) == {
        **NONE,
        "approval_request": 0,
        "consent": 2,
        "capability_grant": 1,
        "acceptance": 0,
        "permit": 1,
        "session": 1,
    }


def test_a_session_stays_while_something_names_it(keepers: Keepers) -> None:
    """A remembered consent was given in it, and whoever looks that up finds it."""
    session = keepers.sessions.start(OWNER, SessionKind.LIBRARY)
    given = keepers.consents.give(terms(Lasts.PERMANENT, session_id=session.session_id))
    keepers.sessions.end(session.session_id)
    assert removed(keepers, NOW.plus(DAY))["session"] == 0
    keepers.consents.revoke(given.consent_id, OWNER)
    assert removed(keepers, NOW.plus(DAY)) == {**NONE, "consent": 1, "session": 1}


def test_an_approval_gives_no_second_consent_after_the_first_was_removed(keepers: Keepers) -> None:
    """The attack: wait until the used consent is gone, and carry the same approval out again."""
    request = keepers.requests.ask(question(session_id=None), MINUTE)
    keepers.requests.answer(request.request_id, answer(Outcome.APPROVED))
    once = terms(Lasts.ONCE, request_id=request.request_id)
    keepers.consents.use(keepers.consents.give(once).consent_id)
    assert removed(keepers, NOW.plus(DAY)) == {**NONE, "approval_request": 1, "consent": 1}
    with pytest.raises(ConsentryError) as caught:
        keepers.consents.give(once)
    assert caught.value.code == "consent-closed"


@pytest.mark.parametrize("outcome", [Outcome.APPROVED, Outcome.DENIED])
def test_an_execution_that_asked_asks_no_second_time_after_a_purge(
    keepers: Keepers, outcome: Outcome
) -> None:
    """ESCALATION AC5, the attack: wait until the first question is gone, and put another."""
    ask = ask_of(saved(keepers))
    first = asked(keepers, ask)
    keepers.requests.answer(first.request_id, answer(outcome))
    assert removed(keepers, NOW.plus(DAY)) == NONE
    again = asked(keepers, ask)
    assert (again.request_id, again.status) == (first.request_id, outcome)


def test_an_execution_whose_question_was_removed_would_ask_again(keepers: Keepers) -> None:
    """What stands against it is that the row stays."""
    ask = ask_of(saved(keepers))
    first = asked(keepers, ask)
    keepers.requests.answer(first.request_id, answer(Outcome.DENIED))
    with keepers.ledger.database.writing() as transaction:
        transaction.run("DELETE FROM approval_request WHERE status <> 'pending'")
    assert asked(keepers, ask).is_pending


def test_a_consent_stays_while_the_request_it_came_from_does(
    keepers: Keepers, store: Store
) -> None:
    """Also where a clock went back, so that the answer seems to be the later of the two."""
    request = keepers.requests.ask(question(session_id=None), MINUTE)
    keepers.requests.answer(request.request_id, answer(Outcome.APPROVED))
    once = terms(Lasts.ONCE, request_id=request.request_id)
    keepers.consents.use(keepers.consents.give(once).consent_id)
    with store.open().writing() as transaction:
        transaction.run("UPDATE approval_request SET answered_at = ?", (str(NOW.plus(DAY)),))
    assert removed(keepers, NOW.plus(MINUTE)) == NONE


def test_a_spent_permit_that_was_removed_cannot_be_spent_again(keepers: Keepers) -> None:
    """It is unknown, and refused."""
    keepers.machines.register("host")
    permit = keepers.permits.make(permit_order(keepers))
    keepers.permits.spend(permit.permit_id, "run")
    assert removed(keepers, NOW.plus(DAY))["permit"] == 1
    with pytest.raises(ConsentryError) as caught:
        keepers.permits.spend(permit.permit_id, "run")
    assert caught.value.code == "permit-refused"


def test_a_ledger_that_was_closed_for_good_takes_no_event(keepers: Keepers, store: Store) -> None:
    """Also from a program that had it open before."""
    keepers.machines.register("host")
    close_for_good(store.open())
    close_for_good(store.open())
    with pytest.raises(ConsentryError) as caught:
        keepers.machines.register("another")
    assert caught.value.exit_status == 5


def test_transactions_that_came_to_nothing_go_with_all_they_were_about(keepers: Keepers) -> None:
    """Rejected and rolled back, with every attempt, key and content; what can be taken back stays."""
    journal = Journal(keepers.ledger, keepers.ids, keepers.clock, keepers.context)
    document = StoredDocument(keepers.ledger.database, keepers.clock, keepers.ids, "board")
    changes = Transactions(TxPlace(journal, document), Desk(journal))
    own = TxOrigin("board", OWNER, "change notes")

    def added(name: str) -> Attempt:
        return changes.change(
            own, read_operations([{"op": "add", "path": f"/notes/{name}", "value": 1}])
        )

    kept, back, unfit = added("a"), added("b"), added("a")
    changes.roll_back(back.tx_id)
    changes.preview_again(unfit.tx_id)
    changes.reject(unfit.tx_id, OWNER, Role.OWNER)
    assert removed(keepers, NOW) == NONE, "nothing is old enough"
    pass_time(keepers, MINUTE)
    gone = removed(keepers, keepers.clock.now())
    assert gone == {
        **NONE,
        "transaction_attempt": 3,
        "transaction_content": 3,
        "transaction_key": 2,
    }
    assert [each.tx_id for each in changes.listed()] == [kept.tx_id]
    assert changes.roll_back(kept.tx_id).state is TransactionState.ROLLED_BACK

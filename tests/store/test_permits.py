"""Permits in a real store: made after a decision, spent once, here and in time."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import BadInput, ConsentryError
from consentry.base.units import Duration
from consentry.decide.consent import Consent
from consentry.decide.lasting import Lasts
from consentry.decide.permit import PermitOrder
from consentry.decide.session import SessionKind
from consentry.store.ledger import Ledger
from tests.decide.samples import (
    NOW,
    OTHER_MACHINE,
    OWNER,
    order,
    sample_id,
    terms,
)
from tests.record.samples import Drafts
from tests.store.conftest import Store
from tests.store.keepers import Keepers, events, pass_time, types


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def decided(keepers: Keepers) -> PermitOrder:
    """An order whose decision is in the ledger."""
    keepers.consents.give(terms())
    return order(decision_event_id=events(keepers.ledger)[-1]["eventId"])


def refusal(keepers: Keepers, permit_id: str) -> str:
    """Why it cannot be spent; nothing is recorded."""
    before = types(keepers.ledger)
    with pytest.raises(ConsentryError) as caught:
        keepers.permits.spend(permit_id, "run")
    assert caught.value.code == "permit-refused"
    assert types(keepers.ledger) == before
    return caught.value.message


def test_a_permit_is_recorded_whole_and_spent_once(keepers: Keepers, store: Store) -> None:
    """Another process of this machine may spend it; nobody a second time."""
    made = keepers.permits.make(decided(keepers))
    again = Keepers(Ledger(store.open(), keepers.machine_id), keepers.clock)
    assert again.permits.find(made.permit_id) == made
    spent = again.permits.spend(made.permit_id, "run-1")
    assert (spent.order, spent.spent_by) == (made.order, "run-1")
    assert keepers.permits.find(made.permit_id) == spent
    assert "run-1" in refusal(keepers, made.permit_id)
    _, first, second = events(keepers.ledger)
    assert (first["type"], first["payload"]) == ("permit.made", made.to_json())
    assert (second["type"], second["payload"]["spentBy"]) == ("permit.spent", "run-1")


def test_a_permit_may_be_made_and_spent_at_once(keepers: Keepers) -> None:
    """Decision, permit and spending in one go, each its own event; nobody spends it again."""
    decision = Drafts().make()
    spent = keepers.permits.make_and_spend(
        order(decision_event_id=decision.event_id), "run-1", decision
    )
    assert keepers.permits.find(spent.permit_id) == spent
    assert spent.spent_at == spent.made_at
    assert "run-1" in refusal(keepers, spent.permit_id)
    first, second, third = events(keepers.ledger)
    assert first["eventId"] == decision.event_id
    assert (second["type"], second["payload"]["spentAt"]) == ("permit.made", None)
    assert (third["type"], third["payload"]["permitId"]) == ("permit.spent", spent.permit_id)


def spent_under(keepers: Keepers, consent_id: str) -> str:
    """A permit that a consent decides, and the types of what it added to the ledger."""
    before = len(types(keepers.ledger))
    decision = Drafts(keepers.ids).make()
    use = keepers.consents.use_of(consent_id)
    wanted = order(decision_event_id=decision.event_id)
    keepers.permits.make_and_spend(wanted, "run-1", decision, *use.drafts, change=use.change)
    return " ".join(types(keepers.ledger)[before + 1 :])


def test_a_consent_for_once_is_used_up_with_the_permit(keepers: Keepers) -> None:
    """In one go; the second permit under it is refused, and leaves nothing (CONTRACTS §8)."""
    given = keepers.consents.give(terms(Lasts.ONCE))
    assert spent_under(keepers, given.consent_id) == "consent.used permit.made permit.spent"
    used = keepers.consents.find(given.consent_id)
    assert used is not None
    assert used.used_at is not None
    before = types(keepers.ledger)
    with pytest.raises(ConsentryError) as caught:
        spent_under(keepers, given.consent_id)
    assert caught.value.code == "consent-closed"
    assert types(keepers.ledger) == before


def test_a_remembered_consent_gives_permits_as_long_as_it_holds(keepers: Keepers) -> None:
    """It stays as it was; expired it gives none."""
    given = keepers.consents.give(terms(Lasts.UNTIL))
    assert spent_under(keepers, given.consent_id) == "permit.made permit.spent"
    assert spent_under(keepers, given.consent_id) == "permit.made permit.spent"
    assert keepers.consents.find(given.consent_id) == given
    pass_time(keepers, Duration(60_001))
    with pytest.raises(ConsentryError, match="expired") as caught:
        spent_under(keepers, given.consent_id)
    assert caught.value.code == "consent-closed"


def overtaken(
    keepers: Keepers, store: Store, given: Consent, meanwhile: Callable[[], object]
) -> str:
    """Why there is no permit when something happens between looking and the transaction."""
    other = Keepers(Ledger(store.open(), keepers.machine_id), keepers.clock)
    use = other.consents.use_of(given.consent_id)
    meanwhile()
    before = types(keepers.ledger)
    decision = Drafts(keepers.ids).make()
    wanted = order(decision_event_id=decision.event_id)
    with pytest.raises(ConsentryError) as caught:
        other.permits.make_and_spend(wanted, "run-2", decision, *use.drafts, change=use.change)
    assert types(keepers.ledger) == before
    return caught.value.code


@pytest.mark.parametrize("lasts", [Lasts.ONCE, Lasts.PERMANENT])
def test_a_consent_that_is_revoked_meanwhile_gives_no_permit(
    keepers: Keepers, store: Store, lasts: Lasts
) -> None:
    """Looked at, revoked by somebody else, then decided: neither decision nor permit is recorded."""
    given = keepers.consents.give(terms(lasts))
    revoke = partial(keepers.consents.revoke, given.consent_id, OWNER)
    assert overtaken(keepers, store, given, revoke) == "consent-closed"


def test_a_consent_for_once_is_not_used_by_two(keepers: Keepers, store: Store) -> None:
    """Both looked and found it open; one gets the permit."""
    given = keepers.consents.give(terms(Lasts.ONCE))
    use = partial(spent_under, keepers, given.consent_id)
    assert overtaken(keepers, store, given, use) == "consent-closed"


def test_a_consent_of_a_session_that_ended_meanwhile_gives_no_permit(
    keepers: Keepers, store: Store
) -> None:
    """A session that is over ends what was for it."""
    session = keepers.sessions.start(OWNER, SessionKind.LIBRARY).session_id
    given = keepers.consents.give(terms(Lasts.SESSION, session_id=session))
    end = partial(keepers.sessions.end, session)
    assert overtaken(keepers, store, given, end) == "consent-closed"


def test_a_permit_that_nothing_decided_is_not_spent_either(keepers: Keepers) -> None:
    """Made and spent in one go needs its decision just the same, and nothing is recorded."""
    before = types(keepers.ledger)
    with pytest.raises(ConsentryError) as caught:
        keepers.permits.make_and_spend(order(), "run-1")
    assert caught.value.code == "permit-refused"
    assert types(keepers.ledger) == before


def test_a_permit_names_a_decision_that_is_recorded(keepers: Keepers) -> None:
    """Without it nothing is made; together with it both are."""
    with pytest.raises(ConsentryError) as caught:
        keepers.permits.make(order())
    assert caught.value.code == "permit-refused"
    assert types(keepers.ledger) == []
    decision = Drafts(keepers.ids).make()
    made = keepers.permits.make(order(decision_event_id=decision.event_id), decision)
    assert types(keepers.ledger) == ["FilesystemRaceDetected", "permit.made"]
    assert keepers.permits.spend(made.permit_id, "run").spent_by == "run"


def test_a_decision_of_another_event_does_not_count(keepers: Keepers) -> None:
    """The one that comes along must be the one that is named."""
    with pytest.raises(ConsentryError) as caught:
        keepers.permits.make(order(), Drafts(keepers.ids).make())
    assert caught.value.code == "permit-refused"
    assert types(keepers.ledger) == []


def test_a_decision_that_was_archived_still_counts(keepers: Keepers) -> None:
    """A consent for good may be older than what the ledger still holds."""
    wanted = decided(keepers)
    with keepers.ledger.database.writing() as transaction:
        transaction.run(
            "INSERT INTO archived_event (writer, seq, hash, event_id, archive_id) "
            "SELECT writer, seq, hash, event_id, 'a' FROM ledger_event"
        )
        transaction.run("DELETE FROM ledger_event")
    assert keepers.permits.make(wanted).order == wanted


def test_a_permit_is_refused_when_its_minute_is_over(keepers: Keepers) -> None:
    """Or its shorter life."""
    wanted = decided(keepers)
    long, short = keepers.permits.make(wanted), keepers.permits.make(wanted, life=Duration(10))
    pass_time(keepers, Duration(11))
    assert "expired" in refusal(keepers, short.permit_id)
    pass_time(keepers, Duration(60_000))
    assert "expired" in refusal(keepers, long.permit_id)
    with pytest.raises(BadInput, match="expiresAt"):
        keepers.permits.make(wanted, life=Duration(60_001))


def test_a_permit_is_refused_on_another_machine(keepers: Keepers, store: Store) -> None:
    """Although it can be read there; at home it is still good."""
    made = keepers.permits.make(decided(keepers))
    elsewhere = keepers.elsewhere(OTHER_MACHINE, store.open())
    assert OTHER_MACHINE in refusal(elsewhere, made.permit_id)
    keepers.permits.spend(made.permit_id, "run")


def test_an_unknown_permit_is_refused(keepers: Keepers) -> None:
    """Also an id that never was one."""
    for unknown in (sample_id("permit", 99), "", "x' OR '1'='1"):
        assert "never recorded" in refusal(keepers, unknown)


def test_a_row_changed_behind_our_back_is_not_believed(keepers: Keepers) -> None:
    """A life of a year is not what this program writes."""
    made = keepers.permits.make(decided(keepers))
    with keepers.ledger.database.writing() as transaction:
        transaction.run("UPDATE permit SET expires_at = '2027-01-01T00:00:00.000Z'")
    with pytest.raises(ConsentryError) as caught:
        keepers.permits.spend(made.permit_id, "run")
    assert caught.value.code == "ledger-corrupt"
    assert made.permit_id in caught.value.message


def test_the_surface_of_a_permit_comes_back_equal(keepers: Keepers) -> None:
    """Reading it again gives the same powers and the same digests."""
    made = keepers.permits.make(replace(decided(keepers), arguments=("ä", "", "\n")))
    found = keepers.permits.find(made.permit_id)
    assert found is not None
    assert found.order == made.order

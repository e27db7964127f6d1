"""What is written when a module's question is put and when it ends, each in one transaction (MODULES §flow, §audit)."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import BadInput, Refused
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.identity import Identity, Role
from consentry.decide.lasting import Lasts
from consentry.decide.modulemode import ModuleMode
from consentry.decide.question import CANCELLED, Answer, Outcome
from consentry.store.ledger import Ledger
from consentry.store.requests import StoredRequests
from tests.decide.samples import APPROVER, NOW, OTHER_MACHINE, OWNER, answer
from tests.store.conftest import Store
from tests.store.keepers import Keepers, all_rows, events, types
from tests.store.modulekeeping import (
    EXPORT,
    FOR_GOOD,
    FOR_SESSION,
    HOST,
    LONG,
    MODULE,
    NO,
    READ,
    STORE,
    Kept,
    registration,
)
from tests.store.test_modules import BreaksAtTheEnd, Broken

THIRTEEN = (
    "actionId",
    "approverIdentity",
    "approverRole",
    "capabilityId",
    "decision",
    "decisionReasonCode",
    "eventId",
    "grantScope",
    "grantVersion",
    "moduleId",
    "moduleVersion",
    "timestampUtc",
    "transactionId",
)


@pytest.fixture
def kept(ledger: Ledger) -> Kept:
    """A store with one module in it."""
    made = Kept(Keepers(ledger, ManualClock(NOW)))
    made.register()
    return made


def written(kept: Kept, act: Any) -> list[tuple[str, dict[str, Any]]]:
    """The events that this wrote: type and payload; what it raised is nobody's concern here."""
    before = len(events(kept.keepers.ledger))
    act()
    return [(each["type"], each["payload"]) for each in events(kept.keepers.ledger)[before:]]


def told(payload: dict[str, Any]) -> tuple[Any, ...]:
    """What tells one decision from another."""
    names = ("capabilityId", "decision", "decisionReasonCode")
    return tuple(
        payload[each] for each in (*names, "approverIdentity", "approverRole", "grantScope")
    )


# Put.


def test_a_question_is_recorded_for_every_capability(kept: Kept) -> None:
    """MODULES §audit-1, CONTRACTS §12-events-1: thirteen fields; only here the approver may be nobody."""
    found = written(kept, lambda: kept.ask(EXPORT, READ))
    assert [each for each, _ in found] == [
        "approval.requested",
        *["capability.escalation.requested"] * 2,
    ]
    for capability_id, (_, payload) in zip((EXPORT, READ), found[1:], strict=True):
        assert tuple(sorted(payload)) == THIRTEEN
        assert told(payload) == (
            capability_id,
            "requested",
            "capability-not-granted",
            None,
            None,
            "none",
        )
        assert (payload["moduleId"], payload["moduleVersion"]) == (MODULE, "1.0.0")
        assert (payload["actionId"], payload["transactionId"]) == ("count", None)
        assert (payload["timestampUtc"], payload["grantVersion"]) == (str(NOW), "1.0.0")
        assert payload["eventId"].startswith("event-")
    assert len({payload["eventId"] for _, payload in found[1:]}) == 2


def test_a_transaction_and_an_unknown_action_are_told_as_they_are(kept: Kept) -> None:
    """CONTRACTS §12-events-1: null where nobody knows the action, its id where it is in a transaction."""
    [_, (_, payload)] = written(
        kept, lambda: kept.ask(READ, action_id=None, action_label=None, transaction_id="tx-1")
    )
    assert (payload["actionId"], payload["transactionId"]) == (None, "tx-1")


def test_the_same_question_is_joined(kept: Kept) -> None:
    """MODULES §flow-3: by whoever asks for the same in the same session; nothing is written."""
    request = kept.ask(EXPORT, READ)
    assert written(kept, lambda: kept.ask(EXPORT, READ, action_id="other", action_label="x")) == []
    assert kept.ask(EXPORT, READ).request_id == request.request_id
    assert kept.ask(READ).request_id != request.request_id
    assert Kept(kept.keepers).ask(EXPORT, READ).request_id != request.request_id


def test_two_who_ask_at_once_are_asked_once(kept: Kept, store: Store) -> None:
    """MODULES §flow-3: from two programs and many threads; the database keeps the second question out."""
    ask, start = kept.asking(READ), Barrier(4)
    elsewhere = kept.keepers.elsewhere(OTHER_MACHINE, store.open())

    def put(number: int) -> str:
        requests = (kept.keepers if number % 2 else elsewhere).requests
        start.wait(60)
        return requests.ask_or_join(ask.question(), LONG).request_id

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(put, range(4)))) == 1
    assert types(kept.keepers.ledger).count("capability.escalation.requested") == 1


def test_a_question_that_ended_is_not_joined(kept: Kept) -> None:
    """MODULES §flow-3: denied, or left lying beyond its deadline where nobody looked."""
    first = kept.ask()
    kept.answer(first, NO)
    second = kept.ask()
    kept.wait(LONG)
    third = kept.ask()
    assert len({first.request_id, second.request_id, third.request_id}) == 3
    assert kept.keepers.requests.find(second.request_id).status == "expired"  # type: ignore[union-attr]


# Ended, each way.


@pytest.mark.parametrize(
    ("said", "event", "expected"),
    [
        (FOR_SESSION, "approved", ("approved", "user-approved-session", OWNER, "owner", "session")),
        (
            FOR_GOOD,
            "approved",
            ("approved", "user-approved-persistent", OWNER, "owner", "persistent"),
        ),
        (NO, "denied", ("denied", "user-denied", OWNER, "owner", "none")),
        (
            answer(Outcome.DENIED, reason=CANCELLED),
            "denied",
            ("denied", "user-cancelled", OWNER, "owner", "none"),
        ),
        (
            answer(by=APPROVER, role=Role.APPROVER, lasts=Lasts.PERMANENT),
            "approved",
            ("approved", "user-approved-persistent", APPROVER, "approver", "persistent"),
        ),
    ],
    ids=["approve_session", "approve_persistent", "deny", "cancel", "another approver"],
)
def test_an_answer_is_recorded_for_every_capability(
    kept: Kept, said: Answer, event: str, expected: tuple[str, ...]
) -> None:
    """MODULES §audit-1, §flow-4, CONTRACTS §12-reason: no null but in action and transaction."""
    request = kept.ask(EXPORT, READ)
    found = written(kept, lambda: kept.answer(request, said))
    grants = ["grant.given"] * 2 if said.outcome is Outcome.APPROVED else []
    assert [each for each, _ in found] == [
        "approval.answered",
        *[f"capability.escalation.{event}"] * 2,
        *grants,
    ]
    for capability_id, (_, payload) in zip((EXPORT, READ), found[1:3], strict=True):
        assert tuple(sorted(payload)) == THIRTEEN
        assert told(payload) == (capability_id, *expected)
        assert {name for name, value in payload.items() if value is None} == {"transactionId"}


def test_a_yes_and_its_grants_are_one_thing(kept: Kept) -> None:
    """MODULES §flow-5, §grant-1: for each capability one, for the content and question it was given to."""
    request = kept.ask(EXPORT, READ)
    kept.answer(request, FOR_SESSION)
    grants = kept.keepers.grants.of_module(HOST, MODULE)
    identity = kept.identity
    for capability_id, grant in zip((EXPORT, READ), grants, strict=True):
        terms = grant.terms
        assert (terms.host_id, terms.module_id, terms.module_version, terms.package_digest) == (
            identity.host_id,
            identity.module_id,
            identity.module_version,
            identity.package_digest,
        )
        assert (terms.capability_id, terms.scope, terms.session_id) == (
            capability_id,
            "session",
            kept.session_id,
        )
        assert (terms.given_by, terms.request_id) == (OWNER, request.request_id)
    assert set(kept.standing().granted) == {EXPORT, READ}


@pytest.mark.parametrize("said", [FOR_SESSION, FOR_GOOD, NO], ids=["session", "good", "no"])
def test_an_answer_that_breaks_in_the_middle_leaves_nothing(
    kept: Kept, store: Store, said: Answer
) -> None:
    """MODULES §flow-5: neither the answer, nor an event, nor a grant."""
    request = kept.ask(EXPORT, READ)
    ledger = BreaksAtTheEnd(store.open(), kept.journal.ledger.writer)
    journal = kept.journal
    requests = StoredRequests(ledger, journal.ids, journal.clock, journal.context)
    tables = ("approval_request", "capability_grant", "module")
    before = (all_rows(journal.database, *tables), types(kept.keepers.ledger))
    with pytest.raises(Broken):
        requests.answer(request.request_id, said)
    assert (all_rows(journal.database, *tables), types(kept.keepers.ledger)) == before


def test_a_deadline_is_a_denial_with_the_decision_timeout(kept: Kept) -> None:
    """MODULES §decision-3, CONTRACTS §12-events-2: by the system, and a late answer changes nothing."""
    request = kept.ask(EXPORT, READ)
    kept.wait(LONG)
    found = written(kept, kept.keepers.requests.expire_overdue)
    assert [each for each, _ in found] == [
        "approval.expired",
        *["capability.escalation.denied"] * 2,
    ]
    for capability_id, (_, payload) in zip((EXPORT, READ), found[1:], strict=True):
        assert told(payload) == (capability_id, "timeout", "deadline", "system", "system", "none")
    with pytest.raises(Refused) as late:
        kept.answer(request, FOR_GOOD)
    assert late.value.code == "request-late"
    assert kept.payloads("grant.given") == []


def test_an_answer_that_comes_late_finds_the_deadline(kept: Kept) -> None:
    """MODULES §decision-3: also where nobody looked before; the question is denied by the way."""
    request = kept.ask()
    kept.wait(LONG)
    with pytest.raises(Refused):
        kept.answer(request, FOR_GOOD)
    [denied] = kept.payloads("capability.escalation.denied")
    assert denied["decision"] == "timeout"
    assert kept.standing().granted == {}


@pytest.mark.parametrize("becomes", ["2.0.0", "other content", "removed"])
def test_other_content_supersedes_what_was_asked(kept: Kept, becomes: str) -> None:
    """MODULES §grant-2: denied by policy, by the system; of this host's module and of no other's."""
    kept.register(module_id="other-one")
    kept.register(host_id="other-board")
    elsewhere = registration(host_id="other-board").identity
    others = [
        kept.ask(module=replace(registration(module_id="other-one").identity)),
        kept.ask(module=elsewhere),
    ]
    request = kept.ask(EXPORT, READ)
    if becomes == "removed":
        kept.modules.remove(HOST, MODULE, OWNER)
    else:
        kept.register(*((becomes,) if becomes == "2.0.0" else ("1.0.0", becomes)))
    denied = kept.payloads("capability.escalation.denied")
    assert [told(each) for each in denied] == [
        (each, "denied", "policy", "system", "system", "none") for each in (EXPORT, READ)
    ]
    with pytest.raises(Refused) as settled:
        kept.answer(request, FOR_GOOD)
    assert settled.value.code == "request-settled"
    for each in others:
        assert kept.keepers.requests.find(each.request_id).is_pending  # type: ignore[union-attr]


# A yes that opens nothing any more.


def _lapses(kept: Kept, request: ApprovalRequest, said: Answer) -> None:
    """It is refused, superseded, and granted nothing."""
    with pytest.raises(Refused) as refused:
        kept.answer(request, said)
    assert refused.value.code == "approval-superseded"
    found = kept.keepers.requests.find(request.request_id)
    assert found is not None
    assert found.status == "superseded"
    assert kept.payloads("grant.given", "capability.escalation.approved") == []
    [denied] = kept.payloads("capability.escalation.denied")
    assert told(denied) == (READ, "denied", "policy", "system", "system", "none")


@pytest.mark.parametrize(
    "becomes", [None, ("2.0.0", "as it was"), ("1.0.0", "other content")], ids=str
)
def test_a_yes_to_what_is_gone_lapses(kept: Kept, becomes: tuple[str, str] | None) -> None:
    """MODULES §grant-2: though nobody superseded the question when the module changed."""
    request = kept.ask()
    with kept.journal.database.writing() as transaction:
        if becomes is None:
            transaction.run("DELETE FROM module")
        else:
            changed = registration(*becomes).identity
            transaction.run(
                "UPDATE module SET module_version = ?, package_digest = ?",
                (changed.module_version, changed.package_digest),
            )
    _lapses(kept, request, FOR_GOOD)


def test_a_yes_for_a_session_that_is_over_lapses(kept: Kept) -> None:
    """MODULES §decision-1: one for good does not, it is for no session."""
    request = kept.ask()
    kept.keepers.sessions.end(kept.session_id)
    _lapses(kept, request, FOR_SESSION)
    other = Kept(kept.keepers)
    again = other.ask()
    other.keepers.sessions.end(other.session_id)
    assert other.answer(again, FOR_GOOD).status == "approved"


def test_a_yes_under_another_major_catalog_lapses(kept: Kept) -> None:
    """MODULES §grant-3: what was shown is not what the words mean now; a minor version says the same."""
    assert kept.answer(kept.ask(STORE, catalog_version="1.9.0"), FOR_GOOD).status == "approved"
    request = kept.ask(catalog_version="2.0.0")
    with pytest.raises(Refused) as refused:
        kept.answer(request, FOR_GOOD)
    assert refused.value.code == "approval-superseded"
    assert set(kept.standing().granted) == {STORE}


def test_a_no_counts_whatever_became_of_the_module(kept: Kept) -> None:
    """MODULES §decision-3: there is nothing that a no could open."""
    request = kept.ask()
    kept.keepers.sessions.end(kept.session_id)
    with kept.journal.database.writing() as transaction:
        transaction.run("DELETE FROM module")
    assert kept.answer(request, NO).status == "denied"


# Who and what is refused.


@pytest.mark.parametrize(
    "lasts",
    [{}, {"lasts": Lasts.ONCE}, {"lasts": Lasts.UNTIL, "lasts_until": NOW.plus(Duration(1))}],
)
def test_a_yes_says_for_the_session_or_for_good(kept: Kept, lasts: dict[str, Any]) -> None:
    """MODULES §flow-4: any other span is refused, and the question stays open."""
    request = kept.ask()
    assert written(kept, lambda: _refused(kept, request, answer(**lasts))) == []
    assert kept.answer(request, FOR_GOOD).status == "approved"


def _refused(kept: Kept, request: ApprovalRequest, said: Answer) -> None:
    with pytest.raises(Refused) as refused:
        kept.answer(request, said)
    assert refused.value.code == "answer-refused"


def test_a_question_of_no_session_is_not_granted_for_one(kept: Kept) -> None:
    """MODULES §decision-1: there is none that it could end with."""
    request = kept.ask(session_id=None)
    _refused(kept, request, FOR_SESSION)
    assert kept.answer(request, FOR_GOOD).status == "approved"


def test_the_module_itself_and_a_viewer_cannot_answer(kept: Kept) -> None:
    """MODULES AC-2: nothing is written, and the question stays open."""
    request = kept.ask()
    subject = Identity(request.question.subject)
    assert subject == f"module:{MODULE}"
    with pytest.raises((Refused, BadInput)):
        kept.answer(request, answer(by=subject, lasts=Lasts.PERMANENT))
    _refused(kept, request, answer(by=APPROVER, role=Role.VIEWER, lasts=Lasts.PERMANENT))
    assert kept.payloads("capability.escalation.approved", "grant.given") == []
    assert kept.keepers.requests.pending()


def test_of_two_answers_at_once_one_counts(kept: Kept, store: Store) -> None:
    """MODULES §flow-4: from two machines, a yes and a no; what is on record fits the one that won."""
    other = kept.keepers.elsewhere(OTHER_MACHINE, store.open())
    for number in range(6):
        request, start = kept.ask(), Barrier(2)

        def say(
            requests: StoredRequests,
            said: Answer,
            start: Barrier = start,
            named: str = request.request_id,
        ) -> str:
            start.wait(60)
            try:
                return requests.answer(named, said).status
            except Refused as lost:
                return lost.code.value

        with ThreadPoolExecutor(2) as pool:
            both = [
                pool.submit(say, kept.keepers.requests, FOR_GOOD),
                pool.submit(say, other.requests, NO),
            ]
            results = [each.result(60) for each in both]
        assert sorted(results) in (["approved", "request-settled"], ["denied", "request-settled"])
        given = len(kept.payloads("grant.given"))
        approved = len(kept.payloads("capability.escalation.approved"))
        denied = len(kept.payloads("capability.escalation.denied"))
        assert (given, approved + denied) == (approved, number + 1)
        for grant in kept.keepers.grants.of_module(HOST, MODULE):
            kept.keepers.grants.revoke(grant.grant_id, OWNER)


def test_a_question_that_was_tampered_with_is_not_approved(kept: Kept) -> None:
    """MODULES §order-2: what was shown is another question; a no is taken, and says nothing of it."""
    request = kept.ask()
    with kept.journal.database.writing() as transaction:
        transaction.run(
            "UPDATE approval_request SET preview = replace(preview, 'state.read', 'state.write.tx')"
        )
    with pytest.raises(Refused) as refused:
        kept.answer(request, FOR_GOOD)
    assert refused.value.code == "answer-refused"
    assert written(kept, lambda: kept.answer(request, NO))[0][0] == "approval.answered"
    assert kept.payloads("grant.given", "capability.escalation.denied") == []


def test_a_yes_is_recorded_in_every_mode(kept: Kept) -> None:
    """MODULES §mode-deny-all: the mode holds back the use, not the word of a person."""
    request = kept.ask(STORE)
    kept.modules.set_mode(ModuleMode.DENY_ALL, OWNER)
    kept.answer(request, FOR_GOOD)
    assert set(kept.standing().granted) == {STORE}

"""Approval requests in a real store: kept, answered once, and each change recorded."""

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import ConsentryError
from consentry.base.units import Duration
from consentry.decide.approval import ApprovalRequest
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Outcome
from consentry.store.ledger import Ledger
from consentry.store.requests import _TABLE
from tests.decide.samples import (
    APPROVER,
    DIGEST,
    MINUTE,
    NOW,
    OTHER_DIGEST,
    OTHER_MACHINE,
    OWNER,
    SESSION,
    answer,
    question,
    sample_id,
)
from tests.store.conftest import Store
from tests.store.keepers import Keepers, events, pass_time, types


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def refused(keepers: Keepers, request: ApprovalRequest, given: Answer) -> ConsentryError:
    """Why the answer is not taken."""
    with pytest.raises(ConsentryError) as caught:
        keepers.requests.answer(request.request_id, given)
    return caught.value


def test_a_question_is_kept_and_recorded_whole(keepers: Keepers, store: Store) -> None:
    """It outlives the process that asked: another opening of the store finds it."""
    asked = keepers.requests.ask(question(), MINUTE)
    again = Keepers(Ledger(store.open(), keepers.machine_id), keepers.clock)
    assert again.requests.find(asked.request_id) == asked
    assert list(again.requests.pending()) == [asked]
    [event] = events(keepers.ledger)
    assert event["payload"] == asked.to_json()
    assert (event["type"], event["subject"]) == ("approval.requested", "tool:build")
    assert (event["sessionId"], event["policyHash"]) == (SESSION, DIGEST)


@pytest.mark.parametrize("outcome", [Outcome.APPROVED, Outcome.DENIED])
def test_an_answer_is_kept_and_recorded(keepers: Keepers, outcome: Outcome) -> None:
    """With who, in which role, on which way, and for how long."""
    asked = keepers.requests.ask(question(), MINUTE)
    lasts = Lasts.SESSION if outcome is Outcome.APPROVED else None
    given = answer(outcome, APPROVER, role=Role.APPROVER, reason="because", lasts=lasts)
    answered = keepers.requests.answer(asked.request_id, given)
    assert keepers.requests.find(asked.request_id) == answered
    assert (answered.status, answered.answer) == (outcome, given)
    assert list(keepers.requests.pending()) == []
    event = events(keepers.ledger)[-1]
    assert event["type"] == "approval.answered"
    assert event["actor"] == APPROVER
    assert event["payload"]["decision"] == outcome
    assert event["payload"]["lasts"] == lasts


def test_a_second_answer_is_refused_and_leaves_no_trace(keepers: Keepers) -> None:
    """The loser is told who answered."""
    asked = keepers.requests.ask(question(), MINUTE)
    first = keepers.requests.answer(asked.request_id, answer(Outcome.DENIED))
    problem = refused(keepers, asked, answer(by=APPROVER, role=Role.APPROVER))
    assert problem.code == "request-settled"
    assert OWNER in problem.message
    assert keepers.requests.find(asked.request_id) == first
    assert len(types(keepers.ledger)) == 2


def test_a_late_answer_is_refused_and_the_request_expires(keepers: Keepers) -> None:
    """Once: the second late answer finds it expired."""
    asked = keepers.requests.ask(question(), MINUTE)
    pass_time(keepers, Duration(60_001))
    for _ in range(2):
        assert refused(keepers, asked, answer()).code == "request-late"
    found = keepers.requests.find(asked.request_id)
    assert found is not None
    assert found.status == "expired"
    assert types(keepers.ledger) == ["approval.requested", "approval.expired"]


def test_what_nobody_answered_expires(keepers: Keepers) -> None:
    """Only what is overdue, each once; pending never lists it, expired or not."""
    short = keepers.requests.ask(question("tool:a"), MINUTE)
    long = keepers.requests.ask(question("tool:b"), Duration(120_000))
    assert list(keepers.requests.expire_overdue()) == []
    pass_time(keepers, Duration(60_001))
    assert list(keepers.requests.pending()) == [long]
    assert [request.request_id for request in keepers.requests.expire_overdue()] == [
        short.request_id
    ]
    assert list(keepers.requests.expire_overdue()) == []
    assert types(keepers.ledger).count("approval.expired") == 1
    assert refused(keepers, short, answer()).code == "request-late"


def test_a_changed_policy_supersedes_what_waits(keepers: Keepers, store: Store) -> None:
    """CONTRACTS §8-policy-change: asked under the policy that ended, on this machine.

    What was settled stays, what another machine asked, and what was asked under another policy: a
    workspace beside this one has its own.
    """
    old = keepers.requests.ask(question(policy_hash=DIGEST), MINUTE)
    new = keepers.requests.ask(question(policy_hash=OTHER_DIGEST), MINUTE)
    settled = keepers.requests.ask(question(policy_hash=DIGEST), MINUTE)
    keepers.requests.answer(settled.request_id, answer())
    foreign = keepers.elsewhere(OTHER_MACHINE, store.open())
    theirs = foreign.requests.ask(question(policy_hash=DIGEST), MINUTE)
    without = keepers.requests.ask(question(policy_hash=None), MINUTE)
    superseded = keepers.requests.supersede_pending(DIGEST)
    assert [request.request_id for request in superseded] == [old.request_id]
    assert {r.request_id for r in keepers.requests.pending()} == {
        new.request_id,
        theirs.request_id,
        without.request_id,
    }
    problem = refused(keepers, old, answer())
    assert problem.code == "request-settled"
    assert "superseded" in problem.message
    assert list(keepers.requests.supersede_pending(DIGEST)) == []


def test_one_request_can_be_superseded(keepers: Keepers) -> None:
    """An answered one stays answered."""
    waiting = keepers.requests.ask(question(), MINUTE)
    done = keepers.requests.ask(question(), MINUTE)
    keepers.requests.answer(done.request_id, answer())
    assert keepers.requests.supersede(waiting.request_id).status == "superseded"
    assert keepers.requests.supersede(done.request_id).status == "approved"


def test_many_are_settled_in_pages(keepers: Keepers) -> None:
    """More than one page of them, each once."""
    deadline, number = NOW.plus(MINUTE), 503
    asked = [
        ApprovalRequest(sample_id("request", n), question(), keepers.machine_id, NOW, deadline)
        for n in range(number)
    ]
    with keepers.ledger.database.writing() as transaction:
        for request in asked:
            _TABLE.insert(transaction, request)
    superseded = keepers.requests.supersede_pending(DIGEST)
    assert {r.request_id for r in superseded} == {r.request_id for r in asked}
    assert types(keepers.ledger).count("approval.superseded") == number


def test_what_asks_cannot_answer_and_a_viewer_neither(keepers: Keepers) -> None:
    """Nothing is recorded of the attempt but its refusal to the caller."""
    own = keepers.requests.ask(question(OWNER), MINUTE)
    assert refused(keepers, own, answer(by=OWNER)).code == "answer-refused"
    assert refused(keepers, own, answer(role=Role.VIEWER)).code == "answer-refused"
    assert types(keepers.ledger) == ["approval.requested"]
    assert keepers.requests.find(own.request_id) == own


def test_an_unknown_request_is_an_error_of_usage(keepers: Keepers) -> None:
    """One clear message, whatever the id looks like."""
    for unknown in (sample_id("request", 99), "", "'; DROP TABLE approval_request; --"):
        with pytest.raises(ConsentryError) as caught:
            keepers.requests.answer(unknown, answer())
        assert caught.value.code == "id-unknown"
        assert keepers.requests.find(unknown) is None


def test_the_last_requests_about_a_digest_come_first(keepers: Keepers) -> None:
    """Only so many are looked at, however often the same was asked."""
    asked = []
    for _ in range(4):
        asked.append(keepers.requests.ask(question(), MINUTE).request_id)
        pass_time(keepers, MINUTE)
    found = keepers.requests.latest_about(question().digest, 3)
    assert [each.request_id for each in found] == asked[:0:-1]

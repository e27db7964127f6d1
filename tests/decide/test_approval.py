"""Approval requests: one answer, in time, by somebody who may."""

import pytest

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.decide.identity import Identity, Role, policy_identity
from consentry.decide.question import Answer, Channel, Outcome
from tests.decide.samples import APPROVER, DIGEST, MINUTE, NOW, OWNER, answer, question, request
from tests.decide.samples import ApprovalRequest as Request

SOON = NOW.plus(MINUTE)
LATE = Instant(request().deadline.unix_ms + 1)


def refusal(asked: Request, given: Answer, now: Instant) -> Refused:
    """Why the answer is not taken."""
    with pytest.raises(Refused) as caught:
        asked.answered(given, now)
    return caught.value


@pytest.mark.parametrize("outcome", [Outcome.APPROVED, Outcome.DENIED])
def test_the_first_answer_in_time_settles_it(outcome: Outcome) -> None:
    """Up to the deadline itself."""
    for now in (NOW, SOON, request().deadline):
        settled = request().answered(answer(outcome), now)
        assert (settled.status, settled.answered_at, settled.is_pending) == (outcome, now, False)


def test_a_second_answer_is_refused_and_told_who_answered() -> None:
    """Whatever it says."""
    settled = request().answered(answer(by=APPROVER, role=Role.APPROVER), SOON)
    for second in (answer(), answer(Outcome.DENIED)):
        problem = refusal(settled, second, SOON)
        assert problem.code is Code.REQUEST_SETTLED
        for part in ("approved", APPROVER, "approver", "terminal", SOON.shown()):
            assert part in problem.message


def test_a_late_answer_is_refused_before_and_after_somebody_expired_it() -> None:
    """One millisecond is late, and no answer by the deadline is a no."""
    assert request().is_overdue(LATE)
    assert not request().is_overdue(request().deadline)
    expired = request().expired(LATE)
    assert (expired.status, expired.answer and expired.answer.by) == ("expired", "system")
    for asked in (request(), expired):
        assert refusal(asked, answer(), LATE).code is Code.REQUEST_LATE


def test_a_superseded_request_takes_no_answer() -> None:
    """The question is no longer the one to ask."""
    problem = refusal(request().superseded(SOON), answer(), SOON)
    assert problem.code is Code.REQUEST_SETTLED
    assert "superseded" in problem.message


def test_what_asks_cannot_answer() -> None:
    """Also where its name has the form of an identity; another person can."""
    asked = Request(request().request_id, question(OWNER), request().machine_id, NOW, LATE)
    assert refusal(asked, answer(by=OWNER), SOON).code is Code.ANSWER_REFUSED
    assert asked.answered(answer(by=APPROVER, role=Role.APPROVER), SOON).status == "approved"


def test_a_viewer_cannot_answer() -> None:
    """Looking is all that role may do."""
    assert refusal(request(), answer(role=Role.VIEWER), SOON).code is Code.ANSWER_REFUSED


def test_the_system_answers_nothing() -> None:
    """Its word is what is written when nobody answered, and cannot be handed in as an answer."""
    handed_in = Answer.by_system(Outcome.EXPIRED, "the deadline passed")
    assert refusal(request(), handed_in, SOON).code is Code.ANSWER_REFUSED


def test_a_policy_may_answer_in_the_role_of_the_system() -> None:
    """An operator's file, by its hash."""
    policy: Identity = policy_identity(DIGEST)
    by_policy = answer(by=policy, role=Role.SYSTEM, channel=Channel.POLICY)
    assert request().answered(by_policy, SOON).status == "approved"


def test_a_clock_that_went_back_answers_when_it_was_asked() -> None:
    """No answer stands before its question."""
    assert request().answered(answer(), Instant(0)).answered_at == NOW

"""An answer and what follows from it are one append: the attempt is approved, over, or to be previewed again.

The module behind a question is a registered one; without its registration a yes opens nothing.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from consentry.base.errors import ConsentryError, Refused
from consentry.base.units import Duration
from consentry.decide.identity import Role
from consentry.decide.question import Outcome
from consentry.decide.transactionask import TransactionAsk
from consentry.decide.txattempt import Attempt
from consentry.decide.txstep import Stage, Step
from consentry.store.requests import StoredRequests
from tests.decide.samples import APPROVER, OWNER, answer
from tests.decide.txsamples import WRONG
from tests.service.changing import COMMANDS, ChangingBoard, add
from tests.service.modulehosting import MODULE, WRITE, package
from tests.service.txground import RULE, Ground
from tests.store.conftest import Store
from tests.store.keepers import types

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def ground(store: Store) -> Ground:
    """One program."""
    return Ground(store)


@pytest.fixture
def changing(tmp_path: Path) -> Iterator[ChangingBoard]:
    """An application whose notes modules change by transactions."""
    made = ChangingBoard(tmp_path)
    yield made
    made.host.close()


def asked(ground: Ground) -> tuple[Attempt, StoredRequests]:
    """An attempt that waits, and where its question is answered."""
    return ground.proposed(rule=RULE), ground.desk.requests


def test_the_question_and_the_attempt_are_put_together(ground: Ground) -> None:
    """CONTRACTS §3-audit: all from `RECEIVED` to the question is one append; a crash leaves all or nothing."""
    attempt, requests = asked(ground)
    assert types(ground.ledger)[-4:] == ["transaction.transition"] * 3 + ["approval.requested"]
    found = requests.find(str(attempt.request_id))
    assert found is not None
    assert TransactionAsk.of(found).preview_hash == attempt.preview_hash


@pytest.mark.parametrize(
    ("outcome", "state", "code"),
    [(Outcome.APPROVED, "APPROVED", None), (Outcome.DENIED, "REJECTED", "approval-denied")],
)
def test_an_answer_is_the_step(
    ground: Ground, outcome: Outcome, state: str, code: str | None
) -> None:
    """CONTRACTS §3-approval: no yes without its step, and no step without its answer."""
    attempt, requests = asked(ground)
    requests.answer(str(attempt.request_id), answer(outcome, APPROVER, role=Role.APPROVER))
    after = ground.kept(attempt)
    assert (after.state, after.error and after.error.code) == (state, code)
    assert types(ground.ledger)[-2:] == ["approval.answered", "transaction.transition"]
    step = ground.steps(attempt.tx_id)[-1]
    assert (step["actorId"], step["actorRole"]) == (APPROVER, "approver")
    assert step["requestId"] == attempt.request_id


def test_no_answer_in_time_is_the_step(ground: Ground) -> None:
    """CONTRACTS §3-states: whoever settles the deadlines settles the attempt."""
    attempt, requests = asked(ground)
    ground.pass_time(8 * 24 * 3600)
    requests.expire_overdue()
    after = ground.kept(attempt)
    assert (after.state, after.error and after.error.kind) == ("REJECTED", "expired")


def test_a_question_without_ground_can_be_put_again(ground: Ground) -> None:
    """CONTRACTS §3-states: superseded is `FAILED_PRE_APPLY`, which a new preview follows."""
    attempt, requests = asked(ground)
    requests.supersede(str(attempt.request_id))
    after = ground.kept(attempt)
    assert after.error is not None
    assert (after.state, after.error.safe_to_retry) == ("FAILED_PRE_APPLY", True)
    assert after.error.action == "preview-again"


def test_the_first_answer_counts(ground: Ground, store: Store) -> None:
    """CONTRACTS §3-approval: whoever comes second is told, and changes nothing."""
    attempt, requests = asked(ground)
    other = Ground(store).desk.requests
    requests.answer(str(attempt.request_id), answer(Outcome.DENIED))
    with pytest.raises(ConsentryError):
        other.answer(str(attempt.request_id), answer())
    assert ground.kept(attempt).state == "REJECTED"
    assert ground.way(attempt.tx_id).count("APPROVED") == 0


def test_an_attempt_that_does_not_wait_any_more_is_not_approved(ground: Ground) -> None:
    """CONTRACTS §3-approval: the question is superseded, and what became of the attempt stays."""
    attempt, requests = asked(ground)
    # As if another version had ended it past its question.
    stored = ground.transactions.place.stored
    over = attempt.rejected(WRONG, ground.clock.now())
    caller = ground.transactions.place.caller()
    stored.take(Step(attempt.state, over, Stage.APPROVE, caller))
    with pytest.raises(ConsentryError):
        requests.answer(str(attempt.request_id), answer())
    found = requests.find(str(attempt.request_id))
    assert found is not None
    assert (found.status, ground.kept(attempt).state) == ("superseded", "REJECTED")


_TAMPERED: list[Callable[[str], str]] = [
    lambda text: text.replace('"attemptNo":1', '"attemptNo":2'),
    lambda text: text.replace('"ttlSeconds":600', '"ttlSeconds":86400000'),
    lambda text: text.replace('"baseRevision":"sha256:0', '"baseRevision":"sha256:1'),
    lambda text: text.replace('"previewHash":"sha256:', '"previewHash":"sha256:0')[:-1] + "}",
    lambda _: "{}",
]


@pytest.mark.parametrize("tampered", _TAMPERED)
def test_a_question_that_was_changed_is_not_approved(
    ground: Ground, tampered: Callable[[str], str]
) -> None:
    """CONTRACTS §3-approval: what the row says and what the yes binds to must be one."""
    attempt, requests = asked(ground)
    with ground.ledger.database.writing() as transaction:
        [(text,)] = transaction.rows("SELECT preview FROM approval_request", ())
        changed = (tampered(str(text)),)
        transaction.run("UPDATE approval_request SET preview = ?", changed)
    with pytest.raises(ConsentryError):
        requests.answer(str(attempt.request_id), answer())
    assert ground.kept(attempt).state == "APPROVAL_PENDING"


def test_a_no_is_taken_to_what_cannot_be_read(ground: Ground) -> None:
    """CONTRACTS §3-approval: it opens nothing; the attempt waits until somebody ends it."""
    attempt, requests = asked(ground)
    with ground.ledger.database.writing() as transaction:
        transaction.run("UPDATE approval_request SET preview = '{}'", ())
    settled = requests.answer(str(attempt.request_id), answer(Outcome.DENIED))
    assert settled.status == Outcome.DENIED
    assert ground.kept(attempt).state == "APPROVAL_PENDING"


def test_an_approval_that_was_written_past_everything_is_held_against_the_attempt(
    ground: Ground,
) -> None:
    """CONTRACTS §3-apply: for another preview, another revision, another attempt: nothing is applied."""
    attempt = ground.answered(ground.proposed(rule=RULE))
    for old, new in (
        ('"baseRevision":"sha256:0', '"baseRevision":"sha256:1'),
        ('"decision":"approved"', '"decision":"rejected"'),
        ('"attemptNo":1,"baseRevision"', '"attemptNo":2,"baseRevision"'),
    ):
        with ground.ledger.database.writing() as transaction:
            [(text,)] = transaction.rows("SELECT attempt FROM transaction_attempt", ())
            at = str(text).index('"approval":{')
            changed = str(text)[:at] + str(text)[at:].replace(old, new, 1)
            assert changed != text
            transaction.run("UPDATE transaction_attempt SET attempt = ?", (changed,))
        with pytest.raises(Refused) as refused:
            ground.transactions.apply(attempt.tx_id)
        assert refused.value.code == "tx-approval"
        with ground.ledger.database.writing() as transaction:
            transaction.run("UPDATE transaction_attempt SET attempt = ?", (text,))
    assert ground.entities == {}
    assert ground.transactions.apply(attempt.tx_id).state == "APPLIED"


# A module behind it.


@pytest.mark.parametrize("becomes", ["removed", "replaced"])
def test_a_yes_to_a_module_that_is_gone_opens_nothing(
    changing: ChangingBoard, becomes: str
) -> None:
    """MODULES §use-4, CONTRACTS §3-approval: looked at in the transaction of the answer itself."""
    changing.ready(WRITE)
    outcome = changing.change("edit", add())
    if becomes == "removed":
        changing.host.remove(MODULE)
    else:
        assert changing.take(package(COMMANDS, version="2.0.0"))["ok"]
    with pytest.raises(ConsentryError):
        changing.host.answer(str(outcome.request_id), "approve_once")
    kept: Any = changing.attempt(outcome)
    assert (kept.state, kept.approval) == ("FAILED_PRE_APPLY", None)
    assert changing.document == {}


def test_a_yes_to_the_module_that_asked_counts(changing: ChangingBoard) -> None:
    """MODULES §use-4: the same, with the same content registered again."""
    changing.ready(WRITE)
    outcome = changing.change("edit", add())
    changing.clock.advance(Duration(1000))
    changing.host.answer(str(outcome.request_id), "approve_once", by=OWNER)
    assert changing.attempt(outcome).state == "APPROVED"

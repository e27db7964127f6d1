"""One line about an event of a transaction, from whatever stands in its payload."""

from typing import Any

import pytest

from consentry.record.transactionsaid import said_of

STEP = {"attemptNo": 2, "prevState": "APPROVED", "nextState": "APPLYING", "error": None}


def test_a_step_says_its_attempt_and_from_where_to_where() -> None:
    """And where something went wrong, its code."""
    assert said_of("transaction.transition", STEP) == "attempt 2: APPROVED > APPLYING"
    failed = {**STEP, "nextState": "FAILED_PRE_APPLY", "error": {"code": "tx-conflict"}}
    said = "attempt 2: APPROVED > FAILED_PRE_APPLY, tx-conflict"
    assert said_of("transaction.transition", failed) == said


def test_a_resolution_says_the_reason() -> None:
    """In the operator's own words."""
    payload = {"attemptNo": 1, "reason": "restored"}
    assert said_of("transaction.resolved", payload) == "attempt 1: resolved, restored"


@pytest.mark.parametrize(
    ("kind", "payload"),
    [("run.recorded", STEP), (None, STEP), ("transaction.transition", None), ("", [])],
)
def test_of_anything_else_there_is_nothing_to_say(kind: Any, payload: Any) -> None:
    """Nothing is made up, and nothing raises: an event may be damaged."""
    assert said_of(kind, payload) is None


def test_a_damaged_step_is_told_as_far_as_it_goes() -> None:
    """A list of events must not end at one of them."""
    assert said_of("transaction.transition", {"error": 7}) == "attempt None: None > None"

"""The states of a transaction: the table of steps, to the letter (CONTRACTS §3)."""

import pytest

from consentry.record.transactionstates import (
    STEPS,
    TERMINAL,
    TransactionState,
    attempt_after,
    is_legal,
    is_new_attempt,
)

TABLE = """
RECEIVED: PREVIEWING
PREVIEWING: PREVIEW_READY FAILED_PRE_APPLY
PREVIEW_READY: APPROVAL_PENDING
APPROVAL_PENDING: APPROVED REJECTED FAILED_PRE_APPLY
APPROVED: APPLYING
APPLYING: APPLIED FAILED_PRE_APPLY RECOVERY_PENDING
APPLIED: ROLLBACK_PENDING
ROLLBACK_PENDING: ROLLED_BACK RECOVERY_PENDING FAILED_TERMINAL
FAILED_PRE_APPLY: PREVIEWING REJECTED
RECOVERY_PENDING: APPLIED ROLLED_BACK APPROVED FAILED_TERMINAL
ROLLED_BACK:
REJECTED:
FAILED_TERMINAL:
"""
EXPECTED = {
    name: set(following.split())
    for name, _, following in (line.partition(":") for line in TABLE.strip().splitlines())
}


@pytest.mark.parametrize("previous", TransactionState)
@pytest.mark.parametrize("following", TransactionState)
def test_a_step_is_legal_if_the_table_has_it(
    previous: TransactionState, following: TransactionState
) -> None:
    """All pairs, a state with itself included."""
    assert is_legal(previous, following) is (following.value in EXPECTED[previous.value])


def test_the_three_ends_are_terminal() -> None:
    """Nothing follows them, and everything else goes on."""
    assert {"ROLLED_BACK", "REJECTED", "FAILED_TERMINAL"} == TERMINAL
    assert set(STEPS) == set(TransactionState)


@pytest.mark.parametrize("start", TransactionState)
def test_every_state_is_reached_and_reaches_an_end(start: TransactionState) -> None:
    """No state is an island, and none goes on for ever without a way out."""
    assert start in _reached_from(TransactionState.RECEIVED)
    assert TERMINAL & _reached_from(start)


def test_only_a_preview_after_a_failure_is_a_new_attempt() -> None:
    """Its number is one higher; every other step stays in its attempt."""
    steps = [(one, other) for one, following in STEPS.items() for other in following]
    new = [(one, other) for one, other in steps if is_new_attempt(one, other)]
    assert new == [(TransactionState.FAILED_PRE_APPLY, TransactionState.PREVIEWING)]
    for one, other in steps:
        assert attempt_after(one, other, 4) == (5 if (one, other) in new else 4)


def _reached_from(start: TransactionState) -> set[TransactionState]:
    seen, waiting = {start}, [start]
    while waiting:
        for state in STEPS[waiting.pop()] - seen:
            seen.add(state)
            waiting.append(state)
    return seen

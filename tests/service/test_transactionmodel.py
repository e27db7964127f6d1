"""Transactions against a model of them, whatever two programs do, at once, cut short, and on a failing store."""

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from consentry.store.database import Dialect
from tests.service.transactionmachine import machine_on
from tests.store.conftest import Store
from tests.store.sizes import IS_FULL

SMALL = {Dialect.SQLITE: (40, 25), Dialect.POSTGRESQL: (10, 25)}
FULL = {Dialect.SQLITE: (1000, 50), Dialect.POSTGRESQL: (300, 50)}


@pytest.mark.timeout(3000)
def test_transactions_do_what_the_model_says(store: Store) -> None:
    """CONTRACTS §3-attempt, §3-states, §3-approval, §3-apply, §3-rollback, §3-recovery, §3-violation.

    After each of many operations of two programs, some at once, some cut short by a crash and some on a store
    that raises, lies or is slow: never an apply without a bound approval, never a second commit for one key,
    `APPLIED` and `ROLLED_BACK` exclusive, nothing left that a look does not settle, no gap in the ledger.
    """
    examples, steps = (FULL if IS_FULL else SMALL)[store.dialect]
    run_state_machine_as_test(
        machine_on(store),
        settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None),
    )

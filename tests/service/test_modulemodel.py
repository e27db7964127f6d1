"""Imported modules against a model of them, whatever two programs do, at once and in whatever order."""

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from consentry.store.database import Dialect
from tests.service.modulemachine import machine_on
from tests.store.conftest import Store
from tests.store.sizes import IS_FULL

SMALL = {Dialect.SQLITE: (50, 30), Dialect.POSTGRESQL: (25, 30)}
FULL = {Dialect.SQLITE: (1000, 50), Dialect.POSTGRESQL: (300, 50)}


@pytest.mark.timeout(900)
def test_modules_do_what_the_model_says(store: Store) -> None:
    """MODULES §deny-1, §use-1, §use-3, §use-4, §grant-2, §grant-4, §order-1, §order-3, §flow-5, §audit-1.

    After each of many operations of two programs, some at once and some cut short by a crash: no use
    without a grant that was valid at its place, no grant across versions or contents, no grant without one
    answer and one approval, no gap in the ledger; tables, events and the model say the same, and so does
    each answer.
    """
    examples, steps = (FULL if IS_FULL else SMALL)[store.dialect]
    run_state_machine_as_test(
        machine_on(store),
        settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None),
    )
